package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// Run is what came of one run, as a result folder has it in NAME.verdict.json, beside the trace in NAME.ndjson.
type Run struct {
	Scenario string `json:"scenario"`
	// Description of the scenario: the comment at its top.
	Description string `json:"description,omitempty"`
	// Faults are the families of what goes wrong in the scenario.
	Faults []scenario.Family `json:"faults,omitempty"`
	// Reports in upstream trackers that the scenario reproduces: velero#6490.
	Reports []string `json:"reports,omitempty"`
	World   string   `json:"world"`
	// Version of Velero: 1.18.3.
	Version string         `json:"version"`
	Seed    int64          `json:"seed"`
	Verdict verdict.Result `json:"verdict"`
	// Deviations are the rules of sim/phase that a known deviation is due to.
	Deviations []string `json:"deviations,omitempty"`
	// Phase is the last one of the object that the scenario is about first; empty: it had none.
	Phase            string            `json:"phase"`
	SimulatedSeconds float64           `json:"simulatedSeconds"`
	WallSeconds      float64           `json:"wallSeconds"`
	Findings         []verdict.Finding `json:"findings"`
	// Replay is the command that runs it again.
	Replay string `json:"replay,omitempty"`
}

// NewRun is the run of a scenario of which nothing has come yet.
func NewRun(s *scenario.Scenario, h trace.Header, replay string) Run {
	return Run{
		Scenario: s.Metadata.Name, Description: s.Description, Faults: s.FaultFamilies(), Reports: s.Metadata.Reports,
		World: h.World, Version: h.Velero, Seed: h.Seed, Replay: replay,
	}
}

// Judged sets what the oracles say, and how long it took to run.
func (r *Run) Judged(v verdict.Verdict, wall time.Duration) {
	r.Verdict, r.Deviations, r.Phase, r.Findings = v.Result, v.Deviations, v.Phase, v.Findings
	r.SimulatedSeconds, r.WallSeconds = time.Duration(v.Simulated).Seconds(), wall.Seconds()
}

// Green reports whether nobody has to look: it passed, or is a known deviation.
func (r Run) Green() bool { return r.Verdict == verdict.Pass || r.Verdict == verdict.KnownDeviation }

// Outcome is the verdict with the rules of a known deviation: "known deviation: progress-error-is-final".
func (r Run) Outcome() string {
	if len(r.Deviations) == 0 {
		return string(r.Verdict)
	}
	return string(r.Verdict) + ": " + strings.Join(r.Deviations, ", ")
}

// Target is where a run took place.
type Target struct {
	World string `json:"world"`
	// Release of Velero: 1.18.3.
	Release string `json:"release"`
}

// String is how people and baselines name it: virtual 1.18.3.
func (t Target) String() string { return t.World + " " + t.Release }

// Compare orders by world, virtual first, and release, the newest first.
func (t Target) Compare(other Target) int {
	return cmp.Or(-strings.Compare(t.World, other.World), -compareVersions(t.Release, other.Release))
}

// Target of the run.
func (r Run) Target() Target { return Target{r.World, r.Version} }

// Compare orders runs by scenario, target and seed.
func (r Run) Compare(other Run) int {
	return cmp.Or(strings.Compare(r.Scenario, other.Scenario), r.Target().Compare(other.Target()), cmp.Compare(r.Seed, other.Seed))
}

// FileName is the name of its files in a result folder, without an extension; several: the scenario is run with several seeds.
func (r Run) FileName(several bool) string {
	if several {
		return fmt.Sprintf("%s.seed-%d", r.Scenario, r.Seed)
	}
	return r.Scenario
}

// The extensions of a run's files in a result folder.
const (
	verdictFile = ".verdict.json"
	traceFile   = ".ndjson"
)

// Write writes the run into the folder, as NAME.verdict.json, which only its owner can read.
func (r Run) Write(dir, name string) error {
	f, err := os.OpenFile(filepath.Join(dir, name+verdictFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(printJSON(f, r), f.Close())
}

// printJSON prints v for a program, in a layout that a person can read too.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
