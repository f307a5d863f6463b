package controlplane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// How often is asked whether CRDs are served, and for how long.
const (
	crdsPoll   = 20 * time.Millisecond
	crdsWithin = time.Minute
)

// install creates CRDs, which are none that exist, and returns when they are served.
func install(ctx context.Context, config *rest.Config, crds []*apiextensionsv1.CustomResourceDefinition) error {
	clients, err := clientset.NewForConfig(config)
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if _, err := clients.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create CRD %s: %w", crd.Name, err)
		}
	}
	missing := map[string]bool{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			if version.Served {
				missing[crd.Spec.Group+"/"+version.Name+" "+crd.Spec.Names.Plural] = true
			}
		}
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, crdsPoll, crdsWithin, true, func(context.Context) (bool, error) {
		var lists []*metav1.APIResourceList
		_, lists, last = clients.Discovery().ServerGroupsAndResources()
		for _, list := range lists {
			for _, resource := range list.APIResources {
				delete(missing, list.GroupVersion+" "+resource.Name)
			}
		}
		return len(missing) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("kube-apiserver does not serve the custom resources %q (discovery's last error: %v): %w", slices.Sorted(maps.Keys(missing)), last, err)
	}
	return nil
}
