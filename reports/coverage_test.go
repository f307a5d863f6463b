package reports

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// found is the transition of that name in the coverage of the kind.
func found(t *testing.T, r *Report, kind, name string) Transition {
	t.Helper()
	for _, c := range r.Coverage {
		if i := slices.IndexFunc(c.Transitions, func(t Transition) bool { return t.Name() == name }); c.Kind == kind && i >= 0 {
			return c.Transitions[i]
		}
	}
	return Transition{}
}

func TestCoverage(t *testing.T) {
	r := New([]Result{
		made(t, Run{Scenario: "passes"}, "backup/b: New Queued ReadyToStart InProgress Finalizing Completed"),
		made(t, Run{Scenario: "passes", Seed: 2}, "backup/b: New Queued ReadyToStart InProgress Finalizing Completed"),
		made(t, Run{Scenario: "synced"}, "backup/b: Completed Deleting"),
		made(t, known("stale", 1, "stale-read-acted-upon"), "backup/b: New Finalizing PartiallyFailed"),
		made(t, Run{Scenario: "wrong"}, "backup/b: New Completed Queued"),
	}, Options{})
	for name, want := range map[string]Transition{
		"New → Queued":          {Status: Covered, Runs: 2, Scenarios: []string{"passes"}, Inputs: []string{"enqueued"}},
		"Queued → ReadyToStart": {Status: Covered, Runs: 2, Scenarios: []string{"passes"}, Inputs: []string{"dequeued", "dequeued before backups are watched"}},
		// The other readings' alone.
		"ReadyToStart → Queued": {Status: Unreachable, Reason: "demanded, and not in v1.18"},
		"InProgress → Failed":   {Status: Uncovered, Inputs: []string{"the run failed", "the server started"}},
		// What was created in another cluster had its phase when it came.
		"New → Completed":               {Status: Illegal, Runs: 1, Scenarios: []string{"wrong"}},
		"Completed → Queued":            {Status: Illegal, Runs: 1, Scenarios: []string{"wrong"}},
		"Completed → Deleting":          {Status: Uncovered, Inputs: []string{"deletion was requested"}},
		"Finalizing → PartiallyFailed":  {Status: Outside, Runs: 1, Scenarios: []string{"stale"}, Reason: "by stale-read-acted-upon"},
		"PartiallyFailed → Finalizing":  {Status: Uncovered, Deviation: true, Inputs: []string{"a pass was repeated from a stale read"}},
		"New → Finalizing":              {Status: Outside, Runs: 1, Scenarios: []string{"stale"}, Reason: "by stale-read-acted-upon"},
		"no such phase → nor this one":  {},
		"InProgress → FailedValidation": {},
	} {
		got := found(t, r, "backup", name)
		got.From, got.To = "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if c := r.Coverage[0]; c.Kind != "backup" || r.Coverage[1].Kind != "restore" || len(r.Coverage) != 2 {
		t.Errorf("coverages of %+v", r.Coverage)
	} else if covered, reachable := c.Reachable(); covered != 5 || reachable < 30 {
		t.Errorf("%d of %d covered", covered, reachable)
	}
}

// A release without a queue has other transitions, and one without rules is read as it should be.
func TestCoverageOfReleases(t *testing.T) {
	r := New([]Result{
		made(t, Run{Scenario: "old", World: "envtest", Version: "1.14.0"}, "backup/b: New InProgress Finalizing Completed"),
		made(t, Run{Scenario: "unknown", World: "envtest", Version: "1.99.0"}, "backup/b: New Queued"),
	}, Options{})
	targets := []string{}
	for _, c := range r.Coverage {
		targets = append(targets, c.Target.String()+" "+c.Kind)
	}
	if diff := cmp.Diff([]string{"envtest 1.99.0 backup", "envtest 1.99.0 restore", "envtest 1.14.0 backup", "envtest 1.14.0 restore"}, targets); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	old := r.Coverage[2]
	if i := slices.IndexFunc(old.Transitions, func(t Transition) bool { return t.To == "Queued" }); i >= 0 {
		t.Errorf("without a queue there is %s", old.Transitions[i].Name())
	}
	if got := found(t, &Report{Coverage: []Coverage{old}}, "backup", "New → InProgress"); got.Status != Covered {
		t.Errorf("New → InProgress is %s", got.Status)
	}
}

func TestCoverageOfActions(t *testing.T) {
	call := func(id int, phase string, incarnation int) trace.Event {
		return trace.Event{Object: "backup/b", Incarnation: incarnation, Body: trace.Body{Call: &trace.Call{ID: id, Plugin: "example.io/quiesce", Method: "Execute", Phase: phase}}}
	}
	reply := func(id int, err string) trace.Event {
		return trace.Event{Object: "backup/b", Incarnation: 1, Body: trace.Body{Return: &trace.Return{ID: id, Error: err}}}
	}
	server := func(incarnation int, state string) trace.Event {
		return trace.Event{Incarnation: incarnation, Body: trace.Body{Process: &trace.Process{Name: "server", State: state}}}
	}
	pre, post := "PreBackupAction ", "PostBackupAction "
	for name, test := range map[string]struct {
		events []trace.Event
		want   []string
	}{
		"completed": {[]trace.Event{call(1, "InProgress", 1), reply(1, "")}, []string{pre + "due → running", pre + "running → completed"}},
		"failed":    {[]trace.Event{call(1, "Completed", 1), reply(1, "no")}, []string{post + "due → running", post + "running → failed"}},
		"its process dies, and it is called again by the same server": {
			[]trace.Event{call(1, "InProgress", 1), reply(1, "gone"), call(2, "InProgress", 1), reply(2, "")},
			[]string{pre + "due → running", pre + "running → completed"},
		},
		"the server dies, and the next calls it again": {
			[]trace.Event{call(1, "Completed", 1), server(1, "killed"), server(2, "started"), call(2, "Completed", 2), reply(2, "")},
			[]string{post + "due → running", post + "interrupted → running", post + "running → interrupted", post + "running → completed"},
		},
		"the server dies after the reply, which is not recorded": {
			[]trace.Event{call(1, "Completed", 1), reply(1, ""), server(1, "killed"), call(2, "Completed", 2), reply(2, "")},
			[]string{post + "due → running", post + "interrupted → running", post + "running → interrupted", post + "running → completed"},
		},
		"still called": {[]trace.Event{call(1, "InProgress", 1)}, []string{pre + "due → running"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := New([]Result{NewResult(Run{Scenario: "s", World: "virtual", Version: "1.18.3"}, trace.Trace{Events: test.events})}, Options{})
			got := []string{}
			for _, c := range r.Coverage {
				for _, transition := range c.Transitions {
					if transition.Runs > 0 {
						got = append(got, transition.Name())
					}
					if transition.Status == Illegal {
						t.Errorf("%s is illegal", transition.Name())
					}
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
