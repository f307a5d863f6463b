package fakeplugins_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

func TestDeleteItemAction(t *testing.T) {
	script := scenario.Plugin{Action: scenario.DeleteItemAction, Operation: new(scenario.Operation)}
	script.Execute.Error, script.Execute.Nth = "no", 2
	r := newRun(script)
	a := r.process(t.Context()).DeleteItemAction()
	in := &velero.DeleteItemActionExecuteInput{Item: settings(), Backup: backup(velerov1.BackupPhaseDeleting)}
	for _, want := range []string{"ok", "no"} {
		if got := outcome(func() error { return a.Execute(in) }); got != want {
			t.Errorf("Execute: %s, want %s", got, want)
		}
	}
	want := []trace.Body{
		{Call: &trace.Call{ID: 1, Plugin: "example.io/mover", Method: "Execute", Item: "configmaps/app/settings", Phase: "Deleting"}},
		{Return: &trace.Return{ID: 1}}, // no operation
		{Call: &trace.Call{ID: 3, Plugin: "example.io/mover", Method: "Execute", Item: "configmaps/app/settings", Phase: "Deleting"}},
		{Return: &trace.Return{ID: 3, Error: "no"}},
	}
	var got []trace.Body
	for _, e := range r.events {
		got = append(got, e.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// lost is an interpreter out of reach, from the beginning or from the middle of a call on.
type lost struct{ begins bool }

func (l lost) Begin(string, trace.Call) (fakeplugins.Begun, error) {
	if !l.begins {
		return fakeplugins.Begun{}, errors.New("out of reach")
	}
	return fakeplugins.Begun{Finish: func() (fakeplugins.Outcome, error) {
		return fakeplugins.Outcome{Operation: "backup-1/mover-1"}, errors.New("out of reach")
	}}, nil
}

func TestInterpreterOutOfReach(t *testing.T) {
	for _, begins := range []bool{false, true} {
		a := fakeplugins.NewProcessOf(t.Context(), "example.io/mover", lost{begins}).BackupItemAction()
		_, _, id, _, err := a.Execute(settings(), backup(""))
		if err == nil || err.Error() != "plugin example.io/mover: Execute: out of reach" || id != "" {
			t.Errorf("begins %t: operation %q, error %v", begins, id, err)
		}
	}
}
