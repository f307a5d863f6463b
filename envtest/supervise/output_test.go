package supervise_test

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/velosim/velosim/envtest/supervise"
)

// Everything that was written is passed on, also what a descendant writes until it is killed.
func TestOutput(t *testing.T) {
	const megabytes = 8
	var out bytes.Buffer
	c := sh(`head -c 8388608 /dev/zero; mkfifo f; (setsid sh -c 'echo last; echo >f; exec sleep 1000' &); read x <f`)
	c.Dir = t.TempDir()
	c.Stdout = &out
	p, err := supervise.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := wait(t, p); err != nil {
		t.Error(err)
	}
	if got, want := out.Len(), megabytes<<20+len("last\n"); got != want {
		t.Errorf("%d bytes of output, want %d", got, want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputError(t *testing.T) {
	c := sh("echo 1")
	c.Stdout = full{}
	p, err := supervise.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := wait(t, p); err != nil {
		t.Error(err)
	}
	if err := p.Kill(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want that the disk is full", err)
	}
}
