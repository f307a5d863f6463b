package world

import (
	"cmp"
	"maps"
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// LongestFirst sorts jobs that are run in real time by how long they may take, the longest first, lest all wait for one in the end. One in
// which something is expected to stay where it is takes its whole bound; others end when all has ended.
func LongestFirst(jobs []Job) {
	slices.SortStableFunc(jobs, func(a, b Job) int {
		if stays := a.stays(); stays != b.stays() {
			if stays {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Bound, a.Bound)
	})
}

// stays reports whether an object is expected to stay in a phase that is not final.
func (j Job) stays() bool {
	all := []scenario.Outcomes{j.Scenario.Expect.Outcomes}
	if d := j.Scenario.Expect.Deviation; d != nil {
		all = append(all, d.Outcomes)
	}
	return slices.ContainsFunc(all, func(o scenario.Outcomes) bool {
		return slices.ContainsFunc(slices.AppendSeq([]scenario.Outcome{o.Outcome}, maps.Values(o.Objects)), func(o scenario.Outcome) bool {
			p, err := phase.Parse(o.Phase)
			return err == nil && o.Phase != "" && !p.Final()
		})
	})
}
