package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// serverChecks are about what comes of it on a server.
func serverChecks() []Check {
	return []Check{
		{
			Name:    "server-completes",
			Demands: "A backup or restore with the plugin ends Completed.",
			Source:  "design/Implemented/general-progress-monitoring.md",
			Velero:  "It ends PartiallyFailed or Failed, and says why in its log; or it never ends.",
			Fix:     "See what was found, and the calls of the run (--out keeps its trace).",
			judge:   func(s *seen) (Outcome, []string) { return s.ran(undisturbed, nil) },
		},
		{
			Name:    "server-times-out",
			Demands: "Past itemOperationTimeout Velero calls Cancel, which returns, and ends PartiallyFailed.",
			Source:  "pkg/controller/backup_operations_controller.go, getBackupItemOperationProgress",
			Velero:  "It waits for Cancel without a deadline.",
			Fix:     "Let Cancel return at once, whatever becomes of the operation.",
			judge: func(s *seen) (Outcome, []string) {
				return s.ran(timesOut, func(r Run) (Outcome, string) {
					operations := s.startedIn(r)
					if slices.ContainsFunc(operations, func(op *operation) bool { return len(op.cancels) > 0 }) || len(operations) == 0 {
						return "", ""
					}
					return NotApplicable, "no operation went on long enough to time out"
				})
			},
		},
		{
			Name:    "server-killed",
			Demands: "Operations outlive a server that is killed while it waits for them: the next one asks after them, and ends Completed.",
			Source:  "design/Implemented/general-progress-monitoring.md, \"Plugin Operations phases\"",
			Velero:  "It asks a new process of the plugin for each of them. What that does not know has failed.",
			Fix:     "As of operation-id-in-new-process; and have the work done by what does not end with the server.",
			judge: func(s *seen) (Outcome, []string) {
				return s.ran(serverKill, func(r Run) (Outcome, string) {
					waits := func(e trace.Event) bool { return e.Phase != nil && e.Phase.To == "WaitingForPluginOperations" }
					if r.Verdict.Result == verdict.Inconclusive && !slices.ContainsFunc(r.Trace.Events, waits) {
						return NotApplicable, "the operations had ended before the server waited for them"
					}
					return "", ""
				})
			},
		},
		{
			Name:    "server-deletes",
			Demands: "A backup with the plugin is deleted when the user asks for it.",
			Source:  "pkg/controller/backup_deletion_controller.go; internal/delete/delete_item_action_handler.go",
			Velero:  "It logs the errors of a DeleteItemAction, and deletes the backup nevertheless; a call that hangs holds all deletions.",
			Fix:     "Return from Execute in every case, also where what is to be deleted is gone.",
			judge:   func(s *seen) (Outcome, []string) { return s.ran(deleted, nil) },
		},
	}
}

// startedIn are the operations that were started in a run.
func (s *seen) startedIn(r Run) (operations []*operation) {
	for _, op := range s.started("") {
		if op.execute.run == r.Scenario.Metadata.Name {
			operations = append(operations, op)
		}
	}
	return operations
}

// ran is what came of the runs of a kind. Unless is why one does not tell.
func (s *seen) ran(kind string, unless func(Run) (Outcome, string)) (outcome Outcome, evidence []string) {
	outcome = NotApplicable
	worse := func(o Outcome, lines ...string) {
		order := []Outcome{NotApplicable, Pass, Inconclusive, Fail}
		switch was, is := slices.Index(order, outcome), slices.Index(order, o); {
		case is > was:
			outcome, evidence = o, lines
		case is == was:
			evidence = append(evidence, lines...)
		}
	}
	for _, r := range s.Runs {
		name := r.Scenario.Metadata.Name
		if !strings.HasSuffix(name, kind) {
			continue
		}
		if len(s.startedIn(r)) == 0 && (kind == timesOut || kind == serverKill) {
			worse(NotApplicable, name+": no operation was started")
			continue
		}
		if unless != nil {
			if o, why := unless(r); o != "" {
				worse(o, name+": "+why)
				continue
			}
		}
		if end := r.Trace.End; end.Reason == trace.Environment && strings.HasPrefix(end.Detail, "the server ended by itself") {
			worse(Fail, name+": "+strings.Join(strings.Fields(end.Detail), " "))
			continue
		}
		switch r.Verdict.Result {
		case verdict.Fail:
			worse(Fail, findings(name, r.Verdict)...)
		case verdict.Inconclusive:
			worse(Inconclusive, findings(name, r.Verdict)...)
		default:
			if want := r.Scenario.Expect.Phase; r.Verdict.Phase != want { // Velero makes more of it than it should, but the plugin does it
				worse(Fail, fmt.Sprintf("%s: want phase %s, seen phase %s, as Velero does by %s", name, want, r.Verdict.Phase, strings.Join(r.Verdict.Deviations, ", ")))
				continue
			}
			line := fmt.Sprintf("%s: %s", name, r.Verdict.Phase)
			if len(r.Verdict.Deviations) > 0 {
				line += ", with known deviations of Velero: " + strings.Join(r.Verdict.Deviations, ", ")
			}
			worse(Pass, line)
		}
	}
	if outcome == NotApplicable && len(evidence) == 0 {
		evidence = []string{"no such run fits what the plugin registers"}
	}
	return outcome, evidence
}

func findings(name string, v verdict.Verdict) (lines []string) {
	for _, f := range v.Findings {
		line := fmt.Sprintf("%s: %s: want %s, seen %s", name, f.Oracle, f.Expected, firstLine(f.Seen))
		if f.Object != "" {
			line = fmt.Sprintf("%s: %s of %s: want %s, seen %s", name, f.Oracle, f.Object, f.Expected, firstLine(f.Seen))
		}
		lines = append(lines, line)
	}
	return lines
}
