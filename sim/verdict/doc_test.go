package verdict

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/phase"
)

// TestOraclesPage keeps the page of oracles in step with the package: what each demands is what doc.go says, where it is judged is what
// the code says, and its example is a finding of this package.
func TestOraclesPage(t *testing.T) {
	const file = "../../docs/oracles.md"
	oracles := inCode(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(oracles)), slices.Sorted(maps.Keys(demands(t)))); diff != "" {
		t.Fatalf("the oracles of the code and those of doc.go (-code +doc.go):\n%s", diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(oracles)), slices.Sorted(maps.Keys(samples()))); diff != "" {
		t.Fatalf("the oracles of the code and those of samples (-code +samples):\n%s", diff)
	}
	want := oraclesPage(t, oracles)
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current (go test ./sim/verdict -run OraclesPage -update; -want +got):\n%s", file, diff)
	}
}

const oraclesIntroduction = `# The oracles

<!-- Generated from sim/verdict: go test ./sim/verdict -run OraclesPage -update -->

An oracle is a part of the verdict that demands one kind of thing of a run. It reads the scenario and the trace, and nothing else. What it
finds has the oracle's name, what it expected, what it saw, when, and the events around it; ` + "`velosim run`" + ` prints it like the examples
below. "(demanded)" is the reading in which it was found: what users need, or what a release such as v1.18 does.

A finding makes a run fail, unless rules of the release explain every finding of the run: then it is a known deviation
([deviations.md](deviations.md)). Findings of completeness alone make it inconclusive. The code is in [sim/verdict](../sim/verdict/doc.go).

| oracle | demands | files |
|---|---|---|
`

// oraclesPage is the page, in Markdown.
func oraclesPage(t *testing.T, oracles map[string][]place) []byte {
	var b bytes.Buffer
	b.WriteString(oraclesIntroduction)
	demanded, samples := demands(t), samples()
	order := oraclesInOrder(t)
	for _, name := range order {
		fmt.Fprintf(&b, "| [%s](#%[1]s) | %s | %s |\n", name, sentence(demanded[name]), links(oracles[name]))
	}
	for _, name := range order {
		s := samples[name]
		fmt.Fprintf(&b, "\n## %s\n\nDemands: %s\n\nWhere from: %s\n", name, demanded[name], s.source)
		if name == "conformance" {
			b.WriteString("\n| invariant | says |\n|---|---|\n")
			for _, inv := range phase.Invariants() {
				fmt.Fprintf(&b, "| %s | %s |\n", inv.Name, inv.Statement)
			}
		}
		b.WriteString("\nJudged in:\n\n")
		for _, p := range oracles[name] {
			fmt.Fprintf(&b, "- %s: %s\n", link(p.file), p.doc)
		}
		fmt.Fprintf(&b, "\n%s\n\n```text\n%s```\n", s.about, s.found(t, name))
	}
	return b.Bytes()
}

func link(file string) string { return fmt.Sprintf("[%s](../sim/verdict/%[1]s)", file) }

func links(places []place) string {
	var all []string
	for _, p := range places {
		all = append(all, link(p.file))
	}
	return strings.Join(slices.Compact(all), ", ")
}

// sentence is the first one.
func sentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".") + "."
}

// demands is what doc.go says that each oracle demands.
func demands(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, m := range bullets(t) {
		text := strings.Join(strings.Fields(m[2]), " ")
		all[m[1]] = strings.ToUpper(text[:1]) + text[1:]
	}
	all["deviation"] = "A witness of a rule shows the deviation that it is the witness of. If it does not, Velero may have mended it, and the rule is to be updated."
	all["completeness"] = "The trace shows all that the scenario is about. " +
		"One that lacks something is inconclusive, unless it has failed already; one in which a dead server acts is inconclusive whatever else it shows."
	return all
}

// oraclesInOrder are the oracles as doc.go has them.
func oraclesInOrder(t *testing.T) []string {
	var names []string
	for _, m := range bullets(t) {
		names = append(names, m[1])
	}
	return append(names, "deviation", "completeness")
}

// bullets are the entries of the list in the package's documentation: a name, and what follows.
func bullets(t *testing.T) [][]string {
	t.Helper()
	doc, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^ +- ([a-z]+): ((?:.+\n)+?)(?:$|  - )`).FindAllStringSubmatch(strings.ReplaceAll(doc.Doc.Text(), "\n  - ", "\n\n  - "), -1)
}

// place is a function that makes findings of an oracle, and what its comment says.
type place struct{ file, doc string }

// inCode are the oracles that the code's findings name, with the functions that make them.
func inCode(t *testing.T) map[string][]place {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]place{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, oracle := range oraclesOf(f) {
				all[oracle] = append(all[oracle], place{name, comment(file, f, oracle)})
			}
		}
	}
	return all
}

// oraclesOf are the oracles that a function names in a call of finding or atEnd, or in a Finding.
func oraclesOf(f *ast.FuncDecl) []string {
	found := map[string]bool{}
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				found[s] = true
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "finding" || sel.Sel.Name == "atEnd") {
				add(n.Args[0])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Oracle" {
				add(n.Value)
			}
		}
		return true
	})
	return slices.Sorted(maps.Keys(found))
}

// comment is the first paragraph of a function's comment; of one without, that of the oracle's function in the file.
func comment(file *ast.File, f *ast.FuncDecl, oracle string) string {
	for _, d := range file.Decls {
		if g, ok := d.(*ast.FuncDecl); ok && f.Doc == nil && g.Name.Name == oracle {
			f = g
		}
	}
	first, _, _ := strings.Cut(f.Doc.Text(), "\n\n")
	return strings.Join(strings.Fields(strings.Replace(first, f.Name.Name, "`"+f.Name.Name+"`", 1)), " ")
}
