package virtual_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/trace"
)

// The phases with long names.
const (
	waiting       = "WaitingForPluginOperations"
	waitingFailed = "WaitingForPluginOperationsPartiallyFailed"
	finalFailed   = "FinalizingPartiallyFailed"
)

// doctored is a real trace of an object that a case changes by hand.
type doctored struct {
	t      *testing.T
	object string
	events []trace.Event
}

// next is the first event from i on that matches, of the object or of a process.
func (d *doctored) next(i int, matches func(trace.Event) bool) int {
	d.t.Helper()
	for ; i < len(d.events); i++ {
		if e := d.events[i]; (e.Object == d.object || e.Process != nil || e.Fault != nil) && matches(e) {
			return i
		}
	}
	d.t.Fatal("the trace has no such event")
	return 0
}

func (d *doctored) first(matches func(trace.Event) bool) int { d.t.Helper(); return d.next(0, matches) }

func to(phase string) func(trace.Event) bool {
	return func(e trace.Event) bool { return e.Phase != nil && e.Phase.To == phase }
}

func called(method string) func(trace.Event) bool {
	return func(e trace.Event) bool { return e.Call != nil && e.Call.Method == method }
}

func server(state string) func(trace.Event) bool {
	return func(e trace.Event) bool {
		return e.Process != nil && e.Process.Name == "server" && e.Process.State == state
	}
}

func returned(e trace.Event) bool { return e.Return != nil }
func struck(e trace.Event) bool   { return e.Fault != nil }

// restarted is the second start of a server.
func (d *doctored) restarted() int {
	d.t.Helper()
	return d.next(d.first(server("killed")), server("started"))
}

// ended is a reply that an operation has ended.
func ended(e trace.Event) bool {
	return e.Return != nil && e.Return.Progress != nil && e.Return.Progress.Completed
}

// ended is the first such reply, to be changed.
func (d *doctored) ended() *trace.Return { d.t.Helper(); return d.events[d.first(ended)].Return }

// remove removes the events from i to before j.
func (d *doctored) remove(i, j int) { d.events = slices.Delete(d.events, i, j) }

// move puts an event before another one.
func (d *doctored) move(i, before int) {
	e := d.events[i]
	e.At = d.events[before].At
	d.remove(i, i+1)
	if i < before {
		before--
	}
	d.events = slices.Insert(d.events, before, e)
}

// insert puts events after event i, as the same server's, and returns where the first of them is.
func (d *doctored) insert(i int, bodies ...trace.Body) int {
	for n, b := range bodies {
		e := trace.Event{At: d.events[i].At, Incarnation: d.events[i].Incarnation, Object: d.object, Body: b}
		d.events = slices.Insert(d.events, i+1+n, e)
	}
	return i + 1
}

func change(from, to string) trace.Body { return trace.Body{Phase: &trace.Phase{From: from, To: to}} }

// call is a call of a plugin's method for its first operation, and the reply.
func call(plugin, method, phase string, reply trace.Return) []trace.Body {
	reply.ID = 1_000_000
	c := trace.Call{ID: reply.ID, Plugin: "example.io/" + plugin, Method: method, Phase: phase}
	if method != "Execute" {
		c.Operation = "backup-1/" + plugin + "-1"
	}
	return []trace.Body{{Call: &c}, {Return: &reply}}
}

// completes is a reply of Progress, of a failure unless the error is empty.
func completes(err string) trace.Return {
	return trace.Return{Progress: &trace.Progress{Completed: true, Error: err}}
}

// become replaces a phase wherever the object has it. The first change to the new one does not fit.
func become(old, now string) func(*doctored) int {
	return func(d *doctored) int {
		d.t.Helper()
		for _, e := range d.events {
			if e.Object == d.object && e.Phase != nil {
				*e.Phase = trace.Phase{From: replaced(e.Phase.From, old, now), To: replaced(e.Phase.To, old, now)}
			}
		}
		return d.first(to(now))
	}
}

// after inserts events after the first that matches. The first of them does not fit.
func after(matches func(trace.Event) bool, bodies ...trace.Body) func(*doctored) int {
	return func(d *doctored) int { d.t.Helper(); return d.insert(d.first(matches), bodies...) }
}

func replaced(s, old, now string) string {
	if s == old {
		return now
	}
	return s
}

// unkilled removes the end and the restart of the server, and everything between them.
func (d *doctored) unkilled() {
	d.t.Helper()
	d.remove(d.first(struck), d.restarted()+1)
	for i := range d.events {
		d.events[i].Incarnation = min(d.events[i].Incarnation, 1)
	}
}

func TestDoctoredTracesAreRejected(t *testing.T) {
	const (
		completed       = "backup-operation-completes"
		timedOut        = "backup-operation-times-out"
		twoOperations   = "backup-one-operation-fails-another-ends-later"
		killedInRun     = "backup-server-killed-while-in-progress"
		killedReady     = "backup-server-killed-while-ready-to-start"
		killedWaiting   = "backup-server-killed-while-waiting"
		killedUploading = "backup-server-killed-after-upload-of-failure"
		restored        = "restore-operation-completes"
		restoreFailed   = "restore-operation-fails"
	)
	tests := []struct {
		name, scenario string
		doctor         func(*doctored) int // returns the event that does not fit
		allowed        string              // a phase that the object could have gone to instead; empty: there is none
		fits           string              // the reading, if any, that allows the trace
		object         string              // empty: the scenario's restore or, without one, its backup
	}{
		{name: "a backup skips the queue", scenario: completed, allowed: "Queued", doctor: func(d *doctored) int {
			d.remove(d.first(to("Queued")), d.first(to("Queued"))+1)
			d.events[d.first(to("ReadyToStart"))].Phase.From = ""
			return d.first(to("ReadyToStart"))
		}},
		{name: "a restore is queued", scenario: restored, allowed: "InProgress", doctor: func(d *doctored) int {
			d.events[d.first(to("InProgress"))].Phase.From = "Queued"
			return d.insert(d.first(to("InProgress"))-1, change("", "Queued"))
		}},
		{name: "a backup is ready twice", scenario: completed, allowed: "InProgress", doctor: after(to("ReadyToStart"), change("ReadyToStart", "ReadyToStart"))},
		{name: "a ready backup is queued again, without a restart", scenario: completed, allowed: "InProgress", doctor: after(to("ReadyToStart"), change("ReadyToStart", "Queued"), change("Queued", "ReadyToStart"))},
		{name: "a ready backup is queued again after a restart, as 1.18 never does", scenario: killedReady, fits: "demanded", allowed: "InProgress", doctor: func(d *doctored) int {
			return d.insert(d.restarted(), change("ReadyToStart", "Queued"))
		}},
		{name: "a backup that ran is found not to be valid", scenario: completed, allowed: waiting, doctor: become(waiting, "FailedValidation")},
		{name: "a restore does not wait for its operation", scenario: restored, allowed: waiting, doctor: func(d *doctored) int {
			d.remove(d.first(to("Finalizing")), d.first(to("Finalizing"))+1)
			return become(waiting, "Finalizing")(d)
		}},
		{name: "a backup waits without an operation", scenario: restored, object: "backup/backup-1", allowed: "Finalizing", doctor: become("Finalizing", waiting)},
		{name: "a failure of Execute is forgotten", scenario: "backup-operation-id-unknown", allowed: finalFailed, doctor: func(d *doctored) int {
			r := d.first(returned)
			d.events[r].Return = &trace.Return{ID: d.events[r].Return.ID, Error: "no snapshot"}
			d.remove(d.first(called("Progress")), d.next(r+1, returned)+1)
			return become(finalFailed, "Finalizing")(d)
		}},
		{name: "a backup ends its run before Execute returns", scenario: completed, allowed: "Failed", doctor: func(d *doctored) int {
			d.move(d.first(returned), d.first(to(waiting))+1)
			d.remove(d.first(called("Progress")), d.first(called("Progress"))+2)
			return become(waiting, "Finalizing")(d)
		}},
		{name: "Execute is called while the backup waits", scenario: completed, doctor: after(to(waiting), call("mover", "Execute", waiting, trace.Return{Operation: "backup-1/mover-2"})...)},
		{name: "an operation is asked after that was never started", scenario: completed, doctor: func(d *doctored) int {
			i := d.next(d.first(to(waiting)), called("Progress"))
			d.events[i].Call.Operation = "mover-2"
			return i
		}},
		{name: "a reply comes twice", scenario: restored, doctor: func(d *doctored) int {
			return d.insert(d.first(ended), trace.Body{Return: d.ended()})
		}},
		{name: "an operation completes twice", scenario: restored, doctor: after(ended, call("mover", "Progress", waiting, completes(""))...)},
		{name: "an operation fails twice, while another runs", scenario: twoOperations, doctor: after(to(waitingFailed), call("fails", "Progress", waitingFailed, completes("volume is gone"))...)},
		{name: "an operation that has completed is cancelled", scenario: completed, doctor: after(ended, call("mover", "Cancel", waiting, trace.Return{})...)},
		{name: "a restore that has ended is polled", scenario: restored, doctor: after(to("Completed"), call("mover", "Progress", "Completed", trace.Return{Progress: &trace.Progress{}})...)},
		{name: "an operation is polled after an error, which 1.18 takes for its end", scenario: completed, fits: "demanded", doctor: func(d *doctored) int {
			i := d.next(d.first(to(waiting)), returned)
			d.events[i].Return = &trace.Return{ID: d.events[i].Return.ID, Error: "connection reset"}
			return d.next(i, called("Progress"))
		}},
		{name: "one error of Progress fails a restore, as no user needs", scenario: restoreFailed, fits: "v1.18", doctor: func(d *doctored) int {
			*d.ended() = trace.Return{ID: d.ended().ID, Error: "connection reset"}
			return d.first(to(finalFailed))
		}},
		{name: "a backup finalizes while its operation runs", scenario: completed, doctor: func(d *doctored) int {
			d.remove(d.first(ended)-1, d.first(ended)+1)
			return d.first(to("Finalizing"))
		}},
		{name: "a hanging call is given up, which 1.18 does not", scenario: "backup-progress-hangs", fits: "demanded", doctor: func(d *doctored) int {
			i := d.first(func(e trace.Event) bool { return e.Rest != nil })
			return d.insert(i-1, change(waiting, finalFailed), change(finalFailed, "PartiallyFailed"))
		}},
		{name: "an operation fails, and the restore is Finalizing", scenario: restored, allowed: finalFailed, doctor: func(d *doctored) int {
			d.ended().Progress.Error = "volume is gone"
			return d.first(to("Finalizing"))
		}},
		{name: "an operation completes, and the restore is partially failed", scenario: restoreFailed, allowed: "Finalizing", doctor: func(d *doctored) int {
			d.ended().Progress.Error = ""
			return d.first(to(finalFailed))
		}},
		{name: "a waiting backup is partially failed without an error", scenario: twoOperations, doctor: func(d *doctored) int {
			d.ended().Progress.Completed, d.ended().Progress.Error = false, ""
			return d.first(to(waitingFailed))
		}},
		{name: "a late success hides a failure", scenario: twoOperations, fits: "v1.18", allowed: finalFailed, doctor: become(finalFailed, "Finalizing")},
		{name: "a backup is Completed although it was cancelled", scenario: timedOut, allowed: "PartiallyFailed", doctor: become("PartiallyFailed", "Completed")},
		{name: "a waiting restore is Failed", scenario: restored, allowed: "Finalizing", doctor: become("Finalizing", "Failed")},
		{name: "a waiting backup gives up, and its location can be read", scenario: killedWaiting, allowed: "Finalizing", doctor: become("Finalizing", "PartiallyFailed")},
		{name: "a backup goes back to waiting", scenario: completed, allowed: "Completed", doctor: after(to("Finalizing"), change("Finalizing", waiting), change(waiting, "Finalizing"))},
		{name: "a backup that has ended runs again", scenario: timedOut, allowed: "Deleting", doctor: after(to("PartiallyFailed"), change("PartiallyFailed", "InProgress"))},
		{name: "a change starts from a phase that the restore does not have", scenario: restored, allowed: "Finalizing", doctor: func(d *doctored) int {
			d.events[d.first(to("Finalizing"))].Phase.From = "InProgress"
			return d.first(to("Finalizing"))
		}},
		{name: "a phase that Velero does not have", scenario: completed, allowed: "Completed", doctor: become("Completed", "Done")},
		{name: "a run goes on after a restart", scenario: killedInRun, allowed: "Failed", doctor: become("Failed", waiting)},
		{name: "a plugin is called for a run that the restart has ended", scenario: killedInRun, doctor: func(d *doctored) int {
			return d.insert(d.restarted(), call("mover", "Execute", "InProgress", trace.Return{Operation: "backup-1/mover-1"})...)
		}},
		{name: "a backup is marked Failed while no server runs", scenario: killedInRun, doctor: func(d *doctored) int {
			d.move(d.first(to("Failed")), d.restarted())
			return d.first(to("Failed"))
		}},
		{name: "a plugin is called while no server runs", scenario: killedWaiting, doctor: after(server("killed"), call("mover", "Progress", waiting, completes(""))...)},
		{name: "a reply comes to a server that has been killed", scenario: killedInRun, doctor: func(d *doctored) int {
			id := d.events[d.first(called("Execute"))].Call.ID
			return d.insert(d.first(server("killed")), trace.Body{Return: &trace.Return{ID: id, Operation: "backup-1/mover-1"}})
		}},
		{name: "a completion that a kill made the server forget is a failure", scenario: killedWaiting, allowed: "Finalizing", doctor: func(d *doctored) int {
			d.insert(d.first(struck)-1, call("mover", "Progress", waiting, completes(""))...)
			return become("Finalizing", finalFailed)(d)
		}},
		{name: "a server that has been killed still writes after the restart", scenario: killedWaiting, allowed: "Finalizing", doctor: func(d *doctored) int {
			d.events[d.first(to("Finalizing"))].Incarnation = 1
			return d.first(to("Finalizing"))
		}},
		{name: "a failure is forgotten without a kill", scenario: killedUploading, allowed: finalFailed, doctor: func(d *doctored) int {
			d.unkilled()
			return d.first(to("Finalizing"))
		}},
		{name: "an operation is forgotten, and its file was not lost", scenario: "backup-operations-file-lost", doctor: func(d *doctored) int {
			i := d.first(struck)
			d.remove(i, i+1)
			return d.first(to("Finalizing"))
		}},
	}
	release, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := load(t, tt.scenario)
			d := &doctored{t, tt.object, run(t, s, 1).Events}
			d.object = cmp.Or(d.object, s.Object())
			want := tt.doctor(d)
			for i := range d.events {
				d.events[i].Seq = i + 1
			}
			for _, rules := range []phase.Rules{phase.Demanded(), release} {
				m, err := model.Check(rules, d.object, trace.Trace{Events: d.events})
				switch {
				case err != nil:
					t.Errorf("%s: %v", rules.Name, err)
				case rules.Name == tt.fits:
					if m != nil {
						t.Errorf("%s: %s does not fit", rules.Name, m.Seen)
					}
				case m == nil:
					t.Errorf("%s: the trace fits", rules.Name)
				case m.Event != want:
					t.Errorf("%s: event %d, %s, does not fit; want event %d", rules.Name, m.Event+1, m.Seen, want+1)
				case tt.allowed == "" && len(m.Allowed) > 0, tt.allowed != "" && !slices.Contains(m.Allowed, tt.allowed):
					t.Errorf("%s: instead of %s, allowed is %q; want %q", rules.Name, m.Seen, m.Allowed, tt.allowed)
				}
			}
		})
	}
}
