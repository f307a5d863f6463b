package world

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// A world that dies between two jobs is replaced, and nothing of it is left: no pipe, no goroutine that reads one.
func TestAnIdleWorldThatDies(t *testing.T) {
	p := open(t, "good", Options{})
	dead := p.child
	if err := syscall.Kill(dead.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-dead.ended
	if end, err := p.Run(t.Context(), job(1, "good"), discard); err != nil || end.Reason != trace.Settled {
		t.Errorf("Run = %+v, %v", end, err)
	}
	select {
	case <-dead.drained:
	case <-time.After(10 * time.Second):
		t.Error("its stdout is still read")
	}
	if _, err := dead.stdin.Write([]byte("\n")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("its stdin is open: %v", err)
	}
}
