package contract

import (
	"fmt"
	"strings"
)

// plural is a number of things in words.
func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func trimV2(kind string) string { return strings.TrimSuffix(kind, "V2") }
