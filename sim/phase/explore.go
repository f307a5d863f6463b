package phase

// Edge is a change of phase.
type Edge struct{ From, To Phase }

// String returns "From → To".
func (e Edge) String() string { return e.From.String() + " → " + e.To.String() }

// legalOperations bounds the operations that Legal explores: further ones make no further edge.
const legalOperations = 2

// Legal returns every change of phase that the reading allows, with the inputs that make it, in the order of their
// constants. It is projected from Step by exploring all that can follow Initial(k).
func (r Rules) Legal(k Kind) map[Edge][]Input { return r.legal(Initial(k)) }

// LegalWithActions is Legal where a plugin has a pre- and a post-action. More of them change phases no otherwise.
func (r Rules) LegalWithActions(k Kind) map[Edge][]Input {
	initial := Initial(k)
	initial.Actions[0] = PluginActions{ActionDue, ActionDue}
	return r.legal(initial)
}

// ActionEdge is a change of the state of a pre- or post-action.
type ActionEdge struct {
	// Pre: it is a pre-action, else a post-action.
	Pre      bool
	From, To ActionState
}

// LegalActions are the changes of state that a plugin's pre- and post-action for an object of the kind can make.
func (r Rules) LegalActions(k Kind) map[ActionEdge]bool {
	initial := Initial(k)
	initial.Actions[0] = PluginActions{ActionDue, ActionDue}
	legal := map[ActionEdge]bool{}
	r.explore(initial, 0, func(before State, _ Input, after State, _ Effects) {
		was, is := before.Actions[0], after.Actions[0]
		if was.Pre != is.Pre {
			legal[ActionEdge{true, was.Pre, is.Pre}] = true
		}
		if was.Post != is.Post {
			legal[ActionEdge{false, was.Post, is.Post}] = true
		}
	})
	return legal
}

func (r Rules) legal(initial State) map[Edge][]Input {
	made := map[Edge][inputs]bool{}
	r.explore(initial, legalOperations, func(before State, in Input, after State, _ Effects) {
		if before.Phase != after.Phase {
			edge := Edge{before.Phase, after.Phase}
			by := made[edge]
			by[in] = true
			made[edge] = by
		}
	})
	legal := make(map[Edge][]Input, len(made))
	for edge, by := range made {
		for in, makes := range by {
			if makes {
				legal[edge] = append(legal[edge], Input(in))
			}
		}
	}
	return legal
}

// Stalls reports whether the server will never take the object on: it has not ended, and no step of the server
// changes the state. A server that is down is taken to be started again. Hours later, an informer resync may still help.
func (r Rules) Stalls(s State) bool {
	if s.Down {
		s, _ = r.Step(s, ServerStarted)
	}
	if s.Ended() {
		return false
	}
	for in := range serverInputs {
		if next, _ := r.Step(s, in); next != s {
			return false
		}
	}
	return true
}

// explore visits every step that is enabled in a state reachable from the initial one with at most limit operations. Errors are
// counted up to limit, as Step counts them up to MaxOperations.
func (r Rules) explore(initial State, limit int, visit func(before State, in Input, after State, effects Effects)) {
	seen := map[State]bool{initial: true}
	for todo := []State{initial}; len(todo) > 0; {
		before := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for in := range inputs {
			if !r.Enabled(before, in) {
				continue
			}
			after, effects := r.Step(before, in)
			if after.operations() > limit {
				continue
			}
			after.Errors = min(after.Errors, uint16(limit))
			visit(before, in, after, effects)
			if !seen[after] {
				seen[after] = true
				todo = append(todo, after)
			}
		}
	}
}
