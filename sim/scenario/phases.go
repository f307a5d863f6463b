package scenario

import "github.com/velosim/velosim/sim/phase"

// phasesOf are the phases of a kind, as Velero spells them.
func phasesOf(k phase.Kind) []string {
	return names(k.Phases(), func(phase.Phase) bool { return true })
}

// finalPhases are those that a run ends in. A deletion is another matter.
func finalPhases() []string {
	return names(phase.Restore.Phases(), phase.Phase.Final)
}

func names(ps []phase.Phase, keep func(phase.Phase) bool) []string {
	var out []string
	for _, p := range ps {
		if keep(p) {
			out = append(out, p.String())
		}
	}
	return out
}

// ruleNames are the deviations that a scenario can name.
func ruleNames() []string {
	var out []string
	for _, r := range phase.All() {
		out = append(out, r.Name)
	}
	return out
}
