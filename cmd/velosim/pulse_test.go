package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// TestPulse: what goes on is said when nothing was printed for a while.
func TestPulse(t *testing.T) {
	events := []trace.Event{
		{At: sec(1), Body: trace.Body{Process: &trace.Process{Name: "server", State: "started"}}},
		{At: sec(2), Object: "backup/b", Body: trace.Body{Created: &trace.Created{}}},
		{At: sec(3), Object: "backup/b", Body: trace.Body{Phase: &trace.Phase{To: "InProgress"}}},
		{At: sec(4), Object: "backup/b", Body: trace.Body{Call: &trace.Call{ID: 1, Plugin: "example.io/mover", Method: "Progress", Operation: "op\x1b-1"}}},
	}
	const waits = `: backup/b waits for a reply to example.io/mover Progress op\u001b-1, since 4s; the run ends at 1m0s at the latest`
	for name, tt := range map[string]struct {
		terminal bool
		jobs     int
		columns  int
		want     string
	}{
		"alone, on a pipe":     {false, 1, 0, "10s: the control plane starts\nprinted\n17s" + waits + "\n27s" + waits + "\n"},
		"several, on a pipe":   {false, 3, 0, "10s: 1 of 3 runs ended; running: a, b\nprinted\n35s: 1 of 3 runs ended; running: a, b\n45s: 1 of 3 runs ended; running: a, b\n"},
		"alone, on a terminal": {true, 1, 0, "\r10s: the control plane starts\r" + strings.Repeat(" ", 29) + "\rprinted\n\r17s" + waits},
		"a narrow terminal":    {true, 1, 12, "\r10s: the c…\r" + strings.Repeat(" ", 11) + "\rprinted\n\r17s: backu…"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			var now time.Time
			c := &cli{drawn: &out, terminal: tt.terminal, now: func() time.Time { return now }}
			p := newPulse(c, tt.jobs)
			p.line.columns = tt.columns
			a, b := &recorder{header: trace.Header{Scenario: "a"}, bound: sec(60), now: c.now}, &recorder{header: trace.Header{Scenario: "b"}}
			beats := func(seconds ...int) {
				for _, s := range seconds {
					now = time.Time{}.Add(time.Duration(s) * time.Second)
					p.beat()
				}
			}
			p.follow(a)
			if tt.jobs > 1 {
				p.follow(&recorder{})()
				p.follow(b)
			}
			if tt.terminal {
				beats(10)
			} else {
				beats(9, 10, 11, 19)
			}
			for _, e := range events {
				if err := a.event(e); err != nil {
					t.Fatal(err)
				}
			}
			now = time.Time{}.Add(25 * time.Second)
			fmt.Fprintln(p.between(&out), "printed")
			if tt.terminal {
				beats(26)
			} else {
				beats(30, 34, 35, 44, 45)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func sec(n int) trace.Time { return trace.Time(n) * trace.Time(time.Second) }
