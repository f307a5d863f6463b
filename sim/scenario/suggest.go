package scenario

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearest is the candidate that word was probably meant to be, or "". Case does not count, and at most a third of the
// letters may differ.
func nearest(word string, candidates []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	best, least := "", 0
	for _, c := range candidates {
		limit := max(1, len(c)/3)
		if difference := len(word) - len(c); difference > limit || -difference > limit {
			continue
		}
		distance := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(c))
		if distance <= limit && distance < len(c) && (best == "" || distance < least) {
			best, least = c, distance
		}
	}
	return best
}

// list the candidates for a message, the first ones if they are many.
func list(candidates []string) string {
	const most = 15
	if len(candidates) > most {
		return strings.Join(candidates[:most], ", ") + ", …"
	}
	return strings.Join(candidates, ", ")
}
