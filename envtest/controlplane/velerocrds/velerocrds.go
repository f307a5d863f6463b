// Package velerocrds has the CRDs of the Velero release that this module requires, as objects:
//
//	c, err := controlplane.Start(ctx, controlplane.Options{Assets: dir, CRDs: velerocrds.All()})
//
// It is a package of its own because every executable that links it unpacks the CRDs as it starts, which takes some 10 ms.
// Those of other releases can be had from their executables: velero install --crds-only --dry-run -o yaml.
//
// It imports Velero's packages of CRDs, which import none of Velero's controllers.
package velerocrds

import (
	"slices"

	v1 "github.com/vmware-tanzu/velero/config/crd/v1/crds"
	v2alpha1 "github.com/vmware-tanzu/velero/config/crd/v2alpha1/crds"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// All returns copies of the CRDs of velero.io/v1 and velero.io/v2alpha1.
func All() []*apiextensionsv1.CustomResourceDefinition {
	crds := slices.Concat(v1.CRDs, v2alpha1.CRDs)
	for i := range crds {
		crds[i] = crds[i].DeepCopy()
	}
	return crds
}
