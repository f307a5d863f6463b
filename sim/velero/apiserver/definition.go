package apiserver

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Definitions keeps what New makes of CRDs, which is most of its work, for the next server that is made of the same ones: the
// same pointers. Its zero value is ready to use, and it may be used concurrently.
type Definitions struct {
	mu sync.Mutex
	of map[*apiextensionsv1.CustomResourceDefinition]*definition
}

// definition is what servers that serve a CRD share. It does not change.
type definition struct {
	crd   *apiextensionsv1.CustomResourceDefinition // with its defaults
	kinds []*customKind                             // by version
	spec  any                                       // of the CRD, as JSON decodes it
}

// get returns the definition that a CRD makes. A nil d keeps nothing.
func (d *Definitions) get(crd *apiextensionsv1.CustomResourceDefinition) (*definition, error) {
	if d == nil {
		return newDefinition(crd)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.of[crd]; known != nil {
		return known, nil
	}
	made, err := newDefinition(crd)
	if err != nil {
		return nil, err
	}
	if d.of == nil {
		d.of = map[*apiextensionsv1.CustomResourceDefinition]*definition{}
	}
	d.of[crd] = made
	return made, nil
}

func newDefinition(crd *apiextensionsv1.CustomResourceDefinition) (*definition, error) {
	d := &definition{crd: crd.DeepCopy()}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(d.crd)
	for i := range d.crd.Spec.Versions {
		v := &d.crd.Spec.Versions[i]
		kind, err := newCustomKind(v, d.crd.Spec.Scope == apiextensionsv1.NamespaceScoped)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", v.Name, err)
		}
		d.kinds = append(d.kinds, kind)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d.crd)
	if err != nil {
		return nil, err
	}
	d.spec = content["spec"]
	return d, nil
}
