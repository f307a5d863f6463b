package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// grace is how long a world may take to end by itself: when its stdin was closed, when its job was cancelled, when
	// it was told to print its stacks. In wall time; then it is killed.
	grace = 2 * time.Second
	// helloWithin is how long a world may take to say hello, from a cold disk too. In wall time.
	helloWithin = time.Minute
	// drain is how long the pipes of a dead process group are still read: only a process that left the group can hold
	// one open for longer. In wall time.
	drain = 5 * time.Second
)

// child is one process of a world.
type child struct {
	info   Info
	pid    int
	dir    privateDir // its HOME and TMPDIR, removed at its end
	stdin  io.WriteCloser
	out    *frameWriter // on stdin
	router *router
	stderr *stderrTail
	// drop ends the reading of frames that nobody takes any more.
	drop context.CancelFunc
	// drained is closed when stdout is read no more.
	drained chan struct{}
	// ended is closed when the process was reaped, its group killed and its stderr read; then status is valid.
	ended  chan struct{}
	status *os.ProcessState

	mu           sync.Mutex
	culprit, did string // the job that it was ended because of, and what that did
}

// startChild starts the executable at path and waits, for hello, until it speaks the protocol.
func startChild(ctx context.Context, path string, args []string, patience time.Duration) (*child, error) {
	path, err := filepath.Abs(path) // it starts in a folder of its own
	if err != nil {
		return nil, fmt.Errorf("failed to start the world: %w", err)
	}
	dir, err := newPrivateDir()
	if err != nil {
		return nil, err
	}
	c := &child{dir: dir, stderr: &stderrTail{}, drained: make(chan struct{}), ended: make(chan struct{})}
	stdout, err := c.start(path, args)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("failed to start the world %s: %w", path, err), dir.remove())
	}
	if err := c.greet(ctx, stdout, patience); err != nil {
		c.stop()
		if s := c.stderr.String(); s != "" {
			err = fmt.Errorf("%w; its stderr:\n%s", err, s)
		}
		return nil, fmt.Errorf("world %s: %w", path, err)
	}
	return c, nil
}

// start starts the process, and what reads its stderr and reaps it.
func (c *child) start(path string, args []string) (stdout io.ReadCloser, err error) {
	cmd := exec.Command(path, args...)
	cmd.Dir = c.dir.path
	// A world gets nothing of the user's environment that could change a run: no KUBECONFIG, no cloud credentials.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir.path, "TMPDIR=" + c.dir.path, "TZ=UTC", "GOTRACEBACK=all", "GODEBUG=tracebacklabels=1",
	}
	cmd.SysProcAttr = attributes()
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go func() {
		// Pdeathsig strikes when this thread ends, so the process needs it for as long as it lives. It is not unlocked:
		// it ends with this goroutine.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.reap(cmd.Process, stdout, stderr)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	c.pid, c.out = cmd.Process.Pid, &frameWriter{w: c.stdin}
	return stdout, nil
}

// reap waits for the end of the process, and leaves nothing of it behind. It waits by itself, as exec.Cmd.Wait would close
// stdout before the last frames are read.
func (c *child) reap(p *os.Process, stdout, stderr io.ReadCloser) {
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(c.stderr, stderr) //nolint:errcheck // what could be read is all there is
	}()
	status, err := p.Wait()
	if err != nil {
		status = nil
	}
	syscall.Kill(-p.Pid, syscall.SIGKILL) //nolint:errcheck // mostly there is nobody left in the group
	late := time.AfterFunc(drain, func() {
		stdout.Close()
		stderr.Close()
	})
	<-read
	stderr.Close()
	c.status = status
	c.dir.remove() //nolint:errcheck // a later velosim tries again
	close(c.ended)
	<-c.drained
	late.Stop()
}

// greet reads hello. What follows is read by a goroutine that ends with the process or with c.drop, for the jobs that listen.
func (c *child) greet(ctx context.Context, stdout io.ReadCloser, patience time.Duration) error {
	var readCtx context.Context
	readCtx, c.drop = context.WithCancel(context.Background())
	greeted := make(chan error, 1)
	c.router = newRouter()
	go func() {
		defer close(c.drained)
		defer stdout.Close()
		r := newFrameReader(stdout)
		h, err := r.hello()
		if err == nil && h.Schema != Schema {
			err = fmt.Errorf("it speaks schema %d of the protocol, and this velosim schema %d: "+
				"rebuild both from the same version (velosim setup)", h.Schema, Schema)
		}
		c.info = h.Info
		greeted <- err
		if err == nil {
			c.router.route(readCtx, r)
		}
	}()
	dog := newWatchdog(patience)
	defer dog.ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-dog.ticks.C:
			if dog.look(time.Now()) {
				return fmt.Errorf("no hello within %v: it is no world, or it hangs", patience)
			}
		case err := <-greeted:
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return errors.New("it ended without a hello: it is no world, or a broken one")
			}
			return err
		}
	}
}

// stop ends the process and all of its group, and waits for that: gently by the end of its stdin, then by SIGKILL. It may
// be called more than once.
func (c *child) stop() {
	c.drop()
	c.stdin.Close() //nolint:errcheck // closed twice at worst
	c.endOrKill()
}

// stacks makes the process print the stacks of its goroutines, ends it, and returns what it printed.
func (c *child) stacks() string {
	c.drop()                             // it may be stuck in writing a frame that nobody takes
	syscall.Kill(c.pid, syscall.SIGQUIT) //nolint:errcheck // it may have ended just now
	c.endOrKill()
	return c.stderr.Crash()
}

// endOrKill waits for the end of the process, and helps it along after a while.
func (c *child) endOrKill() {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-c.ended:
	case <-t.C:
		syscall.Kill(-c.pid, syscall.SIGKILL) //nolint:errcheck // the group may have ended just now
		<-c.ended
	}
}

func (c *child) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// blame notes that the process is about to be ended because of one of its jobs, and what that did. The first one counts.
func (c *child) blame(job Job, did string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.hasEnded() && c.culprit == "" {
		c.culprit, c.did = job.String(), did
	}
}

// fault says what another job has done, because of which the process ended; empty: none that is known. Call it once it has ended.
func (c *child) fault(job Job) string {
	c.mu.Lock()
	culprit, did := c.culprit, c.did
	c.mu.Unlock()
	if culprit == "" {
		culprit, did = runOf(c.crashed()), "crashed the world"
	}
	if culprit == "" || culprit == job.String() {
		return ""
	}
	return fmt.Sprintf("%s %s, which ran this job, too: its finding says more", culprit, did)
}

// crashed is what the Go runtime printed, if a crash has ended the process. Call it once it has ended.
func (c *child) crashed() string {
	// 2 is the exit status of a Go program that crashed; a log line may look like a crash and not be one.
	if c.status.ExitCode() != 2 {
		return ""
	}
	return c.stderr.Crash()
}

// crash says how the process ended, for a job that ran in it, and whether Velero crashed it. Call it once it has ended.
func (c *child) crash(job Job) (detail string, panicked bool) {
	if fault := c.fault(job); fault != "" {
		return fault, false
	}
	crash := c.crashed()
	if crash == "" {
		detail = "the world's process ended in the middle of the job: " + c.status.String()
		if s := c.stderr.String(); s != "" {
			detail += "; its stderr:\n" + s
		}
		return detail, false
	}
	detail, panicked = brief(crash), crashOfVelero(crash)
	if !panicked {
		detail = "the world crashed, with nothing of Velero or controller-runtime on the stack of the goroutine that did it:\n" + detail
	}
	if c.info.Parallel > 1 && runOf(crash) == "" {
		detail = "it is not known whether this job or another one that ran in the same world crashed it\n" + detail
	}
	return detail + keepStacks(job.Keep, crash), panicked
}

// keepStacks writes the stacks of all goroutines into a job's folder, if it has one, and says where they are.
func keepStacks(folder, crash string) string {
	if folder == "" {
		return ""
	}
	path := filepath.Join(folder, "stacks.txt")
	if err := os.WriteFile(path, []byte(crash+"\n"), 0o600); err != nil {
		return fmt.Sprintf("\nfailed to keep the stacks of all goroutines: %v", err)
	}
	return "\nthe stacks of all goroutines are in " + path
}
