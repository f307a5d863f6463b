package virtual

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe" // for bubbleSeed

	"github.com/go-logr/logr"
	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/apiserver"
	"github.com/velosim/velosim/sim/velero/server"
	"github.com/velosim/velosim/sim/world"
)

// Velero is the release whose controllers are linked in. A test compares it with go.mod.
const Velero = "1.18.3"

// World runs scenarios in virtual time, one at a time: Velero and its libraries draw from math/rand's one source, write
// temporary files to the process' TMPDIR, and log to its stdout whatever they are told. A run takes all three over, and the local time zone. It has
// one processor, as the order of what goroutines do at the same time would not be the seed's.
type World struct {
	// Plugins are executables of the user's, whose item actions Velero gets beside the scripted ones. Each process runs in real time, and
	// virtual time stands still while it is called.
	Plugins []string
	own     []framework.PluginIdentifier // what they register; nil: they were not asked
	outside *outside                     // where their processes run

	at    atomic.Int64 // of the running job
	steps atomic.Int64

	// decorate stands, in tests, between the server's controllers and what they use; nil: nothing does.
	decorate func(server.Views) server.Views

	// act stands, in tests, in place of the scripts of actions that are called once for a backup or restore, with a client of the server that
	// calls them; nil: the scripts are followed.
	act func(ctx context.Context, c client.Client, script scenario.Plugin, object metav1.Object) error

	definitions apiserver.Definitions
	// dear: the server does without what makes waiting cheap (manager.go), so that a test can tell that nothing else comes of it.
	dear bool
}

// bubbleSeed is where all that Go itself leaves to chance starts from, if the world is built with a seeded runtime
// (sim/world/executable/seeded); else nothing reads it.
//
//go:linkname bubbleSeed runtime.bubbleSeed
var bubbleSeed uint64

// New returns the world. Logging of the Kubernetes libraries is turned off for the whole process, and so is the one logger of
// Velero's that is nobody's own.
func New() *World {
	logrus.SetOutput(io.Discard)
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	// Velero's restorer asks for signals (pkg/restore/restore.go), which the runtime starts to watch at the first such call. In
	// a bubble that would be fatal.
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGWINCH)
	signal.Stop(c)
	return &World{}
}

// Info implements world.World.
func (w *World) Info() world.Info {
	info := world.Info{World: "virtual", Velero: Velero, Capabilities: []string{world.CanBackup, world.CanRestore, world.CanKill, world.CanPause, world.CanRollOut, world.CanSever, world.CanCRDs, world.CanStore, world.CanAct}}
	if b, ok := debug.ReadBuildInfo(); ok {
		info.Build = b.GoVersion
	}
	return info
}

// Position implements world.World.
func (w *World) Position(int) world.Position {
	return world.Position{At: trace.Time(w.at.Load()), Steps: w.steps.Load()}
}

// Run implements world.World.
func (w *World) Run(ctx context.Context, job world.Job, sink func(trace.Event) error) (trace.End, error) {
	return w.run(ctx, job, sink, (*run).play)
}

// run is Run with a user of the caller's.
func (w *World) run(ctx context.Context, job world.Job, sink func(trace.Event) error, play func(*run, context.Context) (trace.End, error)) (end trace.End, err error) {
	w.at.Store(0)
	w.steps.Store(0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	tmp, err := os.MkdirTemp("", "velosim-run-")
	if err != nil {
		return trace.End{}, fmt.Errorf("failed to make a folder for the run's temporary files: %w", err)
	}
	defer os.RemoveAll(tmp)
	defer setenv("TMPDIR", tmp)()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return trace.End{}, err
	}
	defer null.Close()
	defer setStdout(null)()
	defer setLocal(time.UTC)() // names of scheduled backups have the time in them

	if _, err := w.registered(); err != nil {
		return trace.End{}, err
	}
	w.outside = newOutside()
	defer w.outside.close()
	bubbleSeed = uint64(job.Seed)*2 + 1
	// Velero's and client-go's jitter comes from math/rand's global source; go.mod sets randseednop=0.
	rand.Seed(job.Seed) //lint:ignore SA1019 the only way to make code that uses the global source repeatable
	defer func() {
		// Goroutines that never end are a defect of this world, and say nothing about Velero.
		if p := recover(); p != nil {
			if !strings.HasPrefix(fmt.Sprint(p), "deadlock:") {
				panic(p)
			}
			end.Reason, end.Detail = trace.Environment, fmt.Sprintf("the run left goroutines behind: %v", p)
		}
	}()
	synctest.Test(new(testing.T), func(*testing.T) {
		var r *run
		if r, err = newRun(w, job, sink); err == nil {
			end, err = r.run(ctx, play)
		}
	})
	return end, err
}

func setenv(key, value string) (restore func()) {
	old, ok := os.LookupEnv(key)
	os.Setenv(key, value)
	return func() {
		if ok {
			os.Setenv(key, old)
		} else {
			os.Unsetenv(key)
		}
	}
}

func setStdout(f *os.File) (restore func()) {
	old := os.Stdout
	os.Stdout = f
	return func() { os.Stdout = old }
}

func setLocal(l *time.Location) (restore func()) {
	old := time.Local
	time.Local = l
	return func() { time.Local = old }
}
