package actions

import (
	"encoding/json"
	"slices"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The phases that the proposal adds: a pre-action has failed, and the items were not backed up or restored.
const (
	BackupPhaseFailedPreBackupActions   velerov1.BackupPhase  = "FailedPreBackupActions"
	RestorePhaseFailedPreRestoreActions velerov1.RestorePhase = "FailedPreRestoreActions"
)

// Finalizer keeps a backup or restore that has actions until its post-actions have been called (sim/velero/prepost).
const Finalizer = "velosim.io/post-actions"

// Phase is how far an action has come.
type Phase string

// The phases of an action.
const (
	InProgress Phase = "InProgress"
	Completed  Phase = "Completed"
	Failed     Phase = "Failed"
)

// Status is that of one action of a backup or restore: one of status.preBackupActionsStatuses, postBackupActionsStatuses,
// preRestoreActionsStatuses or postRestoreActionsStatuses. The proposal does not have the message.
type Status struct {
	PluginName string `json:"pluginName"`
	// StartTimestamp is when it was called, or called again.
	StartTimestamp *metav1.Time `json:"startTimestamp,omitempty"`
	// CompletionTimestamp is when it has returned, or was given up.
	CompletionTimestamp *metav1.Time `json:"completionTimestamp,omitempty"`
	Phase               Phase        `json:"phase"`
	// Message is why it has failed.
	Message string `json:"message,omitempty"`
}

// ExtendCRDs returns Velero's CRDs with the phases and statuses that the proposal adds, and leaves those that it was given as they are.
func ExtendCRDs(crds []*apiextensions.CustomResourceDefinition) []*apiextensions.CustomResourceDefinition {
	extended := slices.Clone(crds)
	for i, crd := range crds {
		switch crd.Spec.Names.Kind {
		case "Backup":
			extended[i] = extend(crd, string(BackupPhaseFailedPreBackupActions), "preBackupActionsStatuses", "postBackupActionsStatuses")
		case "Restore":
			extended[i] = extend(crd, string(RestorePhaseFailedPreRestoreActions), "preRestoreActionsStatuses", "postRestoreActionsStatuses")
		}
	}
	return extended
}

func extend(crd *apiextensions.CustomResourceDefinition, phase string, lists ...string) *apiextensions.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for _, v := range crd.Spec.Versions {
		properties := v.Schema.OpenAPIV3Schema.Properties
		status := properties["status"]
		p := status.Properties["phase"]
		p.Enum = append(p.Enum, value(phase))
		status.Properties["phase"] = p
		for _, list := range lists {
			status.Properties[list] = apiextensions.JSONSchemaProps{
				Type: "array", Nullable: true, Items: &apiextensions.JSONSchemaPropsOrArray{Schema: statusSchema()},
				Description: "The actions that have begun, in order.",
			}
		}
		properties["status"] = status
	}
	return crd
}

func statusSchema() *apiextensions.JSONSchemaProps {
	return &apiextensions.JSONSchemaProps{
		Type: "object", Required: []string{"pluginName", "phase"},
		Properties: map[string]apiextensions.JSONSchemaProps{
			"pluginName":          {Type: "string", Description: "The plugin's name."},
			"startTimestamp":      {Type: "string", Format: "date-time", Nullable: true, Description: "When it was called, or called again."},
			"completionTimestamp": {Type: "string", Format: "date-time", Nullable: true, Description: "When it has returned, or was given up."},
			"phase":               {Type: "string", Enum: []apiextensions.JSON{value(string(InProgress)), value(string(Completed)), value(string(Failed))}},
			"message":             {Type: "string", Description: "Why it has failed."},
		},
	}
}

func value(s string) apiextensions.JSON {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // any string can be JSON
	}
	return apiextensions.JSON{Raw: b}
}
