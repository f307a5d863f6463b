// Velosim runs Velero's backup and restore controllers against scripted plugins, and judges how the runs end. See
// velosim --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// The exit codes.
const (
	exitOK           = 0 // pass or known deviation
	exitFailure      = 1 // a run failed
	exitUsage        = 2 // the command line or a scenario is wrong
	exitInconclusive = 3 // a run is inconclusive, or was interrupted, or there was no world to run it
)

func main() {
	c := &cli{in: os.Stdin, out: os.Stdout, err: os.Stderr, now: time.Now}
	c.terminal = term.IsTerminal(int(os.Stderr.Fd()))
	os.Exit(c.main(os.Args[1:]))
}

// cli is what velosim has of its surroundings.
type cli struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // err is one
	now      func() time.Time
}

// exitError is an error that asks for an exit code other than exitUsage. Without an err, all has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// main runs the command line, and returns the exit code.
func (c *cli) main(args []string) int {
	c.out = &pipe{w: c.out}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer c.handleSignals(cancel)()

	root := newRoot(c)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case !errors.As(err, &exit):
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintf(c.err, "velosim: %v\n", exit.err)
	}
	return exit.code
}

// handleSignals makes the first Ctrl-C end what runs, and the second one velosim. A closed stdout is no signal but an
// error of the write.
func (c *cli) handleSignals(cancel context.CancelFunc) (stop func()) {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		select {
		case <-interrupts:
		case <-done:
			return
		}
		fmt.Fprintln(c.err, "velosim: interrupted; ending what runs (once more quits at once)")
		cancel()
		select {
		case <-interrupts:
			os.Exit(exitInconclusive) // the worlds end with their stdin
		case <-done:
		}
	}()
	return func() {
		signal.Stop(interrupts)
		close(done)
	}
}

// pipe is a stdout whose reader may leave, as head does: what is written from then on is lost, and the runs go on.
type pipe struct {
	w    io.Writer
	left bool
}

func (p *pipe) Write(b []byte) (int, error) {
	if p.left {
		return len(b), nil
	}
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.left = true
		return len(b), nil
	}
	return n, err
}
