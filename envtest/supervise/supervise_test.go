package supervise_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/envtest/supervise"
)

func TestKill(t *testing.T) {
	c := sh(stubborn)
	c.Folder = filepath.Join(t.TempDir(), "folder")
	c.Args[1] = `mkdir -p "$0/a/b" && echo 1 >"$0/a/b/c" || exit` + c.Args[1]
	c.Args = append(c.Args, c.Folder)
	p, lines := startLines(t, c, daemons)
	ids := append(pids(t, lines), p.Pid())
	alive(t, ids...)
	if info, err := os.Stat(c.Folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v; want mode 0700", info, err)
	}
	begin := time.Now()
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	t.Logf("Kill took %v", time.Since(begin))
	gone(t, ids...)
	if _, err := os.Stat(c.Folder); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
	if err := p.Err(); !reflect.DeepEqual(err, &supervise.ExitError{Code: -1, Signal: syscall.SIGKILL}) {
		t.Errorf("the program ended with %v", err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("a second Kill: %v", err)
	}
	if err := p.Stop(time.Hour); err != nil {
		t.Errorf("Stop after Kill: %v", err)
	}
}

// What ends by itself takes its descendants along, and its exit status is passed on.
func TestProgramEnds(t *testing.T) {
	for script, want := range map[string]error{
		"exit 0":                nil,
		"exit 3":                &supervise.ExitError{Code: 3},
		"exec sh -c 'exit 255'": &supervise.ExitError{Code: 255},
		"kill -9 $$":            &supervise.ExitError{Code: -1, Signal: syscall.SIGKILL},
		"kill -ABRT $$":         &supervise.ExitError{Code: -1, Signal: syscall.SIGABRT},
	} {
		t.Run(script, func(t *testing.T) {
			p, lines := startLines(t, sh(daemon+`trap "`+script+`" USR1; echo $$; while :; do wait; done`), daemons+1)
			syscall.Kill(p.Pid(), syscall.SIGUSR1)
			err := wait(t, p)
			gone(t, append(pids(t, lines), p.Pid())...)
			if !reflect.DeepEqual(err, want) {
				t.Errorf("the program ended with %v, want %v", err, want)
			}
			if err := p.Kill(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStop(t *testing.T) {
	t.Run("ends in time", func(t *testing.T) {
		p, lines := startLines(t, sh(daemon+`trap "exit 7" TERM; echo $$; while :; do wait; done`), daemons+1)
		if err := p.Stop(time.Hour); err != nil {
			t.Error(err)
		}
		gone(t, pids(t, lines)...)
		if err := p.Err(); !reflect.DeepEqual(err, &supervise.ExitError{Code: 7}) {
			t.Errorf("the program ended with %v", err)
		}
	})
	t.Run("ends late", func(t *testing.T) {
		p, lines := startLines(t, sh(stubborn), daemons)
		begin := time.Now()
		if err := p.Stop(300 * time.Millisecond); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took < 300*time.Millisecond {
			t.Errorf("Stop took %v, less than the grace", took)
		}
		gone(t, append(pids(t, lines), p.Pid())...)
		if err := p.Err(); !reflect.DeepEqual(err, &supervise.ExitError{Code: -1, Signal: syscall.SIGKILL}) {
			t.Errorf("the program ended with %v", err)
		}
	})
	t.Run("killed meanwhile", func(t *testing.T) {
		p, lines := startLines(t, sh(stubborn), daemons)
		stopped := make(chan error)
		go func() { stopped <- p.Stop(time.Hour) }()
		if err := errors.Join(p.Kill(), <-stopped); err != nil {
			t.Error(err)
		}
		gone(t, append(pids(t, lines), p.Pid())...)
	})
}

func TestOwnerEnds(t *testing.T) {
	for how, kill := range map[string]func(pid int){
		"killed":            func(pid int) { syscall.Kill(pid, syscall.SIGKILL) },
		"killed as a group": func(pid int) { syscall.Kill(-pid, syscall.SIGKILL) },
		"interrupted":       func(pid int) { syscall.Kill(-pid, syscall.SIGINT) },
		"panics":            func(int) {},
		"exits":             func(int) {},
	} {
		t.Run(how, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "folder")
			lines := ownerEnds(t, how, `touch "`+folder+`/file" && `+stubborn, folder, kill)
			gone(t, pids(t, lines)...)
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("the folder is left: %v", err)
			}
		})
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	free := filepath.Join(dir, "free")
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "precious"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		command supervise.Command
		want    string
	}{
		"no path":      {supervise.Command{}, "Command.Path is empty"},
		"no program":   {supervise.Command{Path: filepath.Join(dir, "nothing"), Folder: free}, "nothing in " + workingDir(t) + ": no such file or directory"},
		"no dir":       {supervise.Command{Path: "/bin/true", Dir: free, Folder: filepath.Join(dir, "other")}, "start /bin/true in " + free + ": no such file"},
		"folder taken": {supervise.Command{Path: "/bin/true", Folder: taken}, "taken: file exists"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := supervise.Start(test.command)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want one with %q", err, test.want)
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || !reflect.DeepEqual(left, []string{filepath.Join(taken, "precious")}) {
		t.Errorf("what is left is %q, %v", left, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("folders are left: %q", left)
	}
}

func workingDir(t *testing.T) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A program finds the same surroundings as without a supervisor.
func TestSurroundings(t *testing.T) {
	script := []string{"-c", `pwd; env; cat; ls /proc/$$/fd; ulimit -a; grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status; echo oops >&2; echo "$@"`, "sh", "a b", ""}
	dir, env := t.TempDir(), []string{"A=b", "PATH=" + os.Getenv("PATH")}
	direct := exec.Command("/bin/sh", script...)
	direct.Dir, direct.Env = dir, env
	want, err := direct.Output()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	p, err := supervise.Start(supervise.Command{Path: "/bin/sh", Args: script, Env: env, Dir: dir, Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		t.Fatal(err)
	}
	if err := wait(t, p); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(string(want), stdout.String()); diff != "" {
		t.Errorf("the program's output differs from that without a supervisor:\n%s", diff)
	}
	if got := stderr.String(); got != "oops\n" {
		t.Errorf("the program wrote %q to stderr", got)
	}
}

// If the supervisor is killed, the program goes with it, and the owner is told.
func TestSupervisorKilled(t *testing.T) {
	p, lines := startLines(t, sh("echo $PPID; exec sleep 1000"), 1)
	syscall.Kill(pids(t, lines)[0], syscall.SIGKILL)
	err := wait(t, p)
	if err == nil || !strings.Contains(err.Error(), "processes may be left") {
		t.Errorf("error %v; want that processes may be left", err)
	}
	if p.Kill() == nil {
		t.Error("Kill returns no error")
	}
	eventuallyGone(t, p.Pid())
}

// A supervisor that is told to end does its work.
func TestSupervisorTerminated(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(s) { // as under nohup: it stays ignored
			continue
		}
		p, lines := startLines(t, sh("echo $PPID; "+stubborn), 1+daemons)
		ids := pids(t, lines)
		syscall.Kill(ids[0], s)
		if err := wait(t, p); !reflect.DeepEqual(err, &supervise.ExitError{Code: -1, Signal: syscall.SIGKILL}) {
			t.Errorf("after %v: %v", s, err)
		}
		gone(t, ids...)
	}
}

// Orphans that end while the program runs are reaped.
func TestOrphansAreReaped(t *testing.T) {
	_, lines := startLines(t, sh(`(setsid sh -c 'echo $$' &) ; exec sleep 1000`), 1)
	eventuallyGone(t, pids(t, lines)[0])
}

func TestNothingLeaks(t *testing.T) {
	const starts = 200
	fds := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	once := func() {
		var out bytes.Buffer
		c := sh("echo 1")
		c.Stdout = &out
		p, err := supervise.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := wait(t, p); err != nil || out.String() != "1\n" {
			t.Fatalf("the program wrote %q and ended with %v", &out, err)
		}
	}
	once()
	runtime.GC()
	before, goroutines := fds(), runtime.NumGoroutine()
	begin := time.Now()
	for range starts {
		once()
	}
	t.Logf("a start and an end take %v", time.Since(begin)/starts)
	if after := fds(); after > before {
		t.Errorf("%d file descriptors are open, %d more than before", after, after-before)
	}
	// A goroutine that closed Done ends soon after.
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines run, %d more than before", runtime.NumGoroutine(), runtime.NumGoroutine()-goroutines)
		}
	}
}

// A program that is paused does nothing until it is resumed.
func TestPause(t *testing.T) {
	p, lines := startLines(t, sh(`trap "exit 7" TERM; echo $$; while :; do sleep 0.01; done`), 1)
	pid := pids(t, lines)[0]
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if got := state(t, pid); got != "T" {
		t.Errorf("the paused program is in state %s", got)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Stop(patience) }()
	for syscall.Kill(pid, 0) == nil && !pending(t, pid, syscall.SIGTERM) {
		runtime.Gosched()
	}
	if got := state(t, pid); got != "T" {
		t.Errorf("told to end, the paused program is in state %s", got)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := p.Err(); !reflect.DeepEqual(err, &supervise.ExitError{Code: 7}) {
		t.Errorf("the program ended with %v, want what it does when it is told to", err)
	}
	if err := p.Pause(); err == nil {
		t.Error("a program that has ended was paused")
	}
}

// A program that is paused is killed, and what it has started, by Kill, by Stop after its grace, and by the owner's death.
func TestPausedIsKilled(t *testing.T) {
	for name, end := range map[string]func(*supervise.Process) error{
		"Kill": (*supervise.Process).Kill,
		"Stop": func(p *supervise.Process) error { return p.Stop(time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			p, lines := startLines(t, sh(stubborn), daemons)
			ids := append(pids(t, lines), p.Pid())
			if err := p.Pause(); err != nil {
				t.Fatal(err)
			}
			if err := end(p); err != nil {
				t.Error(err)
			}
			gone(t, ids...)
		})
	}
	t.Run("owner", func(t *testing.T) {
		lines := ownerEnds(t, "pauses", stubborn, filepath.Join(t.TempDir(), "folder"), func(pid int) { syscall.Kill(pid, syscall.SIGKILL) })
		for _, pid := range pids(t, lines) {
			eventuallyGone(t, pid)
		}
	})
}

// state is a process' state, as proc_pid_stat(5) has it.
func state(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[0]
}

// pending reports whether a signal waits for a process.
func pending(t *testing.T, pid int, s syscall.Signal) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(status), "ShdPnd:\t")
	var mask uint64
	fmt.Sscanf(text, "%x", &mask)
	return mask&(1<<(s-1)) != 0
}
