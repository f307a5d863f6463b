package phase

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write README.md anew")

// TestGuide keeps README.md what the machine says.
func TestGuide(t *testing.T) {
	const file = "README.md"
	want := guide(t)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not current (go test ./sim/phase -update; -want +got):\n%s", file, diff)
	}
}

func guide(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Phases of Velero's backups and restores\n\nMade from the machine of this package by its tests. What the phases mean, and where in Velero each edge is made, is in [doc.go](doc.go).\n")
	for _, kind := range []Kind{Backup, Restore} {
		fmt.Fprintf(&b, "\n## A %s\n\n%s", kind, diagram(t, kind))
	}
	b.WriteString("\n## With pre- and post-actions\n\nWhat a pre-action that fails adds: all other ways are those above. Post-actions change no phase.\n\n")
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> InProgress\n")
	for _, kind := range []Kind{Backup, Restore} {
		b.WriteString(added(kind))
	}
	b.WriteString("```\n")
	b.WriteString("\n## Deviations\n\nWhat a release does otherwise than demanded. `velosim deviations` prints them with their sources.\n\n| rule | demanded | what releases do | releases | witness | reports |\n|---|---|---|---|---|---|\n")
	for _, rule := range All() {
		witness := "none: it takes a race that few seeds show"
		if rule.Witness != "" {
			witness = rule.Witness
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", rule.Name, rule.Statement, rule.Deviation,
			strings.Join(rule.Releases, ", "), witness, strings.Join(rule.Reports, ", "))
	}
	return b.String()
}

// diagram draws the edges of both readings; those of one alone name it.
func diagram(t *testing.T, k Kind) string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> New\n")
	both := readings(t)
	legal := []map[Edge][]Input{both[0].Legal(k), both[1].Legal(k)}
	for _, from := range k.Phases() {
		for _, to := range k.Phases() {
			edge := Edge{from, to}
			inputs := slices.Concat(legal[0][edge], legal[1][edge])
			if len(inputs) == 0 || to == Deleting && from.Final() || from == Deleting { // what is written over Deleting, its rule says
				continue
			}
			slices.Sort(inputs)
			var texts []string
			for _, in := range slices.Compact(inputs) {
				text := in.String()
				for i := range both {
					if !slices.Contains(legal[i][edge], in) {
						text += fmt.Sprintf(" (%s)", both[1-i].Name)
					}
				}
				texts = append(texts, text)
			}
			fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, strings.Join(texts, "; "))
		}
	}
	for _, p := range k.Phases() {
		if p.Final() && p != failedPreActions(k) {
			fmt.Fprintf(&b, "    %s --> [*]\n", p)
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// added draws the edges that there are with actions alone. They are those of every reading.
func added(k Kind) string {
	var b strings.Builder
	with, without := Demanded().LegalWithActions(k), Demanded().Legal(k)
	for _, edge := range slices.SortedFunc(maps.Keys(with), func(a, b Edge) int { return cmp.Or(int(a.From)-int(b.From), int(a.To)-int(b.To)) }) {
		if without[edge] == nil && !edge.From.Final() {
			var texts []string
			for _, in := range with[edge] {
				texts = append(texts, in.String())
			}
			fmt.Fprintf(&b, "    %s --> %s: %s\n", edge.From, edge.To, strings.Join(texts, "; "))
		}
	}
	fmt.Fprintf(&b, "    %s --> [*]\n", failedPreActions(k))
	return b.String()
}
