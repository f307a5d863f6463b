package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Shard is one of so many parts of a list of jobs: 2/4.
type Shard struct {
	// Index from 1 to Of.
	Index, Of int
}

// String is what Set reads.
func (s *Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Set reads "i/n". With String and Type it makes a Shard the value of a flag.
func (s *Shard) Set(text string) error {
	index, of, ok := strings.Cut(text, "/")
	var read Shard
	for _, part := range []struct {
		text string
		n    *int
	}{{index, &read.Index}, {of, &read.Of}} {
		if n, err := fmt.Sscanf(part.text, "%d", part.n); n != 1 || err != nil || fmt.Sprint(*part.n) != part.text {
			ok = false
		}
	}
	if !ok || read.Of < 1 || read.Index < 1 || read.Index > read.Of {
		return fmt.Errorf("it is written i/n, such as 2/4, with i from 1 to n")
	}
	*s = read
	return nil
}

// Type of the flag's value.
func (s *Shard) Type() string { return "i/n" }

// Part is the shard's part of the jobs, in their order; the zero Shard has all. It depends on nothing but the jobs' scenarios, seeds and weights,
// which are how long each may take: the heaviest come first, each to the shard that has least so far. So each job is in exactly one of the
// shards, whichever machine asks.
func (s Shard) Part(jobs []Job, weight func(Job) float64) []Job {
	if s.Of <= 1 {
		return jobs
	}
	order := slices.Clone(jobs)
	slices.SortStableFunc(order, func(a, b Job) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), strings.Compare(a.Scenario.Metadata.Name, b.Scenario.Metadata.Name), cmp.Compare(a.Seed, b.Seed))
	})
	load, count, mine := make([]float64, s.Of), make([]int, s.Of), map[int]bool{}
	for _, job := range order {
		least := 0
		for i := range load {
			if cmp.Or(cmp.Compare(load[i], load[least]), cmp.Compare(count[i], count[least])) < 0 { // by count, for what weighs nothing
				least = i
			}
		}
		load[least] += weight(job)
		if count[least]++; least == s.Index-1 {
			mine[job.ID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return !mine[j.ID] })
}
