package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// drain is how long output is still read when the supervisor has ended: only a process that is no descendant can hold the
// pipe open for longer, one that got it from a descendant. In wall time.
const drain = 5 * time.Second

// Process is a program that was started. Its methods may be called at the same time.
type Process struct {
	name string
	pid  int
	// program is the same, for signals that cannot meet another process with its ID.
	program *os.Process
	orders  io.WriteCloser
	close   sync.Once

	done    chan struct{}
	err     error // how the program ended; written before done is closed
	cleanup error // what could not be cleaned up; likewise
}

// Start runs a program. It returns when the program runs, or an error when it cannot; then nothing is left of it.
func Start(c Command) (*Process, error) {
	if err := possible(); err != nil {
		return nil, err
	}
	if err := c.absolute(); err != nil {
		return nil, err
	}
	if c.Env == nil {
		c.Env = os.Environ()
	}
	return begin(filepath.Base(c.Path), order{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Folder: c.Folder, Mounts: c.MountNamespace}, c.Stdout, c.Stderr)
}

// possible says why there can be no supervisor.
func possible() error {
	if err := supported(); err != nil {
		return err
	}
	if !mainCalled.Load() {
		return errors.New("supervise: call supervise.Main first thing in main (in tests: in TestMain)")
	}
	return nil
}

// begin starts a supervisor and gives it its order.
func begin(name string, o order, stdout, stderr io.Writer) (*Process, error) {
	p := &Process{name: name, done: make(chan struct{})}
	// /proc/self/exe is the owner's executable also when its file was replaced or removed meanwhile.
	cmd := exec.Command("/proc/self/exe", argument)
	cmd.Args[0] = "supervisor"
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = drain
	cmd.SysProcAttr = attributes()
	status, err := p.run(cmd)
	if err != nil {
		return nil, fmt.Errorf("supervise %s: %w", p.name, err)
	}
	started := make(chan error, 1) // watch sends once
	go p.watch(cmd, status, started)
	// If the supervisor dies before it has read the order, watch tells.
	p.send(o)
	if err := <-started; err != nil {
		p.Kill() //nolint:errcheck // err says more
		return nil, fmt.Errorf("supervise %s: %w", p.name, err)
	}
	return p, nil
}

// run starts the supervisor, and returns the pipe that it reports on.
func (p *Process) run(cmd *exec.Cmd) (status *os.File, err error) {
	status, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.ExtraFiles = []*os.File{theirs} // the first one is statusFD
	if p.orders, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		status.Close()
		return nil, err
	}
	return status, nil
}

// watch reads the supervisor's reports until it has ended.
func (p *Process) watch(cmd *exec.Cmd, status *os.File, started chan<- error) {
	defer close(p.done)
	reports := json.NewDecoder(status)
	var s start
	err := reports.Decode(&s)
	running := err == nil && s.Error == ""
	if running {
		p.pid = s.PID
		p.program, err = os.FindProcess(s.PID) // no error on Unix
		started <- err
	}
	var e end
	if running {
		err = reports.Decode(&e)
	}
	status.Close()
	waited := cmd.Wait()
	if p.program != nil {
		p.program.Release() //nolint:errcheck // what it held open is closed
	}
	switch {
	case err != nil: // the supervisor died before it could say more
		p.err = fmt.Errorf("the supervisor of %s ended before its work was done (%w): processes may be left", p.name, orElse(waited, err))
		p.cleanup = p.err
	case s.Error != "":
		p.err = errors.New(s.Error)
	default:
		p.err = exitError(syscall.WaitStatus(e.Status))
		if e.Error != "" {
			p.cleanup = errors.New(e.Error)
		}
		// The supervisor ends with 0: this is about copying to Stdout and Stderr.
		p.cleanup = errors.Join(p.cleanup, waited)
	}
	if !running {
		started <- p.err
	}
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// send writes to the supervisor. An error means that it has ended, which watch sees.
func (p *Process) send(v any) {
	json.NewEncoder(p.orders).Encode(v) //nolint:errcheck
}

// Kill kills the program and all of its descendants (SIGKILL), and returns when they, the supervisor and the folder are
// gone. The error, if any, says what could not be cleaned up, or what could not be written to Stdout and Stderr; that the
// program was killed is none.
func (p *Process) Kill() error {
	p.close.Do(func() { p.orders.Close() })
	<-p.done
	return p.cleanup
}

// Stop sends SIGTERM to the program, not to its descendants, and kills everything that is left when it has ended, or after
// grace. It returns when all is gone, with the same errors as [Process.Kill]. A Kill meanwhile shortens it.
func (p *Process) Stop(grace time.Duration) error {
	p.send(stop{Grace: grace})
	<-p.done
	return p.cleanup
}

// Pid is the program's process ID. It means nothing when Done is closed.
func (p *Process) Pid() int { return p.pid }

// Done is closed when the program, its descendants, the supervisor and the folder are gone, and all output was written.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the program ended: nil for exit status 0, an [*ExitError] for others and for signals, also those of Kill and
// Stop, and another error if the supervisor died. It waits for Done.
func (p *Process) Err() error {
	<-p.done
	return p.err
}

func exitError(s syscall.WaitStatus) error {
	switch {
	case s.Signaled():
		return &ExitError{Code: -1, Signal: s.Signal()}
	case s.ExitStatus() != 0:
		return &ExitError{Code: s.ExitStatus()}
	}
	return nil
}
