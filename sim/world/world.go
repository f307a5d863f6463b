package world

import (
	"context"
	"fmt"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Schema is the version of the protocol between the CLI and a world's executable.
const Schema = 1

// Info says what a world is.
type Info struct {
	// World is its name: virtual.
	World string `json:"world"`
	// Velero is the release that it serves, without a "v".
	Velero string `json:"velero"`
	// Build identifies the executable. Serve puts the sources before it that the executable was built from, if it knows them.
	Build string `json:"build"`
	// Scale is that of its traces (trace.Header); 0: 1, virtual time. A world with another runs scenarios whose durations are
	// shortened.
	Scale float64 `json:"scale,omitempty"`
	// Parallel is how many jobs one process runs at a time. Default, 0: one.
	Parallel int `json:"parallel,omitempty"`
	// Capabilities are what a scenario may need: CanBackup, CanRestore, CanKill.
	Capabilities []string `json:"capabilities,omitempty"`
}

// Job is one run of a scenario.
type Job struct {
	ID       int                `json:"id"`
	Scenario *scenario.Scenario `json:"scenario"`
	Seed     int64              `json:"seed"`
	// Bound is the trace time at which the run ends whatever has happened.
	Bound trace.Time `json:"bound"`
	// Keep is a folder, which is there, for what a world of real processes leaves beside the trace: logs, objects. Empty: nothing
	// is kept.
	Keep string `json:"keep,omitempty"`
	// Direct has the user's plugin called directly, without a server, in place of a run of the scenario, which says what is in the cluster.
	Direct *Direct `json:"direct,omitempty"`
}

// PluginTime is the environment variable that tells a process of the user's plugin when it was started, in virtual time (RFC 3339): what it
// does takes none.
const PluginTime = "VELOSIM_TIME"

// Direct says how a plugin is called directly (sim/plugintest/exercise).
type Direct struct {
	// Plugin is the executable, one of those that the world was started with.
	Plugin string `json:"plugin"`
	// Within is how long operations are asked for their progress, Call how long a call may take, and CancelWithin how long an operation may go
	// on after Cancel.
	Within       time.Duration `json:"within"`
	Call         time.Duration `json:"call"`
	CancelWithin time.Duration `json:"cancelWithin"`
}

// String names the job among others.
func (j Job) String() string {
	if j.Scenario == nil {
		return ""
	}
	return fmt.Sprintf("job %d (%s, seed %d)", j.ID, j.Scenario.Metadata.Name, j.Seed)
}

// Position is how far a running job is. It changes for as long as the job makes progress.
type Position struct {
	At trace.Time `json:"at"`
	// Steps that the world has taken, whatever it counts as one.
	Steps int64 `json:"steps"`
}

// World runs scenarios.
type World interface {
	Info() Info
	// Position of the job of that ID, which Run runs, or ran last; zero before. It is asked from outside, as the clock inside the
	// job may be a virtual one that stands still: safe from any goroutine, and it never waits.
	Position(job int) Position
	// Run runs one job and hands over its events in order; at most Info.Parallel at a time. The error is the sink's, or says why
	// there could be no run at all; whatever happened to Velero is in the End.
	Run(ctx context.Context, job Job, sink func(trace.Event) error) (trace.End, error)
}
