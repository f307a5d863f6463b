package world

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/velosim/velosim/sim/scenario"
)

func TestShardIsRead(t *testing.T) {
	for text, want := range map[string]Shard{"1/1": {1, 1}, "2/4": {2, 4}, "12/12": {12, 12}, "": {}, "0/3": {}, "4/3": {}, "x": {}, "1/": {}, "/2": {}, "-1/2": {}, "1/2/3": {}, "1.5/2": {}, "01/2": {}, " 1/2": {}} {
		var s Shard
		if err := s.Set(text); (err == nil) != (want != Shard{}) || s != want {
			t.Errorf("%q is %+v, %v; want %+v", text, s, err, want)
		}
	}
}

// What was recorded to take no time is dealt out, too.
func TestShardsOfNoWeight(t *testing.T) {
	var jobs []Job
	for i := range 8 {
		jobs = append(jobs, Job{ID: i + 1, Scenario: &scenario.Scenario{Metadata: scenario.Metadata{Name: fmt.Sprint(i)}}})
	}
	for i := range 4 {
		if part := (Shard{i + 1, 4}).Part(jobs, func(Job) float64 { return 0 }); len(part) != 2 {
			t.Errorf("shard %d has %d of 8 jobs", i+1, len(part))
		}
	}
}

// Each job is in one shard, whatever the order in which a machine lists them, and no shard has more than the mean and a job beyond it.
func TestShardsArePartsOfAWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.Float64Range(0, 100), 0, 40).Draw(t, "weights")
		of := rapid.IntRange(1, 12).Draw(t, "of")
		var jobs []Job
		weight := map[string]float64{}
		total, heaviest := 0.0, 0.0
		for i, w := range weights {
			s := &scenario.Scenario{Metadata: scenario.Metadata{Name: fmt.Sprint(i % 7)}}
			jobs = append(jobs, Job{ID: i + 1, Scenario: s, Seed: int64(i / 7)})
			weight[fmt.Sprint(s.Metadata.Name, i/7)] = w
			total, heaviest = total+w, max(heaviest, w)
		}
		of2 := func(j Job) float64 { return weight[fmt.Sprint(j.Scenario.Metadata.Name, j.Seed)] }
		seen := map[int]int{}
		other := slices.Clone(jobs)
		slices.Reverse(other)
		for i := range of {
			part := Shard{i + 1, of}.Part(jobs, of2)
			load := 0.0
			ids := map[int]bool{}
			for _, j := range part {
				seen[j.ID]++
				load += of2(j)
				ids[j.ID] = true
			}
			if load > total/float64(of)+heaviest+1e-6 {
				t.Errorf("shard %d of %d has %v of %v, the heaviest job %v", i+1, of, load, total, heaviest)
			}
			for _, j := range (Shard{i + 1, of}).Part(other, of2) {
				if !ids[j.ID] {
					t.Errorf("job %d is in shard %d where they are listed in reverse only", j.ID, i+1)
				}
			}
			if !slices.IsSortedFunc(part, func(a, b Job) int { return a.ID - b.ID }) {
				t.Error("the order of the jobs is another one")
			}
		}
		for _, j := range jobs {
			if seen[j.ID] != 1 {
				t.Errorf("job %d is in %d shards", j.ID, seen[j.ID])
			}
		}
	})
}
