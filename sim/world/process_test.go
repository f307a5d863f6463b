package world

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// open opens the world and checks, at the end of the test, that nothing of it is left.
func open(t *testing.T, mode string, o Options) *Process {
	t.Helper()
	p, err := Open(t.Context(), executable(t, mode), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c := p.child
		p.Close()
		if c != nil {
			gone(t, c.pid)
			if _, err := os.Stat(c.dir.path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the private folder is left: %v", err)
			}
		}
	})
	return p
}

func discard(trace.Event) error { return nil }

func TestRunHandsOverEventsInOrder(t *testing.T) {
	p := open(t, "good", Options{})
	if diff := cmp.Diff(Info{World: "test", Velero: "1.18.3", Build: "good"}, p.Info()); diff != "" {
		t.Errorf("Info (-want +got):\n%s", diff)
	}
	var pids []string
	for id := range 2 { // the second job runs in the same process
		var seqs []int
		end, err := p.Run(t.Context(), job(id, "good"), func(e trace.Event) error {
			seqs = append(seqs, e.Seq)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{1, 2, 3}, seqs); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if end.Reason != trace.Settled || end.At != trace.Time(3*time.Hour) {
			t.Errorf("End = %+v", end)
		}
		pids = append(pids, end.Detail)
	}
	if pids[0] != pids[1] {
		t.Errorf("a healthy process was replaced: %v", pids)
	}
}

func TestOpenTakesARelativePath(t *testing.T) {
	path := executable(t, "good")
	t.Chdir(filepath.Dir(path))
	p, err := Open(t.Context(), "./"+filepath.Base(path), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}

func TestOpenRefuses(t *testing.T) {
	for mode, want := range map[string]string{
		"of-another-schema":   "it speaks schema 99 of the protocol, and this velosim schema 1: rebuild",
		"without-hello":       "it ended without a hello: it is no world, or a broken one; its stderr:\ncannot find my data",
		"floods-before-hello": "line 1 is longer than 64 MiB",
	} {
		t.Run(mode, func(t *testing.T) {
			p, err := Open(t.Context(), executable(t, mode), Options{})
			if err == nil {
				p.Close()
				t.Fatal("Open succeeded")
			}
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %v\nwant it to say %q", err, want)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		_, err := startChild(t.Context(), executable(t, "silent"), nil, 50*time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), "no hello within 50ms") {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("no such file", func(t *testing.T) {
		if _, err := Open(t.Context(), "/no/such/world", Options{}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error = %v", err)
		}
	})
}

func TestRunOfABadJob(t *testing.T) {
	for _, tt := range []struct {
		mode, reason string
		detail       []string      // what the End's Detail says
		at           time.Duration // of the last event; a slow world says in between that it is further
	}{
		{"dies", trace.Environment, []string{"exit status 7", "only a log line"}, time.Hour},
		{"panics", trace.Panicked, []string{"panic: runtime error: invalid memory address", "\n\ngoroutine ", "(*Backup).DeepCopyInto("}, time.Hour},
		{"panics-by-itself", trace.Environment, []string{"nothing of Velero", "panic: a defect of the world\n\ngoroutine "}, time.Hour},
		{"has-too-many-threads", trace.Environment, []string{"nothing of Velero", "fatal error: thread exhaustion"}, time.Hour},
		{"is-told-to-quit", trace.Environment, []string{"nothing of Velero", "SIGQUIT: quit"}, time.Hour},
		{"hangs", trace.Stalled, []string{"stood still at 2h0m0s, step 2", "SIGQUIT: quit", "misbehave"}, 2 * time.Hour},
		{"hangs-hard", trace.Stalled, []string{"stood still at 2h0m0s, step 2"}, 2 * time.Hour},
		{"writes-garbage", trace.Environment, []string{"stdout is not the protocol: line ", " is not a frame", "level=info"}, time.Hour},
		{"floods-stdout", trace.Environment, []string{" is longer than 64 MiB"}, time.Hour},
		{"floods-stderr", trace.Environment, []string{"exit status 1", "yyy"}, time.Hour},
		{"ends-too-early", trace.Environment, []string{"the world ended job 1 at 1s, before its last event at 1h0m0s"}, time.Hour},
		{"confuses-jobs", trace.Environment, []string{"sent a begin frame for job 77, which does not run"}, time.Hour},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			stall := time.Minute
			if tt.reason == trace.Stalled {
				stall = 3 * progressEvery
			}
			p := open(t, tt.mode, Options{Stall: stall})
			pid := p.child.pid
			var events int
			end, err := p.Run(t.Context(), job(1, "bad"), func(trace.Event) error {
				events++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if end.Reason != tt.reason || time.Duration(end.At) < tt.at || events != 2 {
				t.Errorf("after %d events: %s at %v: %.300s", events, end.Reason, time.Duration(end.At), end.Detail)
			}
			for _, want := range tt.detail {
				if !strings.Contains(end.Detail, want) {
					t.Errorf("Detail = %.2000s\nwant it to say %q", end.Detail, want)
				}
			}
			if len(end.Detail) > maxStderr+1000 {
				t.Errorf("Detail has %d bytes", len(end.Detail))
			}
			gone(t, pid)

			end, err = p.Run(t.Context(), job(2, "good"), discard)
			if err != nil || end.Reason != trace.Settled {
				t.Errorf("the next job: %+v, %v", end, err)
			}
		})
	}
}

func TestRunReturnsTheWorldsError(t *testing.T) {
	p := open(t, "refuses", Options{})
	end, err := p.Run(t.Context(), job(1, "bad"), discard)
	if err == nil || err.Error() != "this world has no restores" || end.Reason != trace.Environment {
		t.Errorf("Run = %+v, %v", end, err)
	}
}

// The error of a job comes after its events, and its End with them.
func TestTheEndOfARefusedJobIsAfterItsEvents(t *testing.T) {
	p := open(t, "refuses", Options{})
	if end, _ := p.Run(t.Context(), job(1, "bad"), discard); time.Duration(end.At) < time.Hour {
		t.Errorf("End = %+v", end)
	}
}

func TestTheWorldsEndIsWhenItSays(t *testing.T) {
	p := open(t, "is-told-a-wrong-position", Options{})
	end, err := p.Run(t.Context(), job(1, "bad"), discard)
	if err != nil || end.Reason != trace.Settled || time.Duration(end.At) != 3*time.Hour {
		t.Errorf("Run = %+v, %v", end, err)
	}
}

func TestRunReturnsTheSinksError(t *testing.T) {
	p := open(t, "good", Options{})
	full := errors.New("disk full")
	if _, err := p.Run(t.Context(), job(1, "good"), func(trace.Event) error { return full }); !errors.Is(err, full) {
		t.Errorf("error = %v", err)
	}
	if end, err := p.Run(t.Context(), job(2, "good"), discard); err != nil || end.Reason != trace.Settled {
		t.Errorf("the next job: %+v, %v", end, err)
	}
}

func TestCancelEndsTheJob(t *testing.T) {
	for mode, want := range map[string]string{
		"waits":          "cancelled",
		"ignores-cancel": "interrupted; the world did not end its job within 2s",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := open(t, mode, Options{})
			ctx, cancel := context.WithCancel(t.Context())
			end, err := p.Run(ctx, job(1, "bad"), func(e trace.Event) error {
				if e.Seq == 2 {
					cancel()
				}
				return nil
			})
			if err != nil || end.Reason != trace.Environment || end.Detail != want {
				t.Errorf("Run = %+v, %v", end, err)
			}
			if end, err := p.Run(t.Context(), job(2, "good"), discard); err != nil || end.Reason != trace.Settled {
				t.Errorf("the next job: %+v, %v", end, err)
			}
		})
	}
}

func TestTheEndOfOpensContextEndsTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Open(ctx, executable(t, "ignores-the-end-of-stdin"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	gone(t, p.child.pid)
	if _, err := p.Run(t.Context(), job(1, "good"), discard); !errors.Is(err, errClosed) {
		t.Errorf("Run after it: %v", err)
	}
}

func TestCloseInTheMiddleOfAJob(t *testing.T) {
	for range 5 { // Run may or may not see the end of stdout
		p := open(t, "hangs", Options{Stall: 10 * time.Second})
		end, err := p.Run(t.Context(), job(1, "bad"), func(e trace.Event) error {
			if e.Seq == 2 {
				go p.Close()
			}
			return nil
		})
		if err != nil || end.Reason != trace.Environment {
			t.Errorf("Run = %+v, %v", end, err)
		}
	}
}

func TestNothingIsLeftOfWhatTheWorldStarted(t *testing.T) {
	p := open(t, "leaves-a-child", Options{})
	var grandchild int
	_, err := p.Run(t.Context(), job(1, "bad"), func(e trace.Event) error {
		if e.Process.Name == "sleeper" {
			grandchild, _ = strconv.Atoi(e.Process.State)
		}
		return nil
	})
	if err != nil || grandchild == 0 {
		t.Fatalf("no grandchild: %v", err)
	}
	p.Close()
	gone(t, grandchild)
}

func TestEventsAreSignsOfLife(t *testing.T) {
	p := open(t, "sends-events", Options{Stall: 3 * progressEvery})
	if end, err := p.Run(t.Context(), job(1, "bad"), discard); err != nil || end.Reason != trace.Settled {
		t.Errorf("Run = %+v, %v", end, err)
	}
}

// A slow terminal or disk must not look like a run that stands still.
func TestASlowSinkIsNoStall(t *testing.T) {
	const stall = time.Second
	p := open(t, "good", Options{Stall: stall})
	end, err := p.Run(t.Context(), job(1, "good"), func(e trace.Event) error {
		if e.Seq == 1 {
			<-time.After(stall + 100*time.Millisecond)
		}
		return nil
	})
	if err != nil || end.Reason != trace.Settled {
		t.Errorf("Run = %+v, %v", end, err)
	}
}
