package virtual_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

func TestVersionIsTheOneLinkedIn(t *testing.T) {
	b, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if r.Mod.Path == "github.com/vmware-tanzu/velero" && r.Mod.Version != "v"+virtual.Velero {
			t.Errorf("go.mod requires Velero %s, virtual.Velero is %s", r.Mod.Version, virtual.Velero)
		}
	}
}

func TestCancelledRunEndsAndLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, w, events := load(t, "backup-operation-times-out"), virtual.New(), 0
	before := runtime.NumGoroutine()
	end, err := w.Run(ctx, world.Job{Scenario: s, Seed: 1, Bound: verdict.Bound(s)}, func(trace.Event) error {
		if events++; events == 100 {
			cancel()
		}
		return nil
	})
	if err != nil || end.Reason != trace.Environment || !strings.Contains(end.Detail, "canceled") {
		t.Errorf("Run = %+v, %v", end, err)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestSinkThatFailsEndsTheRun(t *testing.T) {
	s, broken, events := load(t, "backup-operation-completes"), errors.New("disk full"), 0
	_, err := virtual.New().Run(t.Context(), world.Job{Scenario: s, Seed: 1, Bound: verdict.Bound(s)}, func(trace.Event) error {
		if events++; events == 20 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || events != 20 {
		t.Errorf("Run = %v after %d events, want %v after 20", err, events, broken)
	}
}

func TestUnfiredFaultIsInconclusive(t *testing.T) {
	s := parse(t, "test.yaml", `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: test}
plugins: [{name: example.io/mover, operation: {progress: [{at: 1m, completed: true}]}}]
faults: [{at: {call: {plugin: example.io/mover, method: Progress}, nth: 1000}, do: {kill: {}}}]
expect: {phase: Completed}
`)
	if v := verdict.Judge(s, run(t, s, 1)); v.Result != verdict.Inconclusive {
		t.Errorf("verdict %s", v.Result)
	}
}

// TestRunsLeaveNothing runs scenarios that leave most in the air: killed servers, plugins that hang. VELOSIM_RUNS says how
// many times (make soak: 1,000).
func TestRunsLeaveNothing(t *testing.T) {
	runs := 32
	if v := os.Getenv("VELOSIM_RUNS"); v != "" {
		var err error
		if runs, err = strconv.Atoi(v); err != nil {
			t.Fatalf("VELOSIM_RUNS=%s: %v", v, err)
		}
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	names := []string{"backup-server-killed-while-in-progress", "backup-items-to-update", "backup-operation-id-unknown", "restore-operation-fails"}
	killedAtTheEnd := parse(t, "test.yaml", `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: test}
faults: [{at: {phase: Completed}, do: {kill: {}}}] # in the finalizer's patch, which Velero retries without end
expect: {phase: Completed}
`)
	var heaps []uint64
	goroutines := 0
	for i := range runs {
		s := killedAtTheEnd
		if n := i % (len(names) + 1); n < len(names) {
			s = load(t, names[n])
		}
		if end := run(t, s, int64(i)).End; end.Reason != trace.Settled {
			t.Fatalf("run %d of %s ended %+v", i, s.Metadata.Name, end)
		}
		if i%(runs/8) != runs/8-1 {
			continue
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heaps = append(heaps, m.HeapAlloc>>10)
		if goroutines == 0 {
			goroutines = runtime.NumGoroutine()
		}
	}
	t.Logf("heap in KiB after each eighth of %d runs: %v", runs, heaps)
	// The first eighths fill caches. 2 MiB are what one run's leftovers would be, at the least, if all were kept.
	if first, last := heaps[2], heaps[len(heaps)-1]; last > first+2<<10 {
		t.Errorf("the heap grows: %v KiB", heaps)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines after the first runs, %d at the end", goroutines, n)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left in TMPDIR: %v, %v", left, err)
	}
}
