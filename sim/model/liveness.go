package model

import (
	"context"
	"slices"
)

// inTheEnd is in the names of the properties of liveness.
const inTheEnd = " in the end"

// liveness finds the cycles in which an object can stay for ever without a fault. A deadline passes in the end, so that no
// cycle leads through a state in which one may. All else is up to an adversary, such as what plugins reply, or which of two
// steps the server makes: a cycle that is left has a way back no more, and any other is one without an end.
//
// The cycles are in the strongly connected components (Tarjan 1972) of the graph without faults and without those states.
func (x *explorer) liveness(ctx context.Context) error {
	component, err := x.components(ctx)
	if err != nil {
		return err
	}
	size := make([]int32, len(x.states))
	for _, c := range component {
		size[c]++
	}
	for i, s := range x.states {
		itself := slices.Contains(x.out(int32(i)), int32(i))
		if (size[component[i]] > 1 || itself) && !ended(s.Object) {
			p := stuck(s)
			p.name += inTheEnd
			x.found(p, int32(i), nil)
		}
	}
	return nil
}

// out are where the edges of a state lead.
func (x *explorer) out(i int32) []int32 {
	end := int32(len(x.edges))
	if int(i)+1 < len(x.first) {
		end = x.first[i+1]
	}
	return x.edges[x.first[i]:end]
}

// components returns the strongly connected component of each state, by number.
func (x *explorer) components(ctx context.Context) ([]int32, error) {
	n := len(x.states)
	component, low, number := make([]int32, n), make([]int32, n), make([]int32, n)
	for i := range component {
		component[i] = -1
	}
	var stack []int32
	type frame struct {
		state int32
		next  int
	}
	var frames []frame
	numbered, components := int32(0), int32(0)
	for root := range n {
		if number[root] != 0 {
			continue
		}
		if err := ctx.Err(); root&1023 == 0 && err != nil {
			return nil, err
		}
		frames = append(frames, frame{state: int32(root)})
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			s := f.state
			if f.next == 0 {
				numbered++
				number[s], low[s] = numbered, numbered
				stack = append(stack, s)
			}
			out := x.out(s)
			if f.next < len(out) {
				to := out[f.next]
				f.next++
				switch {
				case number[to] == 0:
					frames = append(frames, frame{state: to})
				case component[to] < 0:
					low[s] = min(low[s], number[to])
				}
				continue
			}
			f.next++ // visited, also if it has no edges
			if low[s] == number[s] {
				for {
					top := stack[len(stack)-1]
					stack = stack[:len(stack)-1]
					component[top] = components
					if top == s {
						break
					}
				}
				components++
			}
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				parent := frames[len(frames)-1].state
				low[parent] = min(low[parent], low[s])
			}
		}
	}
	return component, nil
}
