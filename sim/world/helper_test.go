package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// TestMain makes the test binary a world, well-behaved or not, when it is started under a name like world-panics, and a CLI
// when it is started as cli.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "cli" {
		os.Exit(beCLI(os.Args[1]))
	}
	if mode, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "world-"); ok {
		os.Exit(beWorld(mode))
	}
	os.Exit(m.Run())
}

// executable returns the path of a world that behaves as mode says.
func executable(t *testing.T, mode string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "world-"+mode)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func beWorld(mode string) int {
	switch mode {
	case "without-hello":
		fmt.Fprintln(os.Stderr, "cannot find my data")
		return 1
	case "silent":
		io.Copy(io.Discard, os.Stdin)
		return 0
	case "of-another-schema":
		fmt.Println(`{"hello":{"schema":99,"info":{"world":"test","moons":2}}}`)
		return 0
	case "floods-before-hello":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				return 1
			}
		}
	case "ignores-the-end-of-stdin":
		fmt.Println(`{"hello":{"schema":1,"info":{"world":"test"}}}`)
		select {}
	case "sleeper":
		time.Sleep(time.Hour)
		return 0
	}
	w := &testWorld{mode: mode}
	w.met.Add(2)
	if err := Serve(context.Background(), w, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// testWorld misbehaves, as its mode says, in jobs whose scenario is called "bad". In others it sends three events.
type testWorld struct {
	mode  string
	steps atomic.Int64
	met   sync.WaitGroup // of the two jobs that must run at a time
}

func (w *testWorld) Info() Info {
	info := Info{World: "test", Velero: "1.18.3", Build: w.mode}
	if strings.HasPrefix(w.mode, "meets") {
		info.Parallel = 2
	}
	return info
}

func (w *testWorld) Position(int) Position {
	return Position{At: trace.Time(w.steps.Load()) * trace.Time(time.Hour), Steps: w.steps.Load()}
}

func (w *testWorld) Run(ctx context.Context, job Job, sink func(trace.Event) error) (trace.End, error) {
	w.steps.Store(0)
	for i := range 3 {
		e := trace.Event{Seq: i + 1, At: trace.Time(i) * trace.Time(time.Hour), Body: process("server", "started")}
		if err := sink(e); err != nil {
			return trace.End{}, err
		}
		w.steps.Add(1)
		if job.Scenario.Metadata.Name == "bad" && i == 1 {
			if err := w.misbehave(ctx, job, sink); err != nil {
				return trace.End{}, err
			}
		}
	}
	return trace.End{Reason: trace.Settled, At: trace.Time(3 * time.Hour), Detail: fmt.Sprintf("pid %d", os.Getpid())}, nil
}

func (w *testWorld) misbehave(ctx context.Context, job Job, sink func(trace.Event) error) error {
	switch w.mode {
	case "dies":
		fmt.Fprint(os.Stderr, "panic: only a log line\n\ngoroutine 1 [running]:\n") // another program's, say
		os.Exit(7)
	case "panics": // Velero does
		go new(velerov1.Backup).DeepCopyInto(nil)
		select {}
	case "panics-by-itself":
		go panic("a defect of the world")
		select {}
	case "has-too-many-threads":
		debug.SetMaxThreads(1)
	case "is-told-to-quit":
		syscall.Kill(os.Getpid(), syscall.SIGQUIT)
		select {}
	case "is-told-a-wrong-position": // as of the job before
		fmt.Println(`{"id":1,"progress":{"at":"100h0m0s","steps":7}}`)
	case "ends-too-early":
		fmt.Println(`{"id":1,"end":{"reason":"settled","at":"1s"}}`)
	case "goes-on": // until it is told to end
		for ctx.Err() == nil {
			w.steps.Add(1)
			time.Sleep(progressEvery)
		}
		return ctx.Err()
	case "hangs":
		select {}
	case "hangs-hard":
		signal.Ignore(syscall.SIGQUIT)
		select {}
	case "waits":
		<-ctx.Done()
		return ctx.Err()
	case "ignores-cancel":
		for { // makes progress, so that the watchdog is content
			w.steps.Add(1)
			time.Sleep(progressEvery)
		}
	case "sends-events": // and stays where it is
		for i := range 5 {
			time.Sleep(progressEvery)
			if err := sink(trace.Event{Seq: 90 + i, At: trace.Time(time.Hour), Body: process("server", "started")}); err != nil {
				return err
			}
		}
	case "meets", "meets-and-dies", "meets-and-panics", "meets-and-panics-unknown", "meets-and-hangs": // goes on when the other job is there, too
		w.met.Done()
		w.met.Wait()
		return w.together(job, sink)
	case "refuses":
		return errors.New("this world has no restores")
	case "writes-garbage":
		fmt.Println("level=info msg=hello")
	case "floods-stdout":
		os.Stdout.WriteString(strings.Repeat("x", maxFrame+1))
	case "floods-stderr":
		for range 1000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("y", 10_000))
		}
		os.Exit(1)
	case "confuses-jobs":
		fmt.Println(`{"id":77,"begin":true}`)
	case "leaves-a-child":
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{"world-sleeper"}
		if err := cmd.Start(); err != nil {
			return err
		}
		return sink(trace.Event{Seq: 99, At: trace.Time(time.Hour), Body: process("sleeper", fmt.Sprint(cmd.Process.Pid))})
	}
	return nil
}

// together is what two jobs do that have met: the first one misbehaves, and the other one goes on until it cannot.
func (w *testWorld) together(job Job, sink func(trace.Event) error) error {
	how, bad := strings.CutPrefix(w.mode, "meets-and-")
	switch {
	case !bad:
		return nil
	case how == "dies":
		os.Exit(7)
	case job.ID == 1 && how == "panics-unknown":
		pprof.SetGoroutineLabels(context.Background())
		fallthrough
	case job.ID == 1 && how == "panics": // Velero does
		go new(velerov1.Backup).DeepCopyInto(nil)
	case job.ID == 2 && how == "hangs":
		for {
			if err := sink(trace.Event{Seq: 90, At: trace.Time(time.Hour), Body: process("server", "started")}); err != nil {
				return err
			}
			time.Sleep(progressEvery)
		}
	}
	select {}
}

func process(name, state string) trace.Body {
	return trace.Body{Process: &trace.Process{Name: name, State: state}}
}

// job returns a job of the scenario name.
func job(id int, name string) Job {
	return Job{ID: id, Seed: 1, Bound: trace.Time(5 * time.Hour), Scenario: &scenario.Scenario{
		APIVersion: scenario.APIVersion, Kind: scenario.Kind, Metadata: scenario.Metadata{Name: name},
	}}
}

// gone waits until the process has ended. Nothing can tell a process that is no child of ours, so it is polled.
func gone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		// A zombie has ended; its new parent may take its time.
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d still runs", pid)
}
