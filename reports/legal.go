package reports

import (
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// The kinds of transitions.
const (
	backupActions  = "backup actions"
	restoreActions = "restore actions"
)

// legal are the transitions of a scope in any reading of the specification: Uncovered if its release can make them, else Unreachable.
func legal(s scope) map[change]Transition {
	kind := phase.Backup
	if s.kind == phase.Restore.String() || s.kind == restoreActions {
		kind = phase.Restore
	}
	edges := phase.Rules.Legal
	actions := s.kind == backupActions || s.kind == restoreActions
	if actions {
		edges = func(r phase.Rules, k phase.Kind) map[phase.Edge][]phase.Input {
			with := r.LegalWithActions(k)
			for edge := range r.Legal(k) {
				delete(with, edge)
			}
			return with
		}
	}
	release, err := phase.ForRelease(s.Release)
	if err != nil { // nothing is known of it
		release = phase.Demanded()
	}
	demanded := release.Demanded()
	all := map[change]Transition{}
	wanted := edges(demanded, kind)
	for edge := range wanted {
		all[change{"", edge.From.String(), edge.To.String()}] = Transition{Status: Unreachable, Reason: "demanded, and not in " + release.Name}
	}
	for edge, inputs := range edges(release, kind) {
		t := Transition{Status: Uncovered, Deviation: wanted[edge] == nil && release.Name != demanded.Name}
		for _, in := range inputs {
			t.Inputs = append(t.Inputs, in.String())
		}
		all[change{"", edge.From.String(), edge.To.String()}] = t
	}
	if actions {
		for edge := range release.LegalActions(kind) {
			all[change{string(actionOf(kind, edge.Pre)), edge.From.String(), edge.To.String()}] = Transition{Status: Uncovered}
		}
	}
	return all
}

func actionOf(k phase.Kind, pre bool) scenario.Action {
	switch {
	case k == phase.Backup && pre:
		return scenario.PreBackupAction
	case k == phase.Backup:
		return scenario.PostBackupAction
	case pre:
		return scenario.PreRestoreAction
	}
	return scenario.PostRestoreAction
}

// changesOf are the transitions that a run has made, by kind.
func changesOf(t trace.Trace) map[string]map[change]bool {
	all := map[string]map[change]bool{}
	add := func(kind string, c change) {
		if all[kind] == nil {
			all[kind] = map[change]bool{}
		}
		all[kind][c] = true
	}
	actions := acting{}
	created := map[string]bool{} // by a user or a schedule, and not synced from the object store as it was there
	for _, e := range t.Events {
		kind, ok := kindOf(e.Object)
		if e.Process != nil && e.Process.Name == "server" && e.Process.State != "started" {
			actions.interrupt(e.Incarnation)
		}
		if !ok {
			continue
		}
		switch {
		case e.Created != nil:
			created[e.Object] = true
		case e.Deleted != nil:
			delete(created, e.Object)
		case e.Phase != nil && created[e.Object]:
			c := change{"", e.Phase.From, e.Phase.To}
			if c.from == "" {
				c.from = phase.New.String()
			}
			of := kind.String()
			if prepared(c.from) || prepared(c.to) {
				of = actionKind(kind)
			}
			if c.from != c.to {
				add(of, c)
			}
		case e.Call != nil:
			actions.call(e)
		case e.Return != nil:
			actions.reply(*e.Return)
		}
	}
	for kind, changes := range actions.changes() {
		for c := range changes {
			add(kind, c)
		}
	}
	return all
}

// prepared reports whether there is such a phase only where there are pre-actions.
func prepared(name string) bool {
	return slices.Contains([]string{phase.FailedPreBackupActions.String(), phase.FailedPreRestoreActions.String()}, name)
}

func actionKind(k phase.Kind) string {
	if k == phase.Restore {
		return restoreActions
	}
	return backupActions
}
