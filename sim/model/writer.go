package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/velosim/velosim/sim/phase"
)

// writer follows a path and notes what a scenario needs for it.
type writer struct {
	rules phase.Rules
	kind  phase.Kind
	state State

	ops    []script
	failed int  // calls of Execute
	hangs  bool // one of them does
	slow   bool // they take so long that operations time out before the first pass
	faults []string
	// errs are the pre- and post-actions that fail.
	errs [phase.MaxActions]struct{ pre, post bool }
	// timeout of the operations; 0: the default.
	timeout time.Duration

	passes             int // that have begun; the first one is in InProgress
	entered            int // the pass that the phase was written in
	reads, puts, metas int // of the operations file; and of the metadata
}

// script is what an operation does.
type script struct {
	ends                  time.Duration // its age then
	end, progress, cancel string
	again                 bool // Execute hangs when the item is backed up again
}

// timeline is what the operation reports, and when.
func (s script) timeline() string {
	switch {
	case s.end == "":
		return "{at: 0s}"
	case s.ends == 0:
		return "{at: 0s, " + s.end + "}"
	}
	return fmt.Sprintf("{at: 0s}, {at: %s, %s}", s.ends, s.end)
}

var (
	errNoFault = errors.New("no scenario can say when this strikes")
	errNoPoint = errors.New("a scenario has no point there")
)

// step notes what the step needs, and makes it.
func (w *writer) step(s Step) error {
	if err := w.note(s); err != nil {
		return err
	}
	next, made, ok := Machine{Spec: w.rules, Unreduced: true}.follow(w.state, s)
	if !ok {
		return errors.New("it cannot be made in this reading")
	}
	if s.What == PollBegins {
		if w.state.Object.Unread {
			w.reads++
		}
		w.passes++
	}
	if made.Has(phase.OperationsUploaded) {
		w.puts++
	}
	if made.Has(phase.MetadataUploaded) {
		w.metas++
	}
	if next.Object.Phase != w.state.Object.Phase {
		w.entered = w.passes
	}
	w.state = next
	return nil
}

func (w *writer) note(s Step) error {
	if s.What == KilledBeforePatch {
		w.fault(fmt.Sprintf("store: {verb: put, key: %s}, nth: %d, after: true", w.file(), w.puts+1), "kill: {restartAfter: 10s}")
		return nil
	}
	if !s.Input.Some {
		return nil
	}
	pass := w.passes - 1
	at := time.Duration(pass-1)*poll + time.Second // the first poll comes some seconds after the end of InProgress
	switch in := s.Input.Input; in {
	case phase.OperationStarted:
		w.ops = append(w.ops, script{})
	case phase.ExecuteFailed:
		w.failed++
	case phase.ExecuteHung:
		if w.state.Object.Phase == phase.InProgress {
			w.hangs = true
		} else {
			w.ops[0].again = true
		}
	case phase.ProgressCompleted:
		w.op(s).ends, w.op(s).end = max(at, 0), "completed: true"
	case phase.ProgressFailed:
		w.op(s).ends, w.op(s).end = max(at, 0), "failed: no space left"
	case phase.ProgressErrored:
		w.op(s).progress = fmt.Sprintf("{error: unavailable, nth: %d, times: 1}", pass+1)
	case phase.ProgressHung:
		w.op(s).progress = fmt.Sprintf("{hang: true, nth: %d}", pass+1)
	case phase.CancelHung:
		w.op(s).cancel = "{hang: true}"
		w.expires(pass, at)
	case phase.OperationTimedOut:
		w.expires(pass, at)
	case phase.ServerKilled:
		return w.kill()
	case phase.PassUploadFailed:
		w.fault(fmt.Sprintf("store: {verb: put, key: %s}, nth: %d", w.file(), w.puts+1), "fail: access denied")
	case phase.OperationsMissing:
		w.fault(fmt.Sprintf("store: {verb: exists, key: %s}, nth: %d", w.file(), w.reads+1), "lose: {}")
	case phase.RunUploadFailed:
		w.fault(fmt.Sprintf("store: {verb: put, key: %s}", w.file()), "fail: access denied")
	case phase.ContentsDisappeared:
		w.fault("store: {verb: get, key: backups/backup-1/backup-1.tar.gz}", "lose: {}")
	case phase.FinalUploadFailed:
		w.fault(fmt.Sprintf("store: {verb: put, key: backups/backup-1/velero-backup.json}, nth: %d", w.metas+1), "fail: access denied")
	case phase.BeginUnseen:
		w.fault("write: {phase: InProgress}", "loseReply: true")
	case phase.PreActionFailed, phase.PostActionFailed:
		return w.actionFails(in)
	case phase.RunFailed:
		switch {
		case s.Actor == Server: // by a pre-action
			return nil
		case w.kind == phase.Restore || w.state.Object.Prepares():
			return errNoFault
		}
		w.fault("store: {verb: put, key: backups/backup-1/velero-backup.json}", "fail: access denied")
	case phase.PassPatchLost, phase.RunPatchLost, phase.FinalPatchLost, phase.HookStatusLost, phase.MarkLost, phase.LookupFailed, phase.FinalizerFailed, phase.BackupNotFound, phase.SlotLeaked, phase.DequeuedUnwatched:
		return errNoFault
	case phase.Rejected, phase.BackupUnfinished:
		return errNoPoint
	}
	return nil
}

func (w *writer) op(s Step) *script { return &w.ops[s.Operation-1] }

func (w *writer) expires(pass int, at time.Duration) {
	w.slow = w.slow || pass == 0
	if w.timeout == 0 {
		w.timeout = max(at, time.Second)
	}
}

// file is the key of the operations.
func (w *writer) file() string {
	if w.kind == phase.Restore {
		return "restores/restore-1/restore-restore-1-itemoperations.json.gz"
	}
	return "backups/backup-1/backup-1-itemoperations.json.gz"
}

func (w *writer) fault(at, do string) {
	w.faults = append(w.faults, fmt.Sprintf("- at: {%s}\n  do: {%s}\n", at, do))
}

// kill is a kill between two passes, or when a phase was just written.
func (w *writer) kill() error {
	o := w.state.Object
	if i, ok := running(o); ok {
		w.killAction(i)
		return nil
	}
	at := fmt.Sprintf("phase: %s", o.Phase)
	switch o.Phase {
	case phase.New:
		return errNoPoint
	case phase.WaitingForPluginOperations, phase.WaitingForPluginOperationsPartiallyFailed:
		if w.state.InPass && o.Hung == phase.NoCall {
			return errNoPoint
		}
		at += fmt.Sprintf(", delay: %s", time.Duration(w.passes-w.entered)*poll+poll/5)
	}
	if w.kind == phase.Restore {
		at += ", object: restore/restore-1"
	}
	w.fault(at, "kill: {restartAfter: 4s}")
	return nil
}
