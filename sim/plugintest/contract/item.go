package contract

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/velosim/velosim/sim/plugintest/exercise"
	"github.com/velosim/velosim/sim/trace"
)

const noItem = "there is no item that it applies to: bring some with --items"

// itemChecks are about AppliesTo and Execute.
func itemChecks() []Check {
	return []Check{
		{
			Name:    "applies-to",
			Demands: "AppliesTo selects items, and does so in every process alike.",
			Source:  "pkg/plugin/framework/action_resolver.go, resolveAction",
			Velero:  "An error fails the whole backup or restore. A selector that differs has items treated in some backups and not in others.",
			Fix:     "Return a constant selector. Decide what depends on the cluster or the time in Execute.",
			judge:   appliesTo,
		},
		{
			Name:    "execute",
			Demands: "Execute succeeds for items that the plugin applies to.",
			Source:  "pkg/backup/item_backupper.go, executeActions; pkg/restore/restore.go, restoreItem",
			Velero:  "The item is left out, and the backup or restore ends PartiallyFailed.",
			Fix:     "See the error. A dependency that is not there yet is not an error of an item that does not need it.",
			judge: func(s *seen) (Outcome, []string) {
				calls := s.in(exercise.Fitting, "Execute")
				switch {
				case len(calls) == 0 && s.acts():
					return Inconclusive, []string{noItem}
				case len(calls) == 0:
					return NotApplicable, []string{"it registers no item action, and plugins of other kinds are started, but not called"}
				}
				return each(calls, "call", unreturned(true))
			},
		},
		{
			Name:    "execute-keeps-item",
			Demands: "Execute returns the item that it was given, changed or not: of the same kind, namespace and name.",
			Source:  "pkg/plugin/velero/backupitemaction/v2/backup_item_action.go, Execute",
			Velero:  "What is stored, or restored, is another object; the item itself is lost.",
			Fix:     "Return the item in every case, also where there is nothing to do. A restore names items anew by its mapping; an item to skip is skipped with WithoutRestore.",
			judge: func(s *seen) (Outcome, []string) {
				return each(append(s.in(exercise.Fitting, "Execute"), s.in(exercise.Foreign, "Execute")...), "call", func(c *call) string {
					if c.reply == nil || c.reply.Error != "" || c.reply.Item == "" {
						return ""
					}
					return fmt.Sprintf("%s: Execute of %s has returned %s", c.Plugin, c.Item, c.reply.Item)
				})
			},
		},
		{
			Name:    "execute-foreign",
			Demands: "Execute survives any item: of kinds that it does not select, and without all but metadata. An error is an answer; a panic, an exit or a hang is none.",
			Source:  "pkg/plugin/framework/common/handle_panic.go",
			Velero:  "A panic is an error of the item; a process that has ended fails its other items, too; a call that hangs holds the server until it is restarted.",
			Fix:     "Look at each field before you use it: unstructured.NestedMap and its like say whether it is there.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.in(exercise.Foreign, "Execute"), "call", unreturned(false))
			},
		},
		{
			Name:    "large-item",
			Demands: "Execute succeeds for an item of a mebibyte, as large as etcd takes it.",
			Source:  "pkg/plugin/framework/server.go: gRPC's limit of 4 MiB holds for what it returns",
			Velero:  "The item is left out, and the backup or restore ends PartiallyFailed; a call that hangs holds the server.",
			Fix:     "Add no copy of the item to it, and keep what you read of it bounded.",
			judge: func(s *seen) (Outcome, []string) {
				return each(s.in(exercise.Large, "Execute"), "call", unreturned(true))
			},
		},
		{
			Name:    "no-operation-finalizing",
			Demands: "Execute starts no operation in the phases Finalizing and FinalizingPartiallyFailed.",
			Source:  "pkg/plugin/velero/backupitemaction/v2/backup_item_action.go, Execute",
			Velero:  "It fails the item: nobody waits for operations any more. What was started goes on, and nobody cancels it.",
			Fix:     "Look at backup.Status.Phase before you start an operation.",
			judge: func(s *seen) (Outcome, []string) {
				var calls []*call
				for _, c := range s.in("", "Execute") {
					if c.Phase == "Finalizing" || c.Phase == "FinalizingPartiallyFailed" {
						calls = append(calls, c)
					}
				}
				return each(calls, "call in such a phase", func(c *call) string {
					if c.reply == nil || c.reply.Operation == "" {
						return ""
					}
					return c.String()
				})
			},
		},
		{
			Name:    "calls-return",
			Demands: "Every call returns.",
			Source:  "proposed by velosim: Velero has no deadline for any of them (rule plugin-call-without-deadline)",
			Velero:  "It waits for ever: one call of Progress or Cancel keeps all backups or restores from going on, until the server is restarted.",
			Fix:     "Give every request that you make a deadline of a few seconds, and every wait a bound.",
			judge: func(s *seen) (Outcome, []string) {
				exited := map[*call]bool{}
				for _, p := range s.processes {
					exited[p.during] = exited[p.during] || p.state == trace.ProcessExited
				}
				return each(s.calls, "call", func(c *call) string {
					if c.reply != nil || c.run != "" || exited[c] { // a server may have been killed; and stays tells of exits
						return ""
					}
					return fmt.Sprintf("%s within %s", c, s.Call)
				})
			},
		},
	}
}

func appliesTo(s *seen) (Outcome, []string) {
	calls := s.in(exercise.Processes, "AppliesTo")
	if outcome, reasons := each(calls, "call", unreturned(true)); outcome == Fail {
		return outcome, reasons
	}
	for _, c := range calls {
		if _, selector, ok := strings.Cut(c.reply.Selects, "labelled "); ok {
			if _, err := labels.Parse(selector); err != nil {
				return Fail, []string{fmt.Sprintf("%s selects %q, which is no selector: %s", c.Plugin, selector, firstLine(err.Error()))}
			}
		}
	}
	first := map[string]string{}
	outcome, evidence := each(calls, "call", func(c *call) string {
		key := c.object + " " + c.Plugin
		selects, known := first[key]
		if !known {
			first[key] = c.reply.Selects
			return ""
		}
		if selects == c.reply.Selects {
			return ""
		}
		return fmt.Sprintf("%s selects %q in one process, and %q in the next", c.Plugin, selects, c.reply.Selects)
	})
	if outcome == Pass && len(s.in(exercise.Fitting, "Execute")) == 0 {
		return Inconclusive, []string{noItem}
	}
	return outcome, evidence
}

// unreturned is why a call has not returned as it should: without an error, or with any answer.
func unreturned(succeed bool) func(*call) string {
	return func(c *call) string {
		if c.reply != nil && !c.reply.Panic && (!succeed || c.reply.Error == "") {
			return ""
		}
		return c.String()
	}
}
