package model

// inTheEnd is in the names of the properties of liveness.
const inTheEnd = " in the end"

// liveness finds the cycles in which an object can stay for ever without a fault: those of plugin replies and of polls that
// change nothing are none, as a fair step, of the server or of time, leads out of them in the end.
//
// The components are those of the graph without faults (Tarjan 1972). One that has no final state, and that no fair step
// leaves, is a cycle without an end.
func (x *explorer) liveness() {
	component := x.components()
	size := make([]int, len(x.states))
	leaves := make([]bool, len(x.states)) // a fair step leaves the component
	cycles := make([]bool, len(x.states))
	for i := range x.states {
		c := component[i]
		size[c]++
		for _, e := range x.out(int32(i)) {
			if component[e.to] == c {
				cycles[c] = true
			} else if e.fair {
				leaves[c] = true
			}
		}
	}
	for i, s := range x.states {
		if c := component[i]; cycles[c] && !leaves[c] && !s.Object.Phase.Final() {
			p := stuck(s)
			p.name += inTheEnd
			x.found(p, int32(i), nil)
		}
	}
}

// out are the edges of a state.
func (x *explorer) out(i int32) []edge {
	end := int32(len(x.edges))
	if int(i)+1 < len(x.first) {
		end = x.first[i+1]
	}
	return x.edges[x.first[i]:end]
}

// components returns the strongly connected component of each state, by number.
func (x *explorer) components() []int32 {
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
				to := out[f.next].to
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
	return component
}
