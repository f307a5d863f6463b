package fakeplugins_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestAreAdditionalItemsReady lets Velero wait for the additional items of two items, one after the other, and then for those of
// another restore. Between two questions lies a minute.
func TestAreAdditionalItemsReady(t *testing.T) {
	const gone = "plugin example.io/mover: AreAdditionalItemsReady: the plugin's process has ended"
	for _, tt := range []struct {
		name  string
		ready scenario.Ready
		want  []string // of each item, until one is ready or fails; 4 at most
	}{
		{"at once", scenario.Ready{}, []string{"true", "true", "true"}},
		{"after a while", scenario.Ready{After: d(2 * time.Minute)}, []string{"false false true", "false false true", "false false true"}},
		{"never", scenario.Ready{Never: true}, []string{"false false false false", "false false false false", "false false false false"}},
		{
			"fails once",
			scenario.Ready{Behaviour: scenario.Behaviour{Error: "no", Nth: 2, Times: 1}, After: d(time.Minute)},
			[]string{"false no", "false true", "false true"},
		},
		{"panics, counted over all", scenario.Ready{Behaviour: scenario.Behaviour{Panic: "nil map", Nth: 3}}, []string{"true", "true", "panic: nil map"}},
		{"hangs", scenario.Ready{Behaviour: scenario.Behaviour{Hang: true, Times: 1}}, []string{gone, "true", "true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := scenario.Plugin{Action: scenario.RestoreItemAction, AreAdditionalItemsReady: tt.ready}
				script.Execute.AdditionalItems, script.Execute.WaitForAdditionalItems = []scenario.Item{"secrets/app/token"}, true
				r := newRun(script)
				var got []string
				for _, name := range []string{"restore-1", "restore-1", "restore-2"} {
					restore := new(velerov1.Restore)
					restore.Name, restore.Status.Phase = name, velerov1.RestorePhaseInProgress
					in := &velero.RestoreItemActionExecuteInput{Item: settings(), Restore: restore}
					out, err := r.process(t.Context()).RestoreItemAction().Execute(in)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, r.await(t, out.AdditionalItems, restore))
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// await asks, each time in a process of its own that ends after an hour, until the items are ready or it fails.
func (r *run) await(t *testing.T, items []velero.ResourceIdentifier, restore *velerov1.Restore) (answers string) {
	for range 4 {
		ctx, end := context.WithTimeout(t.Context(), time.Hour)
		var ready bool
		answer := outcome(func() (err error) {
			ready, err = r.process(ctx).RestoreItemAction().AreAdditionalItemsReady(items, restore)
			return err
		})
		end()
		if answer == "ok" {
			answer = strconv.FormatBool(ready)
		}
		if answers != "" {
			answers += " "
		}
		if answers += answer; answer != "false" {
			return answers
		}
		time.Sleep(time.Minute)
	}
	return answers
}

// An item within which another one is restored waits for as long as any.
func TestAreAdditionalItemsReadyOfAnAdditionalItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := scenario.Plugin{Action: scenario.RestoreItemAction, AreAdditionalItemsReady: scenario.Ready{After: d(time.Minute)}}
		r := newRun(script)
		restore := new(velerov1.Restore)
		restore.Name = "restore-1"
		for range 2 {
			if _, err := r.process(t.Context()).RestoreItemAction().Execute(&velero.RestoreItemActionExecuteInput{Item: settings(), Restore: restore}); err != nil {
				t.Fatal(err)
			}
		}
		for _, item := range []string{"the additional one", "the other"} {
			if got := r.await(t, nil, restore); got != "false true" {
				t.Errorf("%s: %s, want false true", item, got)
			}
		}
	})
}

func TestJournalOfAppliesToAndAreAdditionalItemsReady(t *testing.T) {
	r := newRun(scenario.Plugin{Action: scenario.RestoreItemAction, AppliesTo: scenario.Behaviour{Error: "no", Nth: 2}, AreAdditionalItemsReady: scenario.Ready{Never: true}})
	restore := new(velerov1.Restore)
	restore.Name, restore.Status.Phase = "restore-1", velerov1.RestorePhaseInProgress
	a := r.process(t.Context()).RestoreItemAction()
	for range 2 {
		outcome(func() error { _, err := a.AppliesTo(); return err })
	}
	outcome(func() error { _, err := a.AreAdditionalItemsReady(nil, restore); return err })
	no := false
	want := []trace.Event{
		{Body: trace.Body{Call: &trace.Call{ID: 1, Plugin: "example.io/mover", Method: "AppliesTo"}}},
		{Body: trace.Body{Return: &trace.Return{ID: 1}}},
		{Body: trace.Body{Call: &trace.Call{ID: 3, Plugin: "example.io/mover", Method: "AppliesTo"}}},
		{Body: trace.Body{Return: &trace.Return{ID: 3, Error: "no"}}},
		{Object: "restore/restore-1", Body: trace.Body{Call: &trace.Call{ID: 5, Plugin: "example.io/mover", Method: "AreAdditionalItemsReady", Phase: "InProgress"}}},
		{Object: "restore/restore-1", Body: trace.Body{Return: &trace.Return{ID: 5, Ready: &no}}},
	}
	for i := range want {
		want[i].Seq, want[i].At = i+1, r.events[i].At
	}
	if diff := cmp.Diff(want, r.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
