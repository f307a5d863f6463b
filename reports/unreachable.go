package reports

// unreachable is why no run on the target makes a transition that its release allows; empty: nobody says that none does.
func unreachable(s scope, c change) string {
	return ""
}
