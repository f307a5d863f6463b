package contract

import (
	"fmt"
	"slices"

	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
)

// operationChecks are about operations, and Progress.
func operationChecks() []Check {
	return []Check{
		{
			Name:    "operation-id-unique",
			Demands: "Each operation has an ID of its own.",
			Source:  "pkg/itemoperation/backup_operation.go; design/Implemented/general-progress-monitoring.md",
			Velero:  "It counts an operation for each item, and asks for the same one again and again: an item whose operation has failed may count as done.",
			Fix:     "Make the ID of the backup's or restore's UID and the item, or of the name of the resource that holds the operation.",
			judge:   unique,
		},
		{
			Name:    "operation-id-in-new-process",
			Demands: "A new process of the plugin knows an operation by its ID.",
			Source:  "pkg/controller/backup_operations_controller.go, Reconcile: each pass has a plugin manager, and processes, of its own",
			Velero:  "The operation fails at the first poll, and the backup or restore ends PartiallyFailed.",
			Fix:     "Keep nothing of an operation in memory: put it into a custom resource, or into what does the work, and find it by its ID.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.polled(), "operation", (*operation).forgotten)
			},
		},
		{
			Name:    "operation-completes",
			Demands: "An operation that nobody cancels ends in success.",
			Source:  "pkg/plugin/velero/backupitemaction/v2/backup_item_action.go, Progress",
			Velero:  "One that fails makes the backup or restore PartiallyFailed; one that does not end is cancelled at itemOperationTimeout, by default after four hours.",
			Fix:     "See what Progress has reported last. If the work takes longer, give the test more time (--within).",
			judge:   completes,
		},
		{
			Name:    "progress-monotone",
			Demands: "NCompleted never goes back.",
			Source:  "pkg/plugin/velero/shared.go, OperationProgress; design/Implemented/general-progress-monitoring.md",
			Velero:  "It shows what it is told: users see progress that is none.",
			Fix:     "Count what is done, over all attempts, and never anew.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.polled(), "operation", func(op *operation) string {
					return op.pairs(func(a, b *call) bool { return b.reply.Progress.Done < a.reply.Progress.Done })
				})
			},
		},
		{
			Name:    "progress-within-total",
			Demands: "NCompleted and NTotal are not negative; NCompleted is at most NTotal, if that is known, and equals it when the operation has succeeded.",
			Source:  "pkg/plugin/velero/shared.go, OperationProgress",
			Velero:  "It shows what it is told.",
			Fix:     "Leave NTotal 0 as long as it is not known, and set both to the same at the end.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.polled(), "operation", func(op *operation) string {
					for _, c := range op.replies() {
						p := c.reply.Progress
						if p.Done < 0 || p.Of < 0 || p.Of > 0 && p.Done > p.Of || p.Completed && p.Error == "" && p.Done != p.Of {
							return c.String()
						}
					}
					return ""
				})
			},
		},
		{
			Name:    "timestamps",
			Demands: "Updated is set, never goes back, and is neither before Started nor in the future; Started does not change.",
			Source:  "pkg/plugin/velero/shared.go, OperationProgress: of both, only Started may be unknown",
			Velero:  "It stores and shows them, and takes an operation for New until Started is set.",
			Fix:     "Keep both in UTC with the operation. Set Updated when the report changes, and not at each call.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.polled(), "operation", (*operation).mistimed)
			},
		},
		{
			Name:    "error-only-when-completed",
			Demands: "Err is set only with Completed.",
			Source:  "pkg/controller/backup_operations_controller.go, getBackupItemOperationProgress",
			Velero:  "It does not look at Err before the operation has ended: the failure is told hours later, as a timeout.",
			Fix:     "Set Completed with Err. What can still turn out well goes into Description.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.polled(), "operation", func(op *operation) string {
					for _, c := range op.replies() {
						if p := c.reply.Progress; p.Error != "" && !p.Completed {
							return c.String()
						}
					}
					return ""
				})
			},
		},
		{
			Name:    "completed-is-final",
			Demands: "An operation that has ended stays as it is, in success or failure.",
			Source:  "pkg/plugin/velero/shared.go, OperationProgress",
			Velero:  "It takes the first end for the end. After a restart it asks again, and may come to another result.",
			Fix:     "Keep the end with the operation, and look there first.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.polled(), "operation", func(op *operation) string {
					return op.pairs(func(a, b *call) bool {
						return a.reply.Progress.Completed && (!b.reply.Progress.Completed || (a.reply.Progress.Error == "") != (b.reply.Progress.Error == ""))
					})
				})
			},
		},
		{
			Name:    "progress-unknown",
			Demands: "Progress of an operation that the plugin does not know is an error.",
			Source:  "pkg/plugin/velero/backupitemaction/v2/backup_item_action.go, InvalidOperationIDError",
			Velero:  "What is reported as completed counts as done, though nothing was; what is reported as under way is waited for until it times out.",
			Fix:     "Return biav2.InvalidOperationIDError(operationID), or that of riav2.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.ofUnknown("Progress"), "call", refused)
			},
		},
		{
			Name:    "concurrent-operations",
			Demands: "Items are treated at the same time, in one process, and their operations beside each other.",
			Source:  "pkg/backup/item_block_worker_pool.go: one worker for each --item-block-worker-count",
			Velero:  "It calls Execute of several items at once. What comes of a race is stored, or lost.",
			Fix:     "Guard what calls share, or share nothing; limit what runs at a time in what does the work, not in Execute.",
			judge:   concurrent,
		},
	}
}

// forgotten is how a process of the plugin does not know an operation that another has started, and that goes on.
func (op *operation) forgotten() string {
	var first *call
	for _, c := range op.polls {
		switch {
		case len(op.cancels) > 0 && op.cancels[0].at < c.at:
			return ""
		case c.reply == nil: // calls-return tells of it; or a server was killed
		case c.reply.Error != "":
			return c.String()
		case c.reply.Progress == nil:
		case first == nil:
			first = c
		default:
			was, is := first.reply.Progress, c.reply.Progress
			if c.run == "" && c.before > first.before && is.Of == 0 && is.Updated == 0 && (was.Of != 0 || was.Updated != 0) {
				return fmt.Sprintf("%s; and the process that has started it: %s", c, report(*was))
			}
		}
		if c == op.ended() {
			return ""
		}
	}
	return ""
}

func refused(c *call) string {
	if c.reply != nil && c.reply.Error != "" && !c.reply.Panic {
		return ""
	}
	return c.String()
}

// polled are the operations that Execute has started and Progress was asked for.
func (s *seen) polled() []*operation {
	return slices.DeleteFunc(s.started(""), func(op *operation) bool { return len(op.polls) == 0 })
}

// ofUnknown are the calls of a method for the operation that nobody has started.
func (s *seen) ofUnknown(method string) []*call {
	return slices.DeleteFunc(s.in("", method), func(c *call) bool { return c.Operation != exercise.UnknownOperation })
}

// pairs tells of the first two replies, one after the other, that are wrong.
func (op *operation) pairs(wrong func(a, b *call) bool) string {
	replies := op.replies()
	for i := 1; i < len(replies); i++ {
		if a, b := replies[i-1], replies[i]; wrong(a, b) {
			return fmt.Sprintf("%s; and before: %s", b, report(*a.reply.Progress))
		}
	}
	return ""
}

// ahead is how far the clock of the plugin's machine may be ahead.
const ahead = trace.Time(2e9)

// mistimed is what is wrong with the times of the operation.
func (op *operation) mistimed() string {
	var started, updated trace.Time
	for _, c := range op.replies() {
		p := c.reply.Progress
		why := ""
		switch {
		case p.Updated == 0:
			why = "Updated is not set"
		case p.Started != 0 && p.Updated < p.Started:
			why = fmt.Sprintf("Updated is %s, before Started, %s", p.Updated, p.Started)
		case updated != 0 && p.Updated < updated:
			why = fmt.Sprintf("Updated has gone back from %s to %s", updated, p.Updated)
		case p.Updated > c.back+ahead:
			why = fmt.Sprintf("Updated is %s, in the future", p.Updated)
		case started != 0 && p.Started != started:
			why = fmt.Sprintf("Started has changed from %s to %s", started, p.Started)
		}
		if why != "" {
			return fmt.Sprintf("%s; %s", c, why)
		}
		started, updated = p.Started, p.Updated
	}
	return ""
}

// unique tells of operations of one object that share an ID.
func unique(s *seen) (Outcome, []string) {
	first := map[operationKey]*call{}
	var calls []*call
	for _, c := range s.in("", "Execute") {
		if c.reply != nil && c.reply.Operation != "" {
			calls = append(calls, c)
		}
	}
	return each(calls, "operation", func(c *call) string {
		key := operationKey{c.run, c.object, c.Plugin, c.reply.Operation}
		other := first[key]
		if other == nil {
			first[key] = c
			return ""
		}
		return fmt.Sprintf("%s: operation %s is that of %s, and of %s", c.Plugin, c.reply.Operation, other.Item, c.Item)
	})
}

func completes(s *seen) (Outcome, []string) {
	operations := s.started(exercise.Fitting)
	outcome, evidence := each(operations, "operation", func(op *operation) string {
		if end := op.ended(); end != nil && end.reply.Progress.Error != "" {
			return end.String()
		}
		if last := op.last(); op.ended() == nil && last != nil && last.reply != nil && last.reply.Error != "" { // it is not asked again
			return last.String()
		}
		return ""
	})
	if outcome != Pass {
		return outcome, evidence
	}
	var open []string
	for _, op := range operations {
		if op.ended() == nil && len(op.replies()) > 0 {
			open = append(open, fmt.Sprintf("it has not ended in %s: %s", s.Within, op.last()))
		}
	}
	if len(open) > 0 {
		return Inconclusive, open
	}
	return outcome, evidence
}

// concurrent compares the calls that were made at the same time with those made one after another.
func concurrent(s *seen) (Outcome, []string) {
	alone := s.in(exercise.Fitting, "Execute")
	if slices.ContainsFunc(alone, func(c *call) bool { return c.reply == nil || c.reply.Error != "" }) {
		return Inconclusive, []string{"Execute does not succeed for one item after another"}
	}
	calls := s.in(exercise.Concurrent, "Execute")
	if outcome, reasons := each(calls, "call", unreturned(true)); outcome == Fail {
		return outcome, reasons
	}
	was := 0 // of those items that there were at the same time, too
	for _, op := range s.started(exercise.Fitting) {
		if slices.ContainsFunc(calls, func(c *call) bool { return c.Plugin == op.execute.Plugin && c.Item == op.execute.Item }) {
			was++
		}
	}
	if is := len(s.started(exercise.Concurrent)); was != is {
		return Fail, []string{fmt.Sprintf("one after another, %s were started; at the same time, %s", plural(was, "operation"), plural(is, "operation"))}
	}
	for _, op := range s.started(exercise.Concurrent) {
		if end := op.ended(); end != nil && end.reply.Progress.Error != "" {
			return Fail, []string{end.String()}
		}
	}
	if len(calls) == 1 {
		return Inconclusive, []string{"there is but one item that it applies to: bring several with --items"}
	}
	return failing(nil, len(calls), "call")
}
