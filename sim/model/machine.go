package model

import "github.com/velosim/velosim/sim/phase"

// Spec is a machine of one object, such as a reading of sim/phase.
type Spec interface {
	Step(phase.State, phase.Input) (phase.State, phase.Effects)
	Enabled(phase.State, phase.Input) bool
}

// Machine is the model around a reading.
type Machine struct {
	Spec Spec
	// Unreduced lets the server die at any time, and not only when something that others see has just happened.
	Unreduced bool
}

// Successors calls yield with every step that can be made in s, the state that it leads to, and its effects.
func (m Machine) Successors(s State, yield func(Step, State, phase.Effects)) {
	o := s.Object
	if o.Down {
		m.apply(s, Step{Actor: Server, Input: input(phase.ServerStarted)}, yield)
		if s.Left.API > 0 {
			m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.MarkLost)}, yield)
		}
		return
	}
	if s.Left.Crashes > 0 && (m.Unreduced || s.Crash || !s.InPass) && !o.Ended() {
		m.apply(s, Step{Actor: Fault, Input: input(phase.ServerKilled)}, yield)
	}
	if !s.InPass && !o.Ended() {
		m.apply(s, Step{Actor: User, Input: input(phase.DeletionRequested)}, yield)
	}
	if o.Marked {
		m.resume(s, yield)
	}
	if o.Hung != phase.NoCall {
		m.apply(s, Step{Actor: Server, Input: input(phase.CallTimedOut), Operation: s.hung()}, yield)
		return
	}
	switch o.Phase {
	case phase.InProgress:
		if !o.Forgotten {
			m.run(s, yield)
		}
	case phase.WaitingForPluginOperations, phase.WaitingForPluginOperationsPartiallyFailed:
		m.wait(s, yield)
	default:
		for _, in := range []phase.Input{
			phase.Enqueued, phase.Dequeued, phase.DequeuedUnwatched, phase.Requeued, phase.Validated, phase.Rejected, phase.BackupUnfinished,
			phase.FinalizerSucceeded, phase.FinalizerFailed, phase.BackupNotFound,
		} {
			m.apply(s, Step{Actor: Server, Input: input(in)}, yield)
		}
		if s.Asked < s.Started {
			next := s
			next.Asked++
			m.apply(next, Step{Actor: Plugin, Input: input(phase.ExecuteHung)}, yield)
		}
		if s.Left.API > 0 {
			m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.FinalPatchLost)}, yield)
			m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.HookStatusLost)}, yield)
			m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.SlotLeaked)}, yield)
			m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.BeginUnseen)}, yield)
		}
		if s.Left.Store > 0 {
			m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.FinalUploadFailed)}, yield)
			if !o.ContentsLost {
				m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.ContentsDisappeared)}, yield)
			}
		}
	}
}

// run is the pre-actions, the item loop, and the pass after it.
func (m Machine) run(s State, yield func(Step, State, phase.Effects)) {
	if s.Object.Prepares() {
		m.prepare(s, yield)
		return
	}
	if s.Items > 0 {
		if s.Started == 0 && s.Left.Store > 0 { // what comes before the items
			m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.RunFailed)}, yield)
		}
		next := s
		next.Items--
		if s.Started < MaxOperations {
			m.apply(next, Step{Actor: Plugin, Input: input(phase.OperationStarted), Operation: s.Started + 1}, yield)
		}
		m.apply(next, Step{Actor: Plugin, Input: input(phase.ExecuteFailed)}, yield)
		m.apply(next, Step{Actor: Plugin, Input: input(phase.ExecuteHung)}, yield)
		return
	}
	if !s.InPass {
		m.deadline(s, yield)
		if s.Left.Store > 0 {
			m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.RunFailed)}, yield)
		}
	}
	m.pass(s, yield)
}

// deadline lets the deadline of the next operation pass.
func (m Machine) deadline(s State, yield func(Step, State, phase.Effects)) {
	if s.Expired < s.Started {
		s.Expired++
		yield(Step{Actor: Time, What: DeadlinePasses, Operation: s.Expired}, s, 0)
	}
}

// wait is between two passes, or in one.
func (m Machine) wait(s State, yield func(Step, State, phase.Effects)) {
	if s.Object.Unread && s.Object.Unstored {
		m.apply(s, Step{Actor: Server, Input: input(phase.OperationsMissing)}, yield)
		return
	}
	if !s.InPass {
		m.deadline(s, yield)
		if s.Left.Store > 0 {
			m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.OperationsMissing)}, yield)
			m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.LookupFailed)}, yield)
		}
	}
	m.pass(s, yield)
}

// pass goes over the operations one by one, and writes what came of it.
func (m Machine) pass(s State, yield func(Step, State, phase.Effects)) {
	if !s.InPass {
		s.InPass, s.Asked, s.Crash = true, 0, false
		yield(Step{Actor: Server, What: PollBegins}, s, 0)
		return
	}
	if s.Asked < s.Started {
		m.ask(s, yield)
		return
	}
	m.apply(s, Step{Actor: Server, Input: input(phase.PassEnded)}, yield)
	if s.Object.Phase == phase.InProgress {
		if s.Left.API > 0 {
			m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.RunPatchLost)}, yield)
		}
		if s.Left.Store > 0 {
			m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.RunUploadFailed)}, yield)
		}
		return
	}
	if s.Left.API > 0 {
		m.apply(spendAPI(s), Step{Actor: Fault, Input: input(phase.PassPatchLost)}, yield)
	}
	if s.Left.Store > 0 {
		m.apply(spendStore(s), Step{Actor: Fault, Input: input(phase.PassUploadFailed)}, yield)
	}
	if s.Left.Crashes > 0 {
		m.apply(s, Step{Actor: Fault, Input: input(phase.PassPatchLost), What: KilledBeforePatch}, yield)
	}
}

// ask is one operation's turn in a pass.
func (m Machine) ask(s State, yield func(Step, State, phase.Effects)) {
	i := s.Asked
	op := s.Ops[i]
	s.Asked++
	s.Crash = false
	if op.Memory != Running {
		yield(Step{Actor: Server, What: AlreadyEnded, Operation: i + 1}, s, 0)
		return
	}
	reply := func(in phase.Input) { m.apply(s, Step{Actor: Plugin, Input: input(in), Operation: i + 1}, yield) }
	if op.Said == Running {
		if i < s.Expired && m.Spec.Enabled(s.Object, phase.OperationTimedOut) {
			reply(phase.OperationTimedOut)
			reply(phase.CancelHung)
		} else {
			next := s
			next.Ops[i].Erred = false
			yield(Step{Actor: Plugin, What: StillRunning, Operation: i + 1}, next, 0)
		}
	}
	if op.Said != Failed {
		reply(phase.ProgressCompleted)
	}
	if op.Said != Completed {
		reply(phase.ProgressFailed)
	}
	if op.Erred && m.Spec.Enabled(s.Object, phase.RetriesExhausted) {
		reply(phase.RetriesExhausted)
	} else {
		reply(phase.ProgressErrored)
	}
	reply(phase.ProgressHung)
}

// apply makes a step that is an input, if it is enabled.
func (m Machine) apply(s State, step Step, yield func(Step, State, phase.Effects)) {
	if !m.Spec.Enabled(s.Object, step.Input.Input) {
		return
	}
	object, effects := m.Spec.Step(s.Object, step.Input.Input)
	s.Object = object
	s.Crash = effects != 0
	switch in := step.Input.Input; in {
	case phase.OperationStarted:
		s.Ops[s.Started] = Op{}
		s.Started++
	case phase.ServerKilled:
		s.Left.Crashes--
		s.forget()
		s.Crash = false
	case phase.PassEnded, phase.PassPatchLost, phase.RunPatchLost, phase.RunFailed:
		if effects.Has(phase.OperationsUploaded) {
			s.save()
		}
		s.InPass, s.Asked = false, 0
	case phase.RunUploadFailed, phase.PassUploadFailed, phase.LookupFailed:
		s.InPass, s.Asked = false, 0
	case phase.OperationsMissing:
		s.lose()
	case phase.CallTimedOut:
		if step.Operation > 0 {
			s.Ops[step.Operation-1].Memory = Failed
		}
	default:
		if step.Operation > 0 {
			s.observe(int(step.Operation-1), in)
		}
	}
	if step.What == KilledBeforePatch {
		s.Object, _ = m.Spec.Step(s.Object, phase.ServerKilled)
		s.Left.Crashes--
		s.forget()
		s.Crash = false
	}
	yield(step, s, effects)
}

// observe is what an answer makes of an operation.
func (s *State) observe(i int, in phase.Input) {
	op := &s.Ops[i]
	op.Erred = false
	switch in {
	case phase.ProgressCompleted:
		op.Memory, op.Said = Completed, Completed
	case phase.ProgressFailed:
		op.Memory, op.Said = Failed, Failed
	case phase.ProgressErrored, phase.RetriesExhausted, phase.OperationTimedOut:
		if s.failed() > 0 {
			op.Memory = Failed
		} else {
			op.Erred = true
		}
	}
}

// failed is how many operations have failed in the object's memory, and not among Ops.
func (s *State) failed() int {
	n := int(s.Object.Failed)
	for _, op := range s.ops() {
		if op.Memory == Failed {
			n--
		}
	}
	return n
}

// hung is the operation whose Progress or Cancel hangs; 0: none does.
func (s *State) hung() uint8 {
	if s.Object.Hung != phase.ProgressCall && s.Object.Hung != phase.CancelCall {
		return 0
	}
	return s.Asked
}

// lose is what a missing operations file makes of the operations: they are unknown, or have failed.
func (s *State) lose() {
	if s.Object.Lost > 0 {
		s.Started, s.Expired, s.Ops = 0, 0, [MaxOperations]Op{}
	}
	for i := range s.ops() {
		s.Ops[i].Memory, s.Ops[i].Stored = Failed, Failed
	}
}

func spendAPI(s State) State   { s.Left.API--; return s }
func spendStore(s State) State { s.Left.Store--; return s }
