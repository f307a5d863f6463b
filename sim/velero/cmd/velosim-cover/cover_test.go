package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// profile has testdata/sample.go.txt in two packages, and blocks of two runs.
const profile = `mode: set
example.io/controller/sample.go:3.24,3.38 1 1
example.io/controller/sample.go:8.51,9.15 1 1
example.io/controller/sample.go:9.15,10.17 1 0
example.io/controller/sample.go:10.17,12.4 1 0
example.io/controller/sample.go:14.2,14.11 1 1
example.io/controller/sample.go:14.11,15.12 1 0
example.io/controller/sample.go:15.12,17.4 1 0
example.io/controller/sample.go:18.3,18.6 1 0
example.io/controller/sample.go:20.2,21.12 2 1
example.io/controller/sample.go:24.31,24.31 0 0
example.io/controller/sample.go:26.18,28.2 1 0
example.io/other/sample.go:26.18,28.2 1 1
example.io/controller/sample.go:9.15,10.17 1 7
example.io/controller/sample.go:9.15,10.17 1 0
`

// TestReport lays a profile over a source, and prints what comes of it.
func TestReport(t *testing.T) {
	source, err := os.ReadFile("testdata/sample.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := parseProfile(strings.NewReader(profile), "example.io/controller")
	if err != nil {
		t.Fatal(err)
	}
	unit, err := parseUnitTests("sample.go:8:\tReconcile\t28.6%\nsample.go:26:\tnever\t100.0%\n")
	if err != nil {
		t.Fatal(err)
	}
	controllers, err := readControllers(fstest.MapFS{"sample.go": {Data: source}}, []controller{{name: "sample", files: []string{"sample.go"}}}, blocks, unit)
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := parseReasons("# Why.\n\nNeeds a fault.\n\tsample.go: Reconcile: n > 1\n")
	if err != nil {
		t.Fatal(err)
	}
	explain(controllers, reasons)
	var got strings.Builder
	printTable(&got, controllers)
	printMissed(&got, controllers)
	golden := filepath.Join("testdata", "report.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got; -update rewrites %s)\n%s", golden, diff)
	}
}

func TestWrongInput(t *testing.T) {
	blocks := map[string][]block{"a.go": {{position{2, 10}, position{2, 20}, 1, true}}}
	read := func(source string) error {
		_, err := readControllers(fstest.MapFS{"a.go": {Data: []byte(source)}}, []controller{{name: "a", files: []string{"a.go"}}}, blocks, nil)
		return err
	}
	parse := func(s string) error {
		_, err := parseProfile(strings.NewReader(s), "p")
		return err
	}
	unit := func(s string) error {
		_, err := parseUnitTests(s)
		return err
	}
	_, unknown := readControllers(fstest.MapFS{}, []controller{{name: "b", files: []string{"b.go"}}}, blocks, nil)
	for _, c := range []struct {
		got  error
		want string
	}{
		{parse("p/a.go:1.2,3.4 1 1\n"), `line 1: "p/a.go:1.2,3.4 1 1" is no mode: this is no coverage profile`},
		{parse("mode: set\np/a.go:1.2,3.4 1\n"), `line 2: "p/a.go:1.2,3.4 1": 2 fields instead of 3`},
		{parse("mode: set\np/a.go 1 1\n"), `p/a.go is no range of a file`},
		{parse("mode: set\np/a.go:1.2 1 1\n"), `p/a.go:1.2 is no range of a file`},
		{parse("mode: set\np/a.go:1.2,3 1 1\n"), `3 is no line.column`},
		{parse("mode: set\np/a.go:x.2,3.4 1 1\n"), `x.2 is no line.column`},
		{parse("mode: set\np/a.go:1.2,3.4 -1 1\n"), `-1 is no number of statements`},
		{parse("mode: set\np/a.go:1.2,3.4 1 often\n"), `often is no count`},
		{unit("a.go:1:\tF\n"), `line 1: "a.go:1:\tF" is no line of go tool cover -func`},
		{unit("a.go:1:\tF\t100.0%\na.go:2:\tG\tx%\n"), `line 2: x% is no percentage`},
		{unit("a.go:1:\tF\t101%\n"), `101% is no percentage`},
		{read("package"), `a.go:1:8: expected 'IDENT'`},
		{read("package a\nfunc F() {  println() }\n"), `a.go:2: there is no figure of the unit tests for F`},
		{unknown, `the profile has nothing of b.go`},
	} {
		if c.got == nil || !strings.Contains(c.got.Error(), c.want) {
			t.Errorf("got the error %v, want %s", c.got, c.want)
		}
	}
}

func TestFailuresAreTold(t *testing.T) {
	const verdicts = `a (seed 1): pass: phase Completed, 10s simulated
a (seed 2): fail: phase Completed, 10s simulated
b (seed 1): known deviation progress-error-is-final: phase PartiallyFailed, 10s simulated
b (seed 2): inconclusive: phase Failed, 10s simulated
`
	const want = "a (seed 2): fail: phase Completed, 10s simulated\nb (seed 2): inconclusive: phase Failed, 10s simulated\n"
	if diff := cmp.Diff(want, failures([]byte(verdicts))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestUnitTestsAreOfThisRelease compares the figures with the functions of Velero's source, at the version that this module requires.
func TestUnitTestsAreOfThisRelease(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "github.com/vmware-tanzu/velero").Output()
	if err != nil {
		t.Fatal(err)
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if version != "v1.18.3" {
		t.Errorf("the module requires Velero %s, and the figures are those of v1.18.3: measure them again, as main.go tells", version)
	}
	unit, err := parseUnitTests(unitTests)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]bool{}, map[string]bool{}
	for where := range unit {
		got[where] = true
	}
	for _, c := range phaseControllers() {
		for _, file := range c.files {
			set := token.NewFileSet()
			parsed, err := parser.ParseFile(set, filepath.Join(dir, "pkg/controller", file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, declaration := range parsed.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok && len(f.Body.List) > 0 {
					want[fmt.Sprintf("%s:%d", file, set.Position(f.Pos()).Line)] = true
				}
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions (-of Velero +with a figure)\n%s", diff)
	}
}

// TestReasons: a reason must be there for all that is missed, and for nothing else.
func TestReasons(t *testing.T) {
	missed := func() []controller {
		return []controller{{functions: []function{
			{name: "F", missed: []gap{{file: "a.go", first: 3, statements: 2, text: "if err != nil {", source: "if err != nil {\n\treturn err"}}},
			{name: "G", missed: []gap{{file: "a.go", first: 9, statements: 1, text: "g()", source: "g()"}}},
		}}}
	}
	for _, c := range []struct {
		reasons   string
		wrong     []string
		explained int
	}{
		{reasons: "Dead.\n\ta.go: F: return err\n\ta.go: G\n", explained: 3},
		{reasons: "First.\n\ta.go: F\nSecond.\n\ta.go: F: return\n\ta.go: G: g()\n", explained: 3},
		{reasons: "Dead.\n\ta.go: F\n", wrong: []string{`a.go:9: G: nothing reaches "g()", and there is no reason`}, explained: 2},
		{
			reasons:   "Dead.\n\ta.go: F\n\ta.go: G\n\ta.go: G: h()\n\tb.go: G\n",
			wrong:     []string{"a.go: G: h(): it is reached, or is not there: remove the line", "b.go: G: it is reached, or is not there: remove the line"},
			explained: 3,
		},
		{reasons: "Dead.\n\ta.go: F\n\ta.go: G\nAt times.\n\ta.go: H\n", explained: 3},
	} {
		reasons, err := parseReasons(c.reasons)
		if err != nil {
			t.Fatal(err)
		}
		controllers := missed()
		if diff := cmp.Diff(c.wrong, explain(controllers, reasons)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", c.reasons, diff)
		}
		if got := controllers[0].functions[0].explained + controllers[0].functions[1].explained; got != c.explained {
			t.Errorf("%q: %d statements explained, want %d", c.reasons, got, c.explained)
		}
	}
	for text, want := range map[string]string{
		"\ta.go: F\n":         "line 1: a.go: F has no reason above it",
		"Dead.\n\n\ta.go F\n": "line 3: want FILE: FUNCTION, found a.go F",
	} {
		if _, err := parseReasons(text); err == nil || err.Error() != want {
			t.Errorf("got the error %v, want %s", err, want)
		}
	}
}
