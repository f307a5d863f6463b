package supervise

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func supported() error {
	if _, err := children(); err != nil {
		return fmt.Errorf("supervise: cannot list child processes (is /proc mounted, and the kernel built with CONFIG_PROC_CHILDREN?): %w", err)
	}
	return nil
}

// attributes put the supervisor in a session of its own, where signals to the owner's process group and terminal do not
// reach it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// supervisor is the process between the owner and the program. All but the reading of stops is done by one goroutine, so
// that no process ID is used after its process was reaped.
type supervisor struct {
	orders  *json.Decoder
	reports *json.Encoder

	pid    int                // the program's
	ended  bool               // the program has
	status syscall.WaitStatus // and how
}

// supervise is the supervisor's main. It returns the exit code.
func supervise() int {
	// The program is killed when the thread that started it ends (Pdeathsig): this one lives as long as the process.
	runtime.LockOSThread()
	syscall.CloseOnExec(statusFD)
	os.WriteFile("/proc/self/comm", []byte("supervisor"), 0) //nolint:errcheck // only for ps, killall and the like
	s := &supervisor{orders: json.NewDecoder(os.Stdin), reports: json.NewEncoder(os.NewFile(statusFD, "status"))}
	signals, died := make(chan os.Signal, 1), make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) { // under nohup, say; the program inherits that
			signal.Notify(signals, s)
		}
	}
	signal.Notify(died, syscall.SIGCHLD)

	var o order
	if err := s.orders.Decode(&o); err == io.EOF {
		return 0 // the owner died
	} else if err != nil {
		fmt.Fprintf(os.Stderr, "%s is for internal use only: %v\n", argument, err)
		return 2
	}
	if err := s.start(o); err != nil {
		s.report(start{Error: err.Error()})
		return 0
	}
	s.report(start{PID: s.pid})
	s.wait(signals, died)
	s.killAll()
	var e end
	e.Status = uint32(s.status)
	if err := remove(o.Folder); err != nil {
		e.Error = err.Error()
	}
	if err := sweep(o.Sweep); err != nil {
		e.Error = err.Error()
	}
	s.report(e)
	return 0
}

// report writes to the owner. If that has died, nobody needs it.
func (s *supervisor) report(v any) { s.reports.Encode(v) } //nolint:errcheck

// start makes the folder and starts the program.
func (s *supervisor) start(o order) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a child subreaper: %w", err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	if o.Folder != "" {
		if err := os.Mkdir(o.Folder, 0o700); err != nil {
			return fmt.Errorf("make the program's folder: %w", err)
		}
	}
	if o.Path == "" { // it has nothing to do but to wait
		return nil
	}
	s.pid, err = syscall.ForkExec(o.Path, append([]string{o.Path}, o.Args...), &syscall.ProcAttr{
		Dir:   o.Dir,
		Env:   o.Env,
		Files: []uintptr{null.Fd(), 1, 2},
		Sys:   program(o.Mounts),
	})
	if err != nil {
		remove(o.Folder) //nolint:errcheck // it is empty
		return fmt.Errorf("start %s in %s: %w", o.Path, o.Dir, err)
	}
	return nil
}

// program are the attributes of the program.
func program(mounts bool) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if !mounts {
		return a
	}
	a.Cloneflags = syscall.CLONE_NEWNS
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	return a
}

// wait returns when the program has ended or everything is to be killed.
func (s *supervisor) wait(signals, died <-chan os.Signal) {
	stops := make(chan stop)
	go func() {
		defer close(stops)
		for {
			var st stop
			if s.orders.Decode(&st) != nil {
				return
			}
			stops <- st
		}
	}()
	var late <-chan time.Time
	for !s.ended {
		select {
		case <-died:
			s.reap(false)
		case st, ok := <-stops:
			if !ok {
				return
			}
			if s.pid > 0 {
				syscall.Kill(s.pid, syscall.SIGTERM) //nolint:errcheck // it is not reaped yet
			}
			late = time.After(st.Grace)
		case <-late:
			return
		case <-signals:
			return
		}
	}
}

// sweep removes a folder that others, who end at the same time, may still use.
func sweep(folder string) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err := remove(folder); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// remove removes a folder of this process' own making.
func remove(folder string) error {
	if folder == "" {
		return nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("remove the program's folder (remove it by hand): %w", err)
	}
	return nil
}
