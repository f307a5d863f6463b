package scenario

import "github.com/velosim/velosim/sim/phase"

// The values that a file may choose from, where no field says them by itself.

func worlds() []string { return []string{"virtual", "envtest"} }

// releases are those that sim/phase has a reading of.
func releases() []string { return []string{"v1.14", "v1.18"} }

func verbs() []string { return []string{"put", "get", "exists", "delete"} }

func writeVerbs() []string { return []string{"create", "update", "patch", "delete"} }

// reasons for which the API server may refuse a write with the verb; empty: whatever the verb is. They are those of apimachinery's
// metav1.StatusReason.
func reasons(verb string) []string {
	all := []string{"Forbidden", "InternalError", "ServerTimeout", "ServiceUnavailable", "Timeout", "TooManyRequests"}
	switch verb {
	case "create":
		return append(all, "Invalid")
	case "update", "patch":
		return append(all, "Conflict", "Invalid", "NotFound")
	case "delete":
		return append(all, "Conflict", "NotFound")
	}
	return all
}

func methods() []string {
	return []string{"AppliesTo", "Execute", "Progress", "Cancel", "AreAdditionalItemsReady"}
}

func actions() []string {
	return []string{
		string(BackupItemAction), string(RestoreItemAction), string(DeleteItemAction),
		string(PreBackupAction), string(PostBackupAction), string(PreRestoreAction), string(PostRestoreAction),
	}
}

// deeds are what a fault can do.
func deeds() []string {
	return []string{
		"kill", "pause", "rollout", "fail", "lose", "tear", "hang", "outage", "crash", "refuse", "loseReply", "latency", "breakWatches", "staleCache", "apiOutage", "location", "delete", "remove", "describe",
	}
}

func locationChanges() []string {
	return []string{string(ReadOnly), string(ReadWrite), string(Removed), string(Created)}
}

func afterCancels() []string { return []string{string(Fails), string(Completes), string(Continues)} }

func handshakes() []string { return []string{string(NoHandshake), string(WrongHandshake)} }

// resources that items may be of; short: those that can be written without a manifest.
func resources(short bool) []string {
	var names []string
	for _, k := range objectKinds() {
		if k.short || !short {
			names = append(names, k.resource)
		}
	}
	return names
}

// phasesOf are the phases of a kind, as Velero spells them.
func phasesOf(k phase.Kind) []string {
	return names(k.Phases(), func(phase.Phase) bool { return true })
}

// finalPhases are those that a run ends in. A deletion is another matter.
func finalPhases() []string {
	ends := func(p phase.Phase) bool { return p.Final() && p != phase.Deleting }
	return names(append(phase.Backup.Phases(), phase.FailedPreRestoreActions), ends)
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
