package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares what was written with a file, or writes it with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run with -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; run with -update (-file +written):\n%s", file, diff)
	}
}

// sample is a report of everything that the formats show.
func sample(t testing.TB) *Report {
	hostile := "<script>alert(1)</script> | ]]> & `x` \x00\x1b[31m\u202e\xff"
	fails := Run{
		Scenario: "fails", Verdict: verdict.Fail, WallSeconds: 1.5, Phase: "Failed", Replay: "velosim run fails --world virtual --seed 1",
		Description: "It must pass. It does not.", Faults: []scenario.Family{scenario.ServerFault}, Reports: []string{"velero#1", "openshift/oadp-operator#703"},
		Findings: []verdict.Finding{
			{Oracle: "expectation", Object: "backup/b", Expected: "phase Completed", Seen: "phase Failed\nand " + hostile, At: trace.Time(90 * time.Second), Rules: []string{"start-marks-once"}},
			{Oracle: "panic", Expected: "no panic", Seen: "one", Around: []trace.Event{{Seq: 1, Body: trace.Body{Deleted: &trace.Deleted{}}}}},
		},
	}
	return New([]Result{
		made(t, fails, "backup/b: New Queued ReadyToStart InProgress Failed"),
		made(t, Run{Scenario: "passes", Seed: 2, WallSeconds: 0.25}, path),
		made(t, Run{Scenario: "passes"}, path),
		made(t, Run{Scenario: "unclear", Verdict: verdict.Inconclusive, World: "envtest", Version: "1.14.0", Seed: 7}, "backup/b: New InProgress"),
		made(t, known("deviates", 1, "progress-error-is-final"), "restore/r: New InProgress WaitingForPluginOperations FinalizingPartiallyFailed PartiallyFailed"),
	}, Options{
		Now: time.Date(2026, 12, 1, 2, 3, 4, 0, time.FixedZone("east", 3600)), Velosim: "v1.0.0",
		Explorations: []Exploration{{Reading: "demanded", Kind: "backup", Distinct: 5, Generated: 9, Complete: true, Bounds: "1 operation"}},
		Code:         &Code{Release: "1.18.3", Seeds: 4, Controllers: []Controller{{Name: "backup queue", Statements: 200, Reached: 177, Unit: 120}}},
	})
}

func TestFormats(t *testing.T) {
	r := sample(t)
	for file, write := range map[string]func(io.Writer) error{
		"report.xml": r.WriteJUnit, "report.md": r.WriteMarkdown, "report.txt": r.WriteText, "report.json": r.WriteJSON,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		golden(t, filepath.Join("testdata", file), b.Bytes())
	}
}

// TestJUnitIsXML reads back what was written of text that XML cannot hold.
func TestJUnitIsXML(t *testing.T) {
	var b bytes.Buffer
	if err := sample(t).WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(b.Bytes(), &suites); err != nil {
		t.Fatal(err)
	}
	text := suites.Suites[0].Cases[1].Failure.Text
	if !strings.Contains(text, "and <script>alert(1)</script> | ]]> & `x` \ufffd\ufffd[31m\u202e\ufffd") {
		t.Errorf("the failure says %q", text)
	}
	if suites.Tests != 5 || suites.Failures != 1 || suites.Errors != 1 {
		t.Errorf("%d tests, %d failures, %d errors", suites.Tests, suites.Failures, suites.Errors)
	}
}

// TestMarkdownIsBounded: what is left out is said, and what comes after it is there.
func TestMarkdownIsBounded(t *testing.T) {
	var results []Result
	for seed := range int64(200) {
		results = append(results, made(t, Run{Scenario: "fails", Seed: seed + 1, Verdict: verdict.Fail, Findings: []verdict.Finding{
			{Oracle: "panic", Expected: "none", Seen: strings.Repeat("é", 40<<10)},
		}}, path))
	}
	var b bytes.Buffer
	if err := New(results, Options{}).WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	if b.Len() >= maxMarkdown || b.Len() < maxMarkdown/2 {
		t.Errorf("%d bytes", b.Len())
	}
	if s := b.String(); !strings.Contains(s, "more are left out") || !strings.Contains(s, "## Coverage") {
		t.Error("it says neither what is left out nor the rest")
	}
}

func TestLink(t *testing.T) {
	for name, want := range map[string]string{
		"velero#6490": "https://github.com/vmware-tanzu/velero/issues/6490", "openebs/velero-plugin#78": "https://github.com/openebs/velero-plugin/issues/78",
		"velero#x": "", "other#1": "", "javascript:alert(1)": "", "a/b/c#1": "",
	} {
		if got := Link(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestSchema keeps the schema in step with the types, and a report in step with the schema.
func TestSchema(t *testing.T) {
	reflector := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Mapper: func(of reflect.Type) *jsonschema.Schema {
		switch of {
		case reflect.TypeFor[trace.Time]():
			return &jsonschema.Schema{Type: "string", Description: "A Go duration since the start of the run, such as 4h0m10s."}
		case reflect.TypeFor[json.RawMessage]():
			return &jsonschema.Schema{}
		}
		return nil
	}}
	for _, folder := range []string{"reports", "sim/verdict", "sim/trace"} {
		if err := reflector.AddGoComments("github.com/velosim/velosim/"+folder, "../"+folder, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.MarshalIndent(reflector.Reflect(&Report{}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.schema.json", append(b, '\n'))

	var document, compiled any
	var report bytes.Buffer
	if err := sample(t).WriteJSON(&report); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(report.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &compiled); err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("report.schema.json", compiled); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(document); err != nil {
		t.Error(err)
	}
	document.(map[string]any)["runs"].([]any)[0].(map[string]any)["seed"] = "one"
	if err := s.Validate(document); err == nil {
		t.Error("a seed that is text is valid")
	}
}
