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

// shortened cuts a line that has become too long to be read, as of an ID of a megabyte.
func shortened(line string) string {
	const most = 400
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}

func trimV2(kind string) string { return strings.TrimSuffix(kind, "V2") }
