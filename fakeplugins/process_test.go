package fakeplugins_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// run is a run of one scripted plugin.
type run struct {
	script     scenario.Plugin
	epoch      time.Time
	operations *fakeplugins.Operations

	mu     sync.Mutex
	events []trace.Event
	// returning, if set, is called when a call has had its effect and before it returns.
	returning func()
}

func newRun(script scenario.Plugin) *run {
	script.Name = "example.io/mover"
	if script.Action == "" {
		script.Action = scenario.BackupItemAction
	}
	return &run{script: script, epoch: time.Now(), operations: fakeplugins.NewOperations(time.Now(), nil)}
}

func (r *run) journal(object string, c trace.Call) func(trace.Return) {
	id := r.record(trace.Event{Object: object, Body: trace.Body{Call: &c}})
	c.ID = id
	return func(ret trace.Return) {
		ret.ID = id
		r.record(trace.Event{Object: object, Body: trace.Body{Return: &ret}})
		if r.returning != nil {
			r.returning()
		}
	}
}

func (r *run) record(e trace.Event) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Seq, e.At = len(r.events)+1, trace.Time(time.Since(r.epoch))
	r.events = append(r.events, e)
	return e.Seq
}

func (r *run) process(ctx context.Context) *fakeplugins.Process {
	return fakeplugins.NewProcess(ctx, r.script, r.operations, r.journal)
}

// action is the plugin in a process of its own.
func (r *run) action(t *testing.T) biav2.BackupItemAction {
	return r.process(t.Context()).BackupItemAction()
}

func backup(phase velerov1.BackupPhase) *velerov1.Backup {
	b := new(velerov1.Backup)
	b.Name, b.Status.Phase = "backup-1", phase
	return b
}

func settings() *unstructured.Unstructured {
	u := new(unstructured.Unstructured)
	u.SetAPIVersion("v1")
	u.SetKind("ConfigMap")
	u.SetNamespace("app")
	u.SetName("settings")
	return u
}

func execute(t *testing.T, a biav2.BackupItemAction) string {
	t.Helper()
	_, _, id, _, err := a.Execute(settings(), backup(velerov1.BackupPhaseInProgress))
	if err != nil {
		t.Fatalf("Execute: %v", err)
	}
	return id
}

// outcome calls f and says what came of it.
func outcome(f func() error) (result string) {
	defer func() {
		if p := recover(); p != nil {
			result = "panic: " + p.(string)
		}
	}()
	if err := f(); err != nil {
		return err.Error()
	}
	return "ok"
}

func d(t time.Duration) scenario.Duration { return scenario.Duration{Duration: t} }

func TestExecute(t *testing.T) {
	script := scenario.Plugin{
		Resources: []string{"configmaps", "secrets"},
		Operation: new(scenario.Operation),
		Execute: scenario.Execute{
			AdditionalItems: []scenario.Item{"secrets/app/token"},
			ItemsToUpdate:   []scenario.Item{"configmaps/app/settings"},
		},
	}
	settingsID := velero.ResourceIdentifier{GroupResource: schema.GroupResource{Resource: "configmaps"}, Namespace: "app", Name: "settings"}
	tokenID := velero.ResourceIdentifier{GroupResource: schema.GroupResource{Resource: "secrets"}, Namespace: "app", Name: "token"}

	type reply struct {
		Additional []velero.ResourceIdentifier
		Operation  string
		Update     []velero.ResourceIdentifier
	}
	r := newRun(script)
	for _, tt := range []struct {
		name  string
		phase velerov1.BackupPhase
		want  reply
	}{
		{"in progress", velerov1.BackupPhaseInProgress, reply{[]velero.ResourceIdentifier{tokenID}, "backup-1/mover-1", []velero.ResourceIdentifier{settingsID}}},
		{"the next item's operation has another ID", velerov1.BackupPhaseInProgress, reply{[]velero.ResourceIdentifier{tokenID}, "backup-1/mover-2", []velero.ResourceIdentifier{settingsID}}},
		{"no operation while finalizing", velerov1.BackupPhaseFinalizing, reply{Additional: []velero.ResourceIdentifier{tokenID}}},
		{"no operation while finalizing, partially failed", velerov1.BackupPhaseFinalizingPartiallyFailed, reply{Additional: []velero.ResourceIdentifier{tokenID}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			item := settings()
			got, additional, operation, update, err := r.action(t).Execute(item, backup(tt.phase))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, reply{additional, operation, update}); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(settings(), got); diff != "" {
				t.Errorf("the item changed (-want +got):\n%s", diff)
			}
		})
	}

	selector, err := r.action(t).AppliesTo()
	if diff := cmp.Diff(velero.ResourceSelector{IncludedResources: script.Resources}, selector); diff != "" || err != nil {
		t.Errorf("AppliesTo: error %v (-want +got):\n%s", err, diff)
	}
}

// TestTooLarge: what a plugin is handed stays as it is, and what it returns has no room in another request.
func TestTooLarge(t *testing.T) {
	script := scenario.Plugin{Execute: scenario.Execute{TooLarge: true}}
	item := settings()
	got, _, _, _, err := newRun(script).action(t).Execute(item, backup(velerov1.BackupPhaseInProgress))
	if err != nil {
		t.Fatal(err)
	}
	script.Action = scenario.RestoreItemAction
	restored, err := newRun(script).process(t.Context()).RestoreItemAction().Execute(&velero.RestoreItemActionExecuteInput{Item: item, Restore: new(velerov1.Restore)})
	if err != nil {
		t.Fatal(err)
	}
	for action, got := range map[string]runtime.Unstructured{"BackupItemAction": got, "RestoreItemAction": restored.UpdatedItem} {
		u := got.(*unstructured.Unstructured)
		if b, err := u.MarshalJSON(); err != nil || len(b) <= 4<<20 {
			t.Errorf("%s: the item has %d bytes, error %v; want more than 4 MiB", action, len(b), err)
		}
		u.SetAnnotations(nil)
		if diff := cmp.Diff(settings(), u); diff != "" {
			t.Errorf("%s: the item without its annotations (-want +got):\n%s", action, diff)
		}
	}
	if diff := cmp.Diff(settings(), item); diff != "" {
		t.Errorf("the item that the plugins were handed (-want +got):\n%s", diff)
	}
}

// TestBehaviour calls the methods of a plugin several times, each in a process of its own.
func TestBehaviour(t *testing.T) {
	const hour = time.Hour
	hung := "plugin example.io/mover: %s: the plugin's process has ended"
	for _, tt := range []struct {
		name      string
		behaviour scenario.Behaviour
		want      []string
		took      time.Duration
	}{
		{"none", scenario.Behaviour{}, []string{"ok", "ok"}, 0},
		{"delay", scenario.Behaviour{Delay: d(hour)}, []string{"ok", "ok"}, 2 * hour},
		{"error always", scenario.Behaviour{Error: "no"}, []string{"no", "no", "no"}, 0},
		{"error on the second", scenario.Behaviour{Error: "no", Nth: 2, Times: 1}, []string{"ok", "no", "ok"}, 0},
		{"error from the second on", scenario.Behaviour{Error: "no", Nth: 2}, []string{"ok", "no", "no"}, 0},
		{"error twice", scenario.Behaviour{Error: "no", Times: 2}, []string{"no", "no", "ok"}, 0},
		{"panic, then fine", scenario.Behaviour{Panic: "nil map", Times: 1}, []string{"panic: nil map", "ok"}, 0},
		{"hang, then fine", scenario.Behaviour{Hang: true, Times: 1}, []string{hung, "ok"}, 24 * hour},
		{"delay and hang", scenario.Behaviour{Delay: d(hour), Hang: true, Nth: 2}, []string{"ok", hung}, 25 * hour},
		{"delay longer than the process lives", scenario.Behaviour{Delay: d(30 * hour)}, []string{hung}, 24 * hour},
	} {
		for method, call := range map[string]func(biav2.BackupItemAction) error{
			"Execute": func(a biav2.BackupItemAction) error {
				_, _, _, _, err := a.Execute(settings(), backup(velerov1.BackupPhaseInProgress))
				return err
			},
			"AppliesTo": func(a biav2.BackupItemAction) error {
				s, err := a.AppliesTo()
				if err != nil && s.IncludedResources != nil {
					t.Errorf("AppliesTo returned %v and an error", s.IncludedResources)
				}
				return err
			},
			"Progress": func(a biav2.BackupItemAction) error {
				_, err := a.Progress("backup-1/mover-1", backup(velerov1.BackupPhaseWaitingForPluginOperations))
				return err
			},
			"Cancel": func(a biav2.BackupItemAction) error {
				return a.Cancel("backup-1/mover-1", backup(velerov1.BackupPhaseWaitingForPluginOperations))
			},
		} {
			t.Run(tt.name+"/"+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					script := scenario.Plugin{Operation: new(scenario.Operation)}
					switch method {
					case "Execute":
						script.Execute.Behaviour = tt.behaviour
					case "AppliesTo":
						script.AppliesTo = tt.behaviour
					case "Progress":
						script.Progress = tt.behaviour
					case "Cancel":
						script.Cancel = tt.behaviour
					}
					r := newRun(script)
					if method != "Execute" {
						execute(t, r.action(t))
					}
					start := time.Now()
					for i, want := range tt.want {
						if want == hung {
							want = "plugin example.io/mover: " + method + ": the plugin's process has ended"
						}
						ctx, stop := context.WithTimeout(t.Context(), 24*hour)
						got := outcome(func() error { return call(r.process(ctx).BackupItemAction()) })
						stop()
						if got != want {
							t.Errorf("call %d: %s, want %s", i+1, got, want)
						}
					}
					if took := time.Since(start); took != tt.took {
						t.Errorf("took %s, want %s", took, tt.took)
					}
				})
			})
		}
	}
}

func TestProgressAndCancelAreCountedPerOperation(t *testing.T) {
	r := newRun(scenario.Plugin{
		Operation: new(scenario.Operation),
		Progress:  scenario.Behaviour{Error: "no", Nth: 2, Times: 1},
	})
	a, b := execute(t, r.action(t)), execute(t, r.action(t))
	var got []string
	for _, id := range []string{a, b, a, b, a, b} {
		got = append(got, outcome(func() error { _, err := r.action(t).Progress(id, backup("")); return err }))
	}
	if diff := cmp.Diff([]string{"ok", "ok", "no", "no", "ok", "ok"}, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

func TestFailedExecuteStartsNoOperation(t *testing.T) {
	for name, b := range map[string]scenario.Behaviour{
		"error": {Error: "no", Times: 1},
		"panic": {Panic: "no", Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			script := scenario.Plugin{Operation: new(scenario.Operation)}
			script.Execute.Behaviour = b
			r := newRun(script)
			if got := outcome(func() error {
				_, _, _, _, err := r.action(t).Execute(settings(), backup(""))
				return err
			}); got == "ok" {
				t.Fatal("Execute succeeded, want a failure")
			}
			// The state is usable, and no operation was made of the failed call.
			if id := execute(t, r.action(t)); id != "backup-1/mover-1" {
				t.Errorf("the next operation is %s, want backup-1/mover-1", id)
			}
		})
	}
}

func TestJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := scenario.Plugin{
			Operation: &scenario.Operation{Progress: []scenario.Step{{Done: 1, Of: 10, Units: "GB"}}},
			Progress:  scenario.Behaviour{Panic: "nil map", Nth: 2, Times: 1},
			Cancel:    scenario.Behaviour{Hang: true},
		}
		script.Execute.Delay = d(time.Minute)
		r := newRun(script)
		id := execute(t, r.action(t))
		waiting := backup(velerov1.BackupPhaseWaitingForPluginOperations)
		for range 2 {
			outcome(func() error { _, err := r.action(t).Progress(id, waiting); return err })
		}
		outcome(func() error { _, err := r.action(t).Progress("other", waiting); return err })
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		outcome(func() error { return r.process(ctx).BackupItemAction().Cancel(id, waiting) })

		const minute = trace.Time(time.Minute)
		call := func(method, operation string) *trace.Call {
			return &trace.Call{Plugin: "example.io/mover", Method: method, Operation: operation, Phase: "WaitingForPluginOperations"}
		}
		want := []trace.Event{
			{At: 0, Body: trace.Body{Call: &trace.Call{Plugin: "example.io/mover", Method: "Execute", Item: "configmaps/app/settings", Phase: "InProgress"}}},
			{At: minute, Body: trace.Body{Return: &trace.Return{ID: 1, Operation: "backup-1/mover-1"}}},
			{At: minute, Body: trace.Body{Call: call("Progress", "backup-1/mover-1")}},
			{At: minute, Body: trace.Body{Return: &trace.Return{ID: 3, Progress: &trace.Progress{Done: 1, Of: 10, Units: "GB", Started: minute, Updated: minute}}}},
			{At: minute, Body: trace.Body{Call: call("Progress", "backup-1/mover-1")}},
			{At: minute, Body: trace.Body{Return: &trace.Return{ID: 5, Error: "nil map", Panic: true}}},
			{At: minute, Body: trace.Body{Call: call("Progress", "other")}},
			{At: minute, Body: trace.Body{Return: &trace.Return{ID: 7, Error: "operation ID other is invalid"}}},
			{At: minute, Body: trace.Body{Call: call("Cancel", "backup-1/mover-1")}}, // never returns
		}
		for i := range want {
			want[i].Seq, want[i].Object = i+1, "backup/backup-1"
			if c := want[i].Call; c != nil {
				c.ID = i + 1
			}
		}
		if diff := cmp.Diff(want, r.events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// A fault after a call: the process is killed when the call has had its effect and Velero has not seen the reply.
func TestKilledBeforeTheReply(t *testing.T) {
	ctx, kill := context.WithCancel(t.Context())
	r := newRun(scenario.Plugin{Operation: new(scenario.Operation)})
	r.returning = kill
	if _, _, id, _, err := r.process(ctx).BackupItemAction().Execute(settings(), backup("")); err == nil {
		t.Fatalf("Execute returned operation %q, want an error", id)
	}
	if _, err := r.action(t).Progress("backup-1/mover-1", backup("")); err != nil {
		t.Errorf("the operation was not started: %v", err)
	}
}

// A process that was killed before the call takes effect has none.
func TestKilledBeforeTheCall(t *testing.T) {
	ctx, kill := context.WithCancel(t.Context())
	r := newRun(scenario.Plugin{Operation: new(scenario.Operation)})
	p := fakeplugins.NewProcess(ctx, r.script, r.operations, func(string, trace.Call) func(trace.Return) {
		kill()
		return func(trace.Return) { t.Error("the call has an outcome") }
	})
	for range 2 {
		if _, _, _, _, err := p.BackupItemAction().Execute(settings(), backup("")); err == nil {
			t.Error("Execute succeeded")
		}
	}
	if _, err := r.action(t).Progress("backup-1/mover-1", backup("")); err == nil {
		t.Error("an operation was started")
	}
}

func TestRestoreItemAction(t *testing.T) {
	script := scenario.Plugin{
		Action:    scenario.RestoreItemAction,
		Operation: &scenario.Operation{Progress: []scenario.Step{{Of: 3, Completed: true}}},
	}
	script.Execute.AdditionalItems = []scenario.Item{"secrets/app/token"}
	r := newRun(script)
	restore := new(velerov1.Restore)
	restore.Name, restore.Status.Phase = "restore-1", velerov1.RestorePhaseInProgress

	a := r.process(t.Context()).RestoreItemAction()
	in := &velero.RestoreItemActionExecuteInput{Item: settings(), Restore: restore}
	out, err := a.Execute(in)
	if err != nil {
		t.Fatal(err)
	}
	want := velero.NewRestoreItemActionExecuteOutput(settings()).WithOperationID("restore-1/mover-1")
	want.AdditionalItems = []velero.ResourceIdentifier{{GroupResource: schema.GroupResource{Resource: "secrets"}, Namespace: "app", Name: "token"}}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("Execute (-want +got):\n%s", diff)
	}
	if ready, err := a.AreAdditionalItemsReady(out.AdditionalItems, restore); !ready || err != nil {
		t.Errorf("AreAdditionalItemsReady: %t, %v", ready, err)
	}
	r.script.Execute.SkipRestore, r.script.Execute.WaitForAdditionalItems, r.script.Operation = true, true, nil
	want.SkipRestore, want.WaitForAdditionalItems, want.OperationID = true, true, ""
	for version, execute := range map[int]func(*velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error){
		1: r.process(t.Context()).RestoreItemActionV1().Execute, 2: r.process(t.Context()).RestoreItemAction().Execute,
	} {
		out, err := execute(in)
		if diff := cmp.Diff(want, out); diff != "" || err != nil {
			t.Errorf("Execute, version %d: error %v (-want +got):\n%s", version, err, diff)
		}
	}
	if p, err := a.Progress(out.OperationID, restore); err != nil || !p.Completed || p.NCompleted != 3 {
		t.Errorf("Progress: %+v, %v; want completed, 3 of 3", p, err)
	}
	if err := a.Cancel(out.OperationID, restore); err != nil {
		t.Error(err)
	}
	if got := r.events[0]; got.Object != "restore/restore-1" || got.Call.Phase != "InProgress" || got.Call.Item != "configmaps/app/settings" {
		t.Errorf("journalled %s, %+v", got.Object, got.Call)
	}
}

func TestItemName(t *testing.T) {
	for _, tt := range []struct{ apiVersion, kind, namespace, want string }{
		{"v1", "ConfigMap", "app", "configmaps/app/x"},
		{"apps/v1", "Deployment", "app", "deployments.apps/app/x"},
		{"v1", "Namespace", "", "namespaces/x"},
		{"networking.k8s.io/v1", "NetworkPolicy", "app", "networkpolicies.networking.k8s.io/app/x"},
	} {
		u := new(unstructured.Unstructured)
		u.SetAPIVersion(tt.apiVersion)
		u.SetKind(tt.kind)
		u.SetNamespace(tt.namespace)
		u.SetName("x")
		r := newRun(scenario.Plugin{})
		if _, _, id, _, err := r.action(t).Execute(u, backup("")); id != "" || err != nil {
			t.Errorf("Execute started %q, error %v; want no operation", id, err)
		}
		if got := r.events[0].Call.Item; got != tt.want {
			t.Errorf("%s is %s, want %s", tt.kind, got, tt.want)
		}
	}
}
