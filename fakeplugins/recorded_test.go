package fakeplugins_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// plugin is one of the user's, which answers the same to all.
type plugin struct {
	selector   velero.ResourceSelector
	item       runtime.Unstructured
	skip       bool
	additional []velero.ResourceIdentifier
	operation  string
	progress   velero.OperationProgress
	err        error
}

func (plugin) Name() string { return "mine" }

func (p plugin) AppliesTo() (velero.ResourceSelector, error) { return p.selector, p.err }

type (
	backupPlugin    struct{ plugin }
	backupPluginV1  struct{ plugin }
	restorePlugin   struct{ plugin }
	restorePluginV1 struct{ plugin }
	deletePlugin    struct{ plugin }
)

func (p backupPlugin) Execute(runtime.Unstructured, *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	return p.item, p.additional, p.operation, p.additional, p.err
}

func (p backupPlugin) Progress(string, *velerov1.Backup) (velero.OperationProgress, error) {
	return p.progress, p.err
}
func (p backupPlugin) Cancel(string, *velerov1.Backup) error { return p.err }

func (p backupPluginV1) Execute(runtime.Unstructured, *velerov1.Backup) (runtime.Unstructured, []velero.ResourceIdentifier, error) {
	return p.item, p.additional, p.err
}

func (p plugin) restores() (*velero.RestoreItemActionExecuteOutput, error) {
	return &velero.RestoreItemActionExecuteOutput{UpdatedItem: p.item, SkipRestore: p.skip, OperationID: p.operation, AdditionalItems: p.additional}, p.err
}

func (p restorePlugin) Execute(*velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	return p.restores()
}

func (p restorePlugin) Progress(string, *velerov1.Restore) (velero.OperationProgress, error) {
	return p.progress, p.err
}
func (p restorePlugin) Cancel(string, *velerov1.Restore) error { return p.err }

func (p restorePlugin) AreAdditionalItemsReady([]velero.ResourceIdentifier, *velerov1.Restore) (bool, error) {
	return p.err == nil, p.err
}

func (p restorePluginV1) Execute(*velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	return p.restores()
}

func (p deletePlugin) Execute(*velero.DeleteItemActionExecuteInput) error { return p.err }

// answers are what came of the methods of an action, as Velero sees it.
type answers map[string]any

// calls calls all methods of all kinds of action, by kind.
func (p plugin) calls(r fakeplugins.Recorded) map[string]func() (answers, []error) {
	b, restore := backup(velerov1.BackupPhaseInProgress), new(velerov1.Restore)
	restore.Name, restore.Status.Phase = "restore-1", velerov1.RestorePhaseInProgress
	in := &velero.RestoreItemActionExecuteInput{Item: settings(), Restore: restore}
	restored := func(out *velero.RestoreItemActionExecuteOutput) any {
		return []any{out.UpdatedItem, out.SkipRestore, out.OperationID, out.AdditionalItems}
	}
	return map[string]func() (answers, []error){
		"BackupItemActionV2": func() (answers, []error) {
			a := r.BackupItemAction(backupPlugin{p})
			selector, err := a.AppliesTo()
			item, additional, operation, update, err2 := a.Execute(settings(), b)
			reported, err3 := a.Progress("op-1", b)
			return answers{"name": a.Name(), "AppliesTo": selector, "Execute": []any{item, additional, operation, update}, "Progress": reported},
				[]error{err, err2, err3, a.Cancel("op-1", b)}
		},
		"BackupItemAction": func() (answers, []error) {
			a := r.BackupItemActionV1(backupPluginV1{p})
			selector, err := a.AppliesTo()
			item, additional, err2 := a.Execute(settings(), b)
			return answers{"AppliesTo": selector, "Execute": []any{item, additional}}, []error{err, err2}
		},
		"RestoreItemActionV2": func() (answers, []error) {
			a := r.RestoreItemAction(restorePlugin{p})
			selector, err := a.AppliesTo()
			out, err2 := a.Execute(in)
			reported, err3 := a.Progress("op-1", restore)
			err4 := a.Cancel("op-1", restore)
			ready, err5 := a.AreAdditionalItemsReady(p.additional, restore)
			return answers{"name": a.Name(), "AppliesTo": selector, "Execute": restored(out), "Progress": reported, "AreAdditionalItemsReady": ready},
				[]error{err, err2, err3, err4, err5}
		},
		"RestoreItemAction": func() (answers, []error) {
			a := r.RestoreItemActionV1(restorePluginV1{p})
			selector, err := a.AppliesTo()
			out, err2 := a.Execute(in)
			return answers{"AppliesTo": selector, "Execute": restored(out)}, []error{err, err2}
		},
		"DeleteItemAction": func() (answers, []error) {
			a := r.DeleteItemAction(deletePlugin{p})
			selector, err := a.AppliesTo()
			return answers{"AppliesTo": selector}, []error{err, a.Execute(&velero.DeleteItemActionExecuteInput{Item: settings(), Backup: b})}
		},
	}
}

// seen is what the journal was told: of each call, and what came of it.
type seen struct {
	Object string
	Call   trace.Call
	Return trace.Return
}

// record makes the calls of all actions, and is what the journal was told, by kind.
func (p plugin) record(t *testing.T, epoch time.Time, check func(kind string, a answers, errs []error)) map[string][]seen {
	t.Helper()
	all := map[string][]seen{}
	for kind := range p.calls(fakeplugins.Recorded{}) {
		r := newRun(scenario.Plugin{})
		a, errs := p.calls(fakeplugins.Recorded{Name: "example.io/mine", Journal: r.journal, Epoch: epoch})[kind]()
		check(kind, a, errs)
		for i := 0; i+1 < len(r.events); i += 2 {
			called, returned := r.events[i], r.events[i+1]
			if called.Call == nil || returned.Return == nil || called.Object != returned.Object || called.Call.ID != returned.Return.ID {
				t.Fatalf("%s: no call and its return: %+v, %+v", kind, called, returned)
			}
			called.Call.ID, returned.Return.ID = 0, 0
			all[kind] = append(all[kind], seen{called.Object, *called.Call, *returned.Return})
		}
	}
	return all
}

// expected are the calls of all actions, with what came of them by method.
func expected(returns map[string]trace.Return) map[string][]seen {
	all := map[string][]seen{}
	for kind, methods := range map[string][]string{
		"BackupItemActionV2": {"AppliesTo", "Execute", "Progress", "Cancel"}, "BackupItemAction": {"AppliesTo", "Execute"},
		"RestoreItemActionV2": {"AppliesTo", "Execute", "Progress", "Cancel", "AreAdditionalItemsReady"}, "RestoreItemAction": {"AppliesTo", "Execute"},
		"DeleteItemAction": {"AppliesTo", "Execute"},
	} {
		for _, method := range methods {
			s := seen{Object: "backup/backup-1", Call: trace.Call{Plugin: "example.io/mine", Method: method, Phase: "InProgress"}, Return: returns[method]}
			if kind[0] == 'R' {
				s.Object = "restore/restore-1"
			}
			switch method {
			case "AppliesTo":
				s.Object, s.Call.Phase = "", ""
			case "Execute":
				s.Call.Item = "configmaps/app/settings"
			case "Progress", "Cancel":
				s.Call.Operation = "op-1"
			}
			if of, ok := returns[kind+" "+method]; ok {
				s.Return = of
			}
			all[kind] = append(all[kind], s)
		}
	}
	return all
}

// Of every call the journal is told, and Velero gets what the plugin has returned.
func TestRecordedCalls(t *testing.T) {
	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	token := []velero.ResourceIdentifier{{GroupResource: schema.GroupResource{Resource: "secrets"}, Namespace: "app", Name: "token"}}
	p := plugin{selector: velero.ResourceSelector{IncludedResources: []string{"configmaps"}}, item: settings(), additional: token, operation: "op-1"}
	p.progress = velero.OperationProgress{
		Completed: true, Err: "disk full", NCompleted: 1, NTotal: 2, OperationUnits: "GB", Description: "uploading",
		Started: epoch.Add(time.Second), Updated: epoch.Add(time.Minute),
	}
	got := p.record(t, epoch, func(kind string, a answers, errs []error) {
		for _, err := range errs {
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		want := map[string]answers{
			"BackupItemActionV2": {
				"name": "example.io/mine", "AppliesTo": p.selector, "Execute": []any{p.item, token, "op-1", token}, "Progress": p.progress,
			},
			"BackupItemAction": {"AppliesTo": p.selector, "Execute": []any{p.item, token}},
			"RestoreItemActionV2": {
				"name": "example.io/mine", "AppliesTo": p.selector, "Execute": []any{p.item, false, "op-1", token}, "Progress": p.progress,
				"AreAdditionalItemsReady": true,
			},
			"RestoreItemAction": {"AppliesTo": p.selector, "Execute": []any{p.item, false, "op-1", token}},
			"DeleteItemAction":  {"AppliesTo": p.selector},
		}[kind]
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("%s: what Velero gets (-want +got):\n%s", kind, diff)
		}
	})
	want := expected(map[string]trace.Return{
		"AppliesTo": {Selects: "configmaps"}, "Execute": {Operation: "op-1"},
		"Progress": {Progress: &trace.Progress{
			Completed: true, Error: "disk full", Done: 1, Of: 2, Units: "GB", Description: "uploading",
			Started: trace.Time(time.Second), Updated: trace.Time(time.Minute),
		}},
		"AreAdditionalItemsReady":  {Ready: new(true)},
		"BackupItemAction Execute": {}, "DeleteItemAction Execute": {}, // they know no operation
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the journal (-want +got):\n%s", diff)
	}
}

// An error comes to Velero as it is, and what else the plugin has returned is not told.
func TestRecordedErrors(t *testing.T) {
	for text, want := range map[string]trace.Return{
		"no": {Error: "no"},
		"":   {Error: "an error without a text"},
		"rpc error: code = Aborted desc = plugin panicked: nil map": {Error: "rpc error: code = Aborted desc = plugin panicked: nil map", Panic: true},
		"rpc error: code = Aborted desc = nil volume":               {Error: "rpc error: code = Aborted desc = nil volume", Panic: true},
		"the volume's plugin panicked":                              {Error: "the volume's plugin panicked"},
	} {
		failure := errors.New(text)
		p := plugin{operation: "op-1", item: new(unstructured.Unstructured), err: failure}
		got := p.record(t, time.Time{}, func(kind string, _ answers, errs []error) {
			for i, err := range errs {
				if err != failure { //nolint:errorlint // it is to be the same one
					t.Errorf("%s: error %d is %v, want %v", kind, i+1, err, failure)
				}
			}
		})
		all := map[string]trace.Return{}
		for _, method := range []string{"AppliesTo", "Execute", "Progress", "Cancel", "AreAdditionalItemsReady"} {
			all[method] = want
		}
		if diff := cmp.Diff(expected(all), got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
