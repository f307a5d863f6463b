package supervise_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/velosim/velosim/envtest/supervise"
)

// patience is how long the tests wait for what should take milliseconds, on a busy machine too.
const patience = time.Minute

// TestMain makes the test binary an owner if it is started as owner-killed, owner-panics or the like: it runs a script that
// prints the process IDs of daemons, and then ends in that way.
func TestMain(m *testing.M) {
	supervise.Main()
	if how, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "owner-"); ok {
		beOwner(how, os.Args[1], os.Args[2])
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector lets every supervisor sleep for a second
	os.Exit(m.Run())
}

func beOwner(how, script, folder string) {
	started := make(chan struct{})
	lines := 0
	stdout := writer(func(p []byte) (int, error) {
		n, err := os.Stdout.Write(p)
		if lines += strings.Count(string(p), "\n"); lines == daemons {
			close(started)
		}
		return n, err
	})
	p, err := supervise.Start(supervise.Command{Path: "/bin/sh", Args: []string{"-c", script}, Folder: folder, Stdout: stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	<-started
	if how == "pauses" {
		if err := p.Pause(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Println("owner ends")
	switch how {
	case "panics":
		panic("this is expected: the owner panics")
	case "exits":
		os.Exit(0)
	}
	<-p.Done()
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// daemon is a script that starts daemons which have left its session and ignore SIGTERM. Each prints its process ID.
const daemon = `
	(setsid sh -c 'trap "" TERM HUP; echo $$; exec sleep 1000' &)
	(setsid sh -c 'trap "" TERM HUP; echo $$; sleep 1000; true' &)
	sh -c 'echo $$; exec sleep 1000' &
	`

// daemons is how many process IDs daemon prints.
const daemons = 3

// stubborn is a program that does not end by itself nor by SIGTERM.
const stubborn = daemon + `trap "" TERM; while :; do sleep 1000; done`

func sh(script string) supervise.Command {
	return supervise.Command{Path: "/bin/sh", Args: []string{"-c", script}, Stderr: os.Stderr}
}

// startLines starts c and returns the first lines that it writes.
func startLines(t *testing.T, c supervise.Command, lines int) (*supervise.Process, []string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c.Stdout = w
	p, err := supervise.Start(c)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill() })
	return p, readLines(t, r, lines)
}

func readLines(t *testing.T, r *os.File, n int) []string {
	t.Helper()
	r.SetReadDeadline(time.Now().Add(patience))
	var lines []string
	for s := bufio.NewReaderSize(r, 1); len(lines) < n; {
		line, err := s.ReadString('\n')
		if err != nil {
			t.Fatalf("after the lines %q: %v", lines, err)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

func pids(t *testing.T, lines []string) []int {
	t.Helper()
	var ids []int
	for _, line := range lines {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, pid)
	}
	return ids
}

// gone fails the test if a process exists, or is a zombie.
func gone(t *testing.T, ids ...int) {
	t.Helper()
	for _, pid := range ids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			t.Errorf("process %d is left: %s", pid, stat)
		}
	}
}

// eventuallyGone waits until a process is gone that nobody tells the end of.
func eventuallyGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; runtime.Gosched() {
		if time.Now().After(deadline) {
			gone(t, pid)
			return
		}
	}
}

func alive(t *testing.T, ids ...int) {
	t.Helper()
	for _, pid := range ids {
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("process %d does not live: %v", pid, err)
		}
	}
}

// wait waits for the end of p.
func wait(t *testing.T, p *supervise.Process) error {
	t.Helper()
	select {
	case <-p.Done():
		return p.Err()
	case <-time.After(patience):
		t.Fatal("the process does not end")
		return nil
	}
}

// ownerEnds starts an owner that runs script, which must print the process IDs of daemons; lets how end it, or kill; and
// returns the lines when everything that has the same stderr, which is every descendant, is gone.
func ownerEnds(t *testing.T, how, script, folder string, kill func(pid int)) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(self, script, folder)
	cmd.Args[0] = "owner-" + how
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := readLines(t, r, daemons+1)
	if end := lines[daemons]; end != "owner ends" {
		t.Fatalf("the owner said %q", lines)
	}
	kill(cmd.Process.Pid)
	// The supervisor and all that it supervises have the pipe for as long as they live.
	if rest, err := io.ReadAll(r); err != nil {
		t.Errorf("descendants of the owner do not end: %v; they wrote %q", err, rest)
	}
	return lines[:daemons]
}
