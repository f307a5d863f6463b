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
	exitOK           = 0   // pass or known deviation
	exitFailure      = 1   // a run failed
	exitUsage        = 2   // the command line or a scenario is wrong
	exitInconclusive = 3   // a run is inconclusive, or was interrupted, or there was no world to run it, or stdout failed
	exitSignal       = 128 // and the signal's number: it came before anything ran
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
	drawn    io.Writer // err as it is, for progress bars
	terminal bool      // err is one
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
	out := &stdout{w: c.out}
	c.out, c.err, c.drawn = escaper{out}, escaper{c.err}, c.err
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer c.handleSignals(cancel)()

	root := newRoot(c)
	root.SetArgs(args)
	exit := &exitError{code: exitOK}
	if err := root.ExecuteContext(ctx); err != nil && !errors.As(err, &exit) {
		exit = &exitError{exitUsage, err}
	}
	if exit.err != nil {
		fmt.Fprintf(c.err, "velosim: %v\n", exit.err)
	}
	if out.lost != nil {
		fmt.Fprintf(c.err, "velosim: failed to write to stdout, what was printed is not complete: %v\n", out.lost)
		if exit.code == exitOK {
			return exitInconclusive
		}
	}
	return exit.code
}

// interrupted is err, of something that came before any result; or, if the user has interrupted it, the exit that this calls for.
func interrupted(ctx context.Context, err error) error {
	var exit *exitError
	if errors.As(context.Cause(ctx), &exit) {
		return exit
	}
	return &exitError{exitInconclusive, err}
}

// handleSignals makes the first Ctrl-C end what runs, and the second one velosim. A closed stdout is no signal but an
// error of the write. The cause of the cancel is for commands that nothing has come of yet: to end as shells expect it.
func (c *cli) handleSignals(cancel context.CancelCauseFunc) (stop func()) {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		code := exitSignal
		select {
		case s := <-interrupts:
			if s, ok := s.(syscall.Signal); ok {
				code += int(s)
			}
		case <-done:
			return
		}
		fmt.Fprintln(c.err, "velosim: interrupted; ending what runs (once more quits at once)")
		cancel(&exitError{code: code})
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
