package model

import (
	"fmt"

	"github.com/velosim/velosim/sim/phase"
)

// Actor is who makes a step.
type Actor uint8

// The actors. A deadline passes in the end: the steps of time are fair. What plugins answer, and which of its steps the server
// makes, is not: the worst may happen every time. Users and faults owe nothing at all.
const (
	Server Actor = iota
	Time
	Plugin
	User
	Fault
)

// leads reports whether a run can rely on the actor to go on.
func (a Actor) leads() bool { return a != User && a != Fault }

// Step is one step of the model.
type Step struct {
	Actor Actor
	// Input is what happens to the object, if Some does.
	Input Input
	// Operation that the step is about, from 1; 0: none.
	Operation uint8
	// What happens, where no input says it.
	What What
}

// Input is a phase.Input, or none.
type Input struct {
	phase.Input
	Some bool
}

func input(in phase.Input) Input { return Input{in, true} }

// What are the steps that the machine of sim/phase knows nothing of.
type What uint8

// The steps without an input, and kills between two writes.
const (
	NoWhat What = iota
	PollBegins
	StillRunning
	AlreadyEnded
	DeadlinePasses
	KilledBeforePatch
)

// String says what happens.
func (s Step) String() string {
	text := ""
	switch {
	case s.What == KilledBeforePatch:
		text = "the server was killed between the upload and the patch at the end of a pass"
	case s.Input.Some:
		text = s.Input.String()
	case s.What == PollBegins:
		text = "a pass over the operations began"
	case s.What == StillRunning:
		text = "Progress reported that it goes on"
	case s.What == AlreadyEnded:
		text = "nothing to ask"
	case s.What == DeadlinePasses:
		text = "the deadline passed"
	}
	if s.Operation > 0 {
		return fmt.Sprintf("operation %d: %s", s.Operation, text)
	}
	return text
}
