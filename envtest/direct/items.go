package direct

import (
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/discovery"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientdiscovery "k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/velosim/velosim/sim/plugintest/exercise"
)

type discoverer = discovery.Helper

// discover is what Velero resolves selectors by.
func (x *run) discover() (discoverer, error) {
	c, err := config.GetConfig()
	if err != nil {
		return nil, err
	}
	d, err := clientdiscovery.NewDiscoveryClientForConfig(c)
	if err != nil {
		return nil, err
	}
	return discovery.NewHelper(d, silent())
}

// processes asks AppliesTo of two processes. Not ok: the first has not answered.
func (x *run) processes(a action) (selector velero.ResourceSelector, ok bool) {
	x.within(a, exercise.Processes, func(p *process) { selector, ok = p.selector() })
	x.within(a, exercise.Processes, func(p *process) { p.selector() })
	return selector, ok
}

// selecting is an action that selects.
type selecting struct {
	biav2.BackupItemAction
	selector velero.ResourceSelector
}

func (s selecting) AppliesTo() (velero.ResourceSelector, error) { return s.selector, nil }

// sort tells the items that the selector selects, as Velero would, from others.
func (x *run) sort(s velero.ResourceSelector) (fitting, foreign []unstructured.Unstructured, err error) {
	resolver := framework.NewBackupItemActionResolverV2([]biav2.BackupItemAction{selecting{selector: s}})
	resolved, err := resolver.ResolveActions(x.helper, silent())
	if err != nil {
		return nil, nil, err
	}
	kinds := map[string]bool{}
	for _, item := range x.spec.Items {
		resource, _, err := x.helper.KindFor(item.GroupVersionKind())
		if err != nil {
			return nil, nil, err
		}
		if resolved[0].ShouldUse(resource.GroupResource(), item.GetNamespace(), &item, silent()) {
			fitting = append(fitting, item)
		} else if !kinds[item.GetKind()] { // one of a kind tells as much as several
			kinds[item.GetKind()] = true
			foreign = append(foreign, item)
		}
	}
	return fitting, foreign, nil
}

// bare are the first item without all but its type and metadata: a plugin may be asked to handle what a user has left empty.
func bare(items []unstructured.Unstructured) []unstructured.Unstructured {
	if len(items) == 0 {
		return nil
	}
	item := items[0].DeepCopy()
	for field := range item.Object {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, field) {
			delete(item.Object, field)
		}
	}
	return []unstructured.Unstructured{*item}
}

// large is the item with a mebibyte more, about as much as etcd takes of an object: in its data, if it has some, else in an annotation.
func large(item unstructured.Unstructured) unstructured.Unstructured {
	item = *item.DeepCopy()
	if data, ok := item.Object["data"].(map[string]any); ok {
		data["velosim.io-large"] = strings.Repeat("x", 1<<20)
		return item
	}
	annotations := item.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["velosim.io/large"] = strings.Repeat("x", 1<<20)
	item.SetAnnotations(annotations)
	return item
}

func silent() *logrus.Logger {
	log := logrus.New()
	log.SetLevel(logrus.PanicLevel)
	return log
}
