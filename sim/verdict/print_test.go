package verdict

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestPrint(t *testing.T) {
	deviating := expecting(scenario.Outcome{Phase: "PartiallyFailed"})
	deviating.Expect.Deviation = deviation(hangs, scenario.Outcome{Phase: "WaitingForPluginOperations"})
	panicked := waiting().ends(trace.Panicked)
	panicked.End.Detail = "panic: assignment to entry in nil map\n\ngoroutine 7 [running]:\nmain.main()"
	faulty := expecting(scenario.Outcome{Phase: "Completed"})
	faulty.Faults = []scenario.Fault{{ID: "fault-1"}}
	scheduled := expecting(scenario.Outcome{Phase: "Completed"})
	daily(scheduled)
	scheduled.Schedules[0].Backups = 1
	for _, c := range []struct {
		golden   string
		scenario *scenario.Scenario
		trace    trace.Trace
	}{
		{"pass", expecting(scenario.Outcome{Phase: "Completed"}), healthy().rests(1, 0).settles()},
		{"fail", expecting(scenario.Outcome{Phase: "Completed", Cancelled: &[]string{}}), timesOut().rests(0, 1).settles()},
		{"hang", expecting(scenario.Outcome{Phase: "PartiallyFailed"}), waiting().wait(time.Hour).calling(progress, mover1).
			wait(2 * time.Hour).rest(trace.Rest{Copy: "api", Attempted: 1}).ends(trace.Bound)},
		{"panic", expecting(scenario.Outcome{Phase: "Completed"}), panicked},
		{"deviation", deviating, waiting().calling(progress, mover1).wait(5 * time.Hour).
			rest(trace.Rest{Copy: "api", Attempted: 1}).ends(trace.Bound)},
		{"inconclusive", faulty, healthy().rests(1, 0).settles()},
		{"deleted", scheduled, begins("").schedules("daily", "backup/daily-1", "daily-20260101010000").completes().deleted().settles()},
	} {
		t.Run(c.golden, func(t *testing.T) {
			var got bytes.Buffer
			if err := unpredicted(c.scenario, c.trace).Print(&got); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", c.golden+".golden")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type closedPipe struct{}

var errClosed = errors.New("closed pipe")

func (closedPipe) Write([]byte) (int, error) { return 0, errClosed }

func TestPrintReturnsTheWritersError(t *testing.T) {
	if err := (Verdict{}).Print(closedPipe{}); !errors.Is(err, errClosed) {
		t.Errorf("got %v, want %v", err, errClosed)
	}
}
