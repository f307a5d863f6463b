package virtual

import (
	"encoding/json"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// lacking are the CRDs without the phases that the scenario says they lack. Those that lack some are copies.
func (r *run) lacking(crds []*apiextensionsv1.CustomResourceDefinition) []*apiextensionsv1.CustomResourceDefinition {
	crds = slices.Clone(crds)
	lacking := map[string][]string{"Backup": r.job.Scenario.CRDs.Backup.Lacks, "Restore": r.job.Scenario.CRDs.Restore.Lacks}
	for i, crd := range crds {
		lacks := lacking[crd.Spec.Names.Kind]
		if len(lacks) == 0 {
			continue
		}
		crds[i] = crd.DeepCopy() // which shares enums
		for _, v := range crds[i].Spec.Versions {
			phase := v.Schema.OpenAPIV3Schema.Properties["status"].Properties["phase"]
			phase.Enum = slices.DeleteFunc(slices.Clone(phase.Enum), func(j apiextensionsv1.JSON) bool {
				var name string
				return json.Unmarshal(j.Raw, &name) == nil && slices.Contains(lacks, name)
			})
			v.Schema.OpenAPIV3Schema.Properties["status"].Properties["phase"] = phase
		}
	}
	return crds
}
