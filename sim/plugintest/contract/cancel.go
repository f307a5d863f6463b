package contract

import (
	"fmt"
	"slices"

	"github.com/velosim/velosim/sim/plugintest/exercise"
)

// cancelChecks are about Cancel.
func cancelChecks() []Check {
	return []Check{
		{
			Name:    "cancel-returns",
			Demands: "Cancel of an operation that goes on returns, without an error: also where the plugin cannot cancel.",
			Source:  "pkg/plugin/velero/backupitemaction/v2/backup_item_action.go, Cancel",
			Velero:  "It does not look at the error, but a call that hangs holds all backups or restores for ever, as there is no deadline.",
			Fix:     "Ask for the cancellation, and return: do not wait for it. Progress tells when it is done.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.cancels(false), "call", unreturned(true))
			},
		},
		{
			Name:    "cancel-ends",
			Demands: "An operation that was cancelled ends soon, with Err.",
			Source:  "proposed by velosim: Velero's interface calls cancellation optional",
			Velero:  "It has given the operation up, and does not ask again: what goes on uses storage and bandwidth, and nobody sees it.",
			Fix:     "Have Cancel reach what does the work, through what both share: a field of the custom resource, say.",
			judge:   cancelEnds,
		},
		{
			Name:    "cancel-ended",
			Demands: "Cancel of an operation that has ended returns, and changes nothing.",
			Source:  "design/Implemented/general-progress-monitoring.md: \"will have no effect on a completed action\"",
			Velero:  "It may call Cancel again after a restart, and of an operation that has ended since it was asked for its progress.",
			Fix:     "Look whether the operation has ended before you cancel it.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.cancels(true), "call", func(c *call) string {
					if c.reply == nil || c.reply.Panic {
						return c.String()
					}
					return s.changedBy(c)
				})
			},
		},
		{
			Name:    "cancel-unknown",
			Demands: "Cancel of an operation that the plugin does not know is an error.",
			Source:  "pkg/plugin/velero/backupitemaction/v2/backup_item_action.go, InvalidOperationIDError",
			Velero:  "It does not look at the error. Who reads the plugin's log looks for it.",
			Fix:     "Return biav2.InvalidOperationIDError(operationID), or that of riav2.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.ofUnknown("Cancel"), "call", refused)
			},
		},
	}
}

// cancels are the calls of Cancel for operations that Execute has started, and that were not, or were, known to have ended.
func (s *seen) cancels(ended bool) (calls []*call) {
	for _, op := range s.started("") {
		for _, c := range op.cancels {
			if end := op.ended(); (end != nil && end.at < c.at) == ended {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// changedBy is how an operation that had ended was changed by Cancel.
func (s *seen) changedBy(c *call) string {
	for _, op := range s.started("") {
		if !slices.Contains(op.cancels, c) {
			continue
		}
		end := op.ended()
		for _, after := range op.replies() {
			was, is := end.reply.Progress, after.reply.Progress
			if after.at > c.at && (is.Completed != was.Completed || is.Error != was.Error) {
				return fmt.Sprintf("%s; and before Cancel: %s", after, report(*was))
			}
		}
	}
	return ""
}

func cancelEnds(s *seen) (Outcome, []string) {
	var operations []*operation
	for _, op := range s.started(exercise.Cancelled) {
		if len(op.cancels) > 0 {
			operations = append(operations, op)
		}
	}
	for _, op := range s.started(exercise.Cancelled) {
		switch {
		case len(operations) > 0: // they tell
		case op.ended() != nil:
			return NotApplicable, []string{"the operation had ended before it could be cancelled"}
		default:
			return Inconclusive, []string{"Progress failed before the operation could be cancelled"}
		}
	}
	return each(operations, "operation", func(op *operation) string {
		cancel := op.cancels[0]
		end := op.ended()
		switch {
		case cancel.reply == nil || cancel.reply.Error != "" || len(op.replies()) == 0:
			return "" // a finding of its own
		case end == nil:
			return fmt.Sprintf("it has not ended %s after %s", s.CancelWithin, cancel)
		case end.reply.Progress.Error == "":
			return fmt.Sprintf("it goes on to its end after Cancel: %s", end)
		}
		return ""
	})
}
