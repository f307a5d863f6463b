package world_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// TestLongestFirst: what is expected to stay takes all of its bound; what ends, at most that.
func TestLongestFirst(t *testing.T) {
	ends := scenario.Outcome{Phase: "Completed"}
	stays := scenario.Outcome{Phase: "Finalizing"}
	job := func(id int, bound trace.Time, e scenario.Expect) world.Job {
		return world.Job{ID: id, Bound: bound, Scenario: &scenario.Scenario{Expect: e}}
	}
	jobs := []world.Job{
		job(1, 10, scenario.Expect{Outcomes: scenario.Outcomes{Outcome: ends}}),
		job(2, 90, scenario.Expect{}),
		job(3, 20, scenario.Expect{Outcomes: scenario.Outcomes{Outcome: ends, Objects: map[string]scenario.Outcome{"backup/b": stays}}}),
		job(4, 30, scenario.Expect{Outcomes: scenario.Outcomes{Outcome: ends}, Deviation: &scenario.Deviation{Outcomes: scenario.Outcomes{Outcome: stays}}}),
	}
	world.LongestFirst(jobs)
	var order []int
	for _, j := range jobs {
		order = append(order, j.ID)
	}
	if diff := cmp.Diff([]int{4, 3, 2, 1}, order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
