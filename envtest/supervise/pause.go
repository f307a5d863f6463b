package supervise

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// stopWithin is how long the threads of a program may take to stop.
const stopWithin = 5 * time.Second

// Pause stops the program (SIGSTOP), not its descendants, and returns when all of its threads have stopped. Kill and the owner's death end it
// all the same; Stop waits for its grace. The error is [os.ErrProcessDone] if the program has ended.
func (p *Process) Pause() error {
	if err := p.program.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pause %s: %w", p.name, err)
	}
	for late := time.Now().Add(stopWithin); !halted(p.pid); time.Sleep(time.Millisecond) { // its parent alone is told
		if time.Now().After(late) {
			return fmt.Errorf("pause %s: it has not stopped within %s", p.name, stopWithin)
		}
	}
	return nil
}

// Resume lets a program go on that was paused.
func (p *Process) Resume() error {
	if err := p.program.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("resume %s: %w", p.name, err)
	}
	return nil
}

// halted reports whether no thread of a process runs: all have stopped, or it is dead (see proc_pid_stat(5)).
func halted(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil { // it has ended
			continue
		}
		after := stat[bytes.LastIndexByte(stat, ')')+1:]
		if state := bytes.TrimSpace(after); len(state) > 0 && !bytes.ContainsRune([]byte("TZX"), rune(state[0])) {
			return false
		}
	}
	return true
}
