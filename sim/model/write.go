package model

import (
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// atWrite is what a fault at a write does that may be one of the subject's. Latency changes nothing that could not be without it, nor does a
// reply that is lost, as what is tried again is then so already, but for the patches to InProgress and of the hooks' counts, which are not tried again.
func (s subject) atWrite(f scenario.Fault) (c consequence) {
	if f.Do.Kill != nil {
		return s.killedAtWrite(f)
	}
	w := *f.At.Write
	if f.Do.LoseReply && (w.Object == "" || w.Object == s.object) && leads(w, []phase.Phase{phase.New, phase.ReadyToStart}, []phase.Phase{phase.InProgress}) {
		return consequence{inputs: []phase.Input{phase.BeginUnseen}, surely: w.Phase != "" && w.From == "" && f.At.Nth <= 1}
	}
	if w.Object != "" && w.Object != s.object {
		return c
	}
	may, surely := refusedEnough(f, 1, 0)
	// The counts of hooks are the first that a restore's finalizer patches, and the only one before the final phase.
	if s.kind == phase.Restore && w.Phase == "" && leads(w, finalizing(), finalizing()) && (may && f.Do.Refuse != "" || f.Do.LoseReply) {
		c.inputs = append(c.inputs, phase.HookStatusLost)
		if c.surely = (surely || f.Do.LoseReply) && w.From != "" && f.At.Nth <= 1; c.surely {
			return c
		}
	}
	if f.Do.Refuse == "" {
		return c
	}
	runMay, runSurely := s.runPatchRefused(f)
	running := []phase.Phase{phase.InProgress}
	if runMay && leads(w, running, append(append(waiting(), finalizing()...), phase.Failed, phase.FailedPreBackupActions, phase.FailedPreRestoreActions)) {
		c.inputs = append(c.inputs, phase.RunPatchLost)
		c.surely = runSurely && w.From == phase.InProgress.String() && w.Phase != phase.Failed.String()
	}
	if may && leads(w, waiting(), append(waiting(), append(finalizing(), phase.PartiallyFailed)...)) {
		c.inputs = append(c.inputs, phase.PassPatchLost)
		c.surely = surely && slices.Contains(waiting(), phaseNamed(w.From)) && w.Phase != ""
	}
	if may && leads(w, finalizing(), []phase.Phase{phase.Completed, phase.PartiallyFailed}) {
		c.inputs = append(c.inputs, phase.FinalPatchLost)
	}
	if may && leads(w, running, []phase.Phase{phase.Failed}) {
		c.inputs = append(c.inputs, phase.MarkLost)
	}
	return c
}

// leads reports whether a write may be one from one of some phases to one of others.
func leads(w scenario.Write, from, to []phase.Phase) bool {
	in := func(name string, phases []phase.Phase) bool {
		return name == "" || slices.ContainsFunc(phases, func(p phase.Phase) bool { return p.String() == name })
	}
	return in(w.From, from) && in(w.Phase, to) && w.Verb != "create" && w.Verb != "delete"
}

// killedAtWrite is what a kill at a write of the subject does.
func (s subject) killedAtWrite(f scenario.Fault) consequence {
	w := *f.At.Write
	if f.At.After && w.Phase != "" {
		f.At.Phase = w.Phase
		c := atPhase(f)
		c.surely = c.surely && w.From == ""
		return c
	}
	c := consequence{inputs: killed()}
	if from := phaseNamed(w.From); w.From != "" && f.At.Delay.Duration == 0 && !f.At.After {
		c.in = []phase.Phase{from}
	}
	return c
}

// How Velero repeats the patches that end a run: RetryOnRetriableMaxBackOff in pkg/client/retry.go. The pauses grow until one would be
// longer than the resource timeout; after that, it waits once more, and gives up.
const (
	firstPause  = 10 * time.Millisecond
	pauseFactor = 5
)

// runPatchRefused reports whether all tries of the patch that ends a run may be refused, and whether they surely are.
func (s subject) runPatchRefused(f scenario.Fault) (may, surely bool) {
	tries, last := 1, time.Duration(0)
	for pause := firstPause; pause*pauseFactor <= s.Server.ResourceTimeout.Duration; pause *= pauseFactor {
		last += pause
		tries++
	}
	return refusedEnough(f, tries, last)
}

// clientTries is how often client-go sends a request that is refused for a reason that asks it to try again: client-go's rest/request.go.
const clientTries = 11

// refusedEnough reports whether a fault may refuse so many tries, of which the last comes so long after the first, and whether it surely does.
func refusedEnough(f scenario.Fault, tries int, last time.Duration) (may, surely bool) {
	repeated := f.Do.Refuse == "TooManyRequests" || f.Do.Refuse == "ServerTimeout"
	if repeated {
		tries *= clientTries
	}
	if f.For.Duration > 0 {
		return f.For.Duration > last, !repeated && f.For.Duration > 2*last
	}
	enough := max(f.Times, 1) >= tries
	return enough, enough
}

// writes are the objects in whose runs the server may make the write.
func (s subject) writes(object string) []string {
	kind, name, _ := strings.Cut(object, "/")
	return slices.DeleteFunc(s.Objects(), func(o string) bool {
		switch kind {
		case "backup", "restore":
			return o != object
		case "deletion":
			return subjectOf(s.Scenario, o).backup != "backup/"+name
		case "", "schedule", "location":
			return false
		}
		return kindOf(o) != phase.Restore && !s.Expect.Of(scenario.Item(object)) // an item, which a plugin writes where it is expected to change
	})
}

// unwritten counts items that are not created, or of which the restore does not know, as its errors. Where other writes are struck too, or
// several restores are, it may be another's.
func (c *casting) unwritten() {
	for _, f := range c.Faults {
		w := f.At.Write
		if w == nil || f.Do.Refuse == "" && !f.Do.LoseReply || strings.Count(w.Object, "/") == 1 {
			continue
		}
		may, surely := true, false // of an item that was created after all, the informers may tell in time
		if f.Do.Refuse != "" {
			may, surely = refusedEnough(f, 1, 0)
		}
		switch {
		case !may:
		case surely && w.Object != "" && len(c.Restores) == 1 && !c.tangled:
			for i := range c.casts {
				c.casts[i].fails = true
			}
		default:
			for _, cast := range slices.Clone(c.casts) {
				cast.fails = true
				c.add(cast)
			}
		}
	}
}
