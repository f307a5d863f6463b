package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// standIn is the main function of a world that knows nothing of Velero: it replays the events that the scenario's name
// asks for, so that what velosim makes of them can be tested in no time.
func standIn() {
	w := &replayer{capabilities: []string{world.CanBackup, world.CanRestore, world.CanKill}}
	if filepath.Base(os.Args[0]) == "old-world" {
		w.capabilities = []string{world.CanBackup}
	}
	if err := world.Serve(context.Background(), w, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if w.deaf.Load() {
		time.Sleep(time.Minute) // until somebody kills it
	}
}

// replayer replays.
type replayer struct {
	// deaf: a run ignores its cancel, and the process the end of its stdin.
	deaf         atomic.Bool
	capabilities []string
}

func (w *replayer) Info() world.Info {
	return world.Info{World: "virtual", Velero: velero, Build: "stand-in", Capabilities: w.capabilities}
}

func (*replayer) Position(int) world.Position { return world.Position{} }

func (w *replayer) Run(ctx context.Context, job world.Job, sink func(trace.Event) error) (trace.End, error) {
	r := replay{sink: sink, object: job.Scenario.Object()}
	r.say(trace.Body{Process: &trace.Process{Name: "server", State: "started"}})
	r.say(trace.Body{Created: &trace.Created{ItemOperationTimeout: trace.Time(job.Scenario.Backups[0].ItemOperationTimeout.Duration)}})
	r.phases("Queued", "ReadyToStart")
	behaviour, _, _ := strings.Cut(job.Scenario.Metadata.Name, "-")
	w.deaf.Store(behaviour == "deaf")
	if behaviour != "backup" { // of the catalogue: the one killed while it is ready to start
		r.phases("InProgress")
	}
	switch behaviour {
	case "passes":
		r.phases("Finalizing", "Completed")
	case "sweeps": // with writes, of which those of plans are struck
		if held, _ := os.ReadFile(filepath.Join(filepath.Dir(job.Keep), "hold")); string(held) == job.Scenario.Metadata.Name {
			<-ctx.Done()
			return trace.End{}, ctx.Err()
		}
		last := "Completed"
		for _, f := range job.Scenario.Faults {
			r.say(trace.Body{Fault: &trace.Fault{ID: f.ID, What: "struck"}})
			if f.Do.LoseReply {
				last = "PartiallyFailed"
			}
		}
		r.write("Finalizing")
		r.write(last)
	case "fails":
		r.phases("FinalizingPartiallyFailed", "PartiallyFailed")
	case "backup":
		r.at += time.Second
		r.say(trace.Body{Fault: &trace.Fault{ID: "fault-1", What: "killed the server"}})
		r.say(trace.Body{Process: &trace.Process{Name: "server", State: "killed"}})
		r.at += 10 * time.Second
		r.incarnation++
		r.say(trace.Body{Process: &trace.Process{Name: "server", State: "started"}})
	case "panics":
		new(velerov1.Backup).DeepCopyInto(nil) // Velero panics
	case "dies":
		os.Exit(7)
	case "waits":
		<-ctx.Done()
		return trace.End{}, ctx.Err()
	case "deaf":
		select {}
	}
	for _, copied := range []string{"api", "store"} {
		r.say(trace.Body{Rest: &trace.Rest{
			Copy: copied, Phase: r.phase, Ended: strings.HasSuffix(r.phase, "Completed") || strings.HasSuffix(r.phase, "Failed"),
		}})
	}
	return trace.End{Reason: trace.Settled, At: trace.Time(r.at)}, r.err
}

// replay numbers and times events.
type replay struct {
	sink        func(trace.Event) error
	object      string
	phase       string
	seq         int
	incarnation int
	versions    int
	at          time.Duration
	err         error
}

func (r *replay) say(b trace.Body) {
	e := trace.Event{Seq: r.seq + 1, At: trace.Time(r.at), Incarnation: r.incarnation + 1, Body: b}
	if b.Process == nil && b.Fault == nil {
		e.Object = r.object
	}
	r.seq++
	if err := r.sink(e); r.err == nil {
		r.err = err
	}
}

// write is a patch that changes the phase.
func (r *replay) write(p string) {
	r.versions++
	r.say(trace.Body{Write: &trace.Write{
		Client: "backup", Verb: "patch", Resource: "backups", Name: "velero/backup-1", ResourceVersion: fmt.Sprint(r.versions),
		Change: fmt.Sprintf(`{"status":{"phase":%q}}`, p),
	}})
	r.phases(p)
}

func (r *replay) phases(phases ...string) {
	for _, p := range phases {
		r.at += time.Second
		r.say(trace.Body{Phase: &trace.Phase{From: r.phase, To: p}})
		r.phase = p
	}
}
