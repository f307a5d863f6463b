package actions

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// drain is how long a process's output is read after its end, if a descendant in another process group holds it open.
const drain = time.Second

// processGroup runs a plugin's process, for go-plugin (it is a runner.Runner), in a process group that ends with it. On Linux it is killed
// when this process ends.
type processGroup struct {
	cmd            *exec.Cmd
	stdout, stderr *os.File
	done           chan struct{} // closed when the process has ended; then err says how
	err            error

	mu     sync.Mutex
	pid    int // 0 if it does not run
	killed bool
}

func newProcessGroup() *processGroup { return &processGroup{done: make(chan struct{})} }

// Start starts the process.
func (g *processGroup) Start(context.Context) error {
	stdout, err := pipe(&g.stdout)
	if err != nil {
		return err
	}
	defer stdout.Close()
	stderr, err := pipe(&g.stderr)
	if err != nil {
		return err
	}
	defer stderr.Close()
	g.cmd.Stdout, g.cmd.Stderr, g.cmd.SysProcAttr = stdout, stderr, attributes()
	started := make(chan error)
	go func() {
		// The process is killed when the thread that started it ends: this one waits for it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := g.start()
		started <- err
		if err == nil {
			g.wait()
		}
	}()
	return <-started
}

func pipe(reader **os.File) (*os.File, error) {
	r, w, err := os.Pipe()
	*reader = r
	return w, err
}

func (g *processGroup) start() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.killed {
		return fmt.Errorf("its time was over before it was started")
	}
	if err := g.cmd.Start(); err != nil {
		g.stdout.Close()
		g.stderr.Close()
		return err
	}
	g.pid = g.cmd.Process.Pid
	return nil
}

// wait waits for the end of the process and ends the others of its group.
func (g *processGroup) wait() {
	g.err = reap(g.cmd, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		syscall.Kill(-g.pid, syscall.SIGKILL) //nolint:errcheck // there may be none
		g.pid = 0                             // it is another process's from now on
	})
	end := time.Now().Add(drain)
	g.stdout.SetReadDeadline(end) //nolint:errcheck // pipes have deadlines
	g.stderr.SetReadDeadline(end) //nolint:errcheck
	close(g.done)
}

// kill kills the group, and one that is not started yet will not be.
func (g *processGroup) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killed = true
	if g.pid != 0 {
		syscall.Kill(-g.pid, syscall.SIGKILL) //nolint:errcheck // it is not reaped yet
	}
}

// Wait is called when the output has been read.
func (g *processGroup) Wait(context.Context) error {
	<-g.done
	g.stdout.Close()
	g.stderr.Close()
	return g.err
}

func (g *processGroup) Kill(context.Context) error { g.kill(); return nil }

func (g *processGroup) Stdout() io.ReadCloser { return g.stdout }
func (g *processGroup) Stderr() io.ReadCloser { return g.stderr }
func (g *processGroup) Name() string          { return g.cmd.Path }

// ID is never empty: else go-plugin would not remove its folder if the process does not start.
func (g *processGroup) ID() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strconv.Itoa(g.pid)
}

// Diagnose explains a process whose first line is not go-plugin's handshake.
func (g *processGroup) Diagnose(context.Context) string {
	return "It has ended, and its log says why, or it is no plugin built with Velero's plugin framework or the package sim/actions."
}

func (g *processGroup) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

func (g *processGroup) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
