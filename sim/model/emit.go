package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/phase"
)

// poll is how often Velero asks for the progress of operations.
const poll = 10 * time.Second

// Scenario writes the counterexample as a scenario file that replays it: its plugins answer as they do on the path, and its
// faults strike where they do. The error says which step no scenario can have.
func (c Counterexample) Scenario(start State, release phase.Rules, causes []phase.Rule) (name, text string, err error) {
	w := &writer{rules: release, kind: start.Object.Kind, state: start}
	for i, step := range c.Path {
		if err := w.step(step); err != nil {
			return "", "", fmt.Errorf("step %d, %s: %w", i+1, step, err)
		}
	}
	if len(causes) == 0 {
		return "", "", fmt.Errorf("it is due to no rule that a scenario could name")
	}
	demanded, err := finals(Machine{Spec: phase.Demanded()}, start, c)
	if err != nil {
		return "", "", err
	}
	released, err := finals(Machine{Spec: release}, start, c)
	if err != nil {
		return "", "", err
	}
	name = w.kind.String() + "-" + slug(c.Property)
	return name, w.text(name, c, causes[0], demanded, released), nil
}

// finals is the phase in which the path ends in a machine: it is followed as far as it goes, and then without further faults or
// hangs. The error says that there are several.
func finals(m Machine, s State, c Counterexample) (phase.Phase, error) {
	for _, step := range c.Path {
		next, _, ok := m.follow(s, step)
		if !ok {
			break
		}
		s = next
	}
	s.Items = 0 // no plugin starts anything for the others
	seen, found := map[State]bool{s: true}, map[phase.Phase]bool{}
	for todo := []State{s}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		ended := true
		m.Successors(s, func(step Step, after State, _ phase.Effects) {
			switch in := step.Input; {
			case in == input(phase.PreActionSucceeded), in == input(phase.PostActionSucceeded):
			case step.Actor != Server && step.What != StillRunning && in != input(phase.ProgressCompleted) && in != input(phase.OperationTimedOut):
				return
			case in == input(phase.Rejected), in == input(phase.BackupUnfinished), in == input(phase.BackupNotFound), in == input(phase.FinalizerFailed) && !s.Object.ContentsLost:
				return
			}
			ended = false
			if !seen[after] {
				seen[after] = true
				todo = append(todo, after)
			}
		})
		if ended {
			found[s.Object.Phase] = true
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%d ways to end follow from it", len(found))
	}
	for p := range found {
		return p, nil
	}
	return 0, nil
}

// slug makes a DNS label of a property's name.
func slug(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, s), "-")
}

// text is the file.
func (w *writer) text(name string, c Counterexample, cause phase.Rule, demanded, released phase.Phase) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Found by exploring %s: %s\n#\n", w.rules.Name, c.Statement)
	for i, step := range c.Path {
		fmt.Fprintf(&b, "# %3d  %s\n", i+1, step)
	}
	fmt.Fprintf(&b, "apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: %s}\n", name)
	object := "backup"
	if w.kind == phase.Restore {
		object = "restore"
	}
	switch {
	case w.timeout > 0:
		fmt.Fprintf(&b, "%s: {itemOperationTimeout: %s}\n", object, w.timeout)
	case w.kind == phase.Restore:
		b.WriteString("restore: {}\n")
	}
	b.WriteString("items: [configmaps/app/settings")
	for i := range w.failed {
		fmt.Fprintf(&b, ", secrets/app/broken-%d", i+1)
	}
	b.WriteString("]\n")
	w.plugins(&b)
	if len(w.faults) > 0 {
		b.WriteString("faults:\n" + strings.Join(w.faults, ""))
	}
	fmt.Fprintf(&b, "expect:\n  phase: %s\n  deviation: {rule: %s, phase: %s}\n", demanded, cause.Name, released)
	return b.String()
}

func (w *writer) plugins(b *strings.Builder) {
	action := ""
	if w.kind == phase.Restore {
		action = ", action: RestoreItemAction"
	}
	if len(w.ops)+w.failed == 0 && !w.hangs && !w.slow && w.state.Object.Actions == [phase.MaxActions]phase.PluginActions{} {
		return
	}
	b.WriteString("plugins:\n")
	w.actions(b)
	if w.failed > 0 {
		fmt.Fprintf(b, "- {name: example.io/broken%s, resources: [secrets], execute: {error: no snapshot}}\n", action)
	}
	for i, op := range w.ops {
		fmt.Fprintf(b, "- name: example.io/mover-%d\n", i+1)
		if action != "" {
			b.WriteString("  action: RestoreItemAction\n")
		}
		if op.again {
			b.WriteString("  execute: {hang: true, nth: 2, itemsToUpdate: [configmaps/app/settings]}\n")
		}
		fmt.Fprintf(b, "  operation: {progress: [%s]}\n", op.timeline())
		if op.progress != "" {
			fmt.Fprintf(b, "  progress: %s\n", op.progress)
		}
		if op.cancel != "" {
			fmt.Fprintf(b, "  cancel: %s\n", op.cancel)
		}
	}
	if w.slow {
		fmt.Fprintf(b, "- {name: example.io/slow%s, execute: {delay: 20s}}\n", action)
	}
	if w.hangs {
		fmt.Fprintf(b, "- {name: example.io/stuck%s, execute: {hang: true}}\n", action)
	}
}
