package envtest_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingIsLeft ends a run in its middle, in every way, and looks for processes and files of it. Ports are gone with the
// processes that listened on them.
func TestNothingIsLeft(t *testing.T) {
	if os.Getenv("VELOSIM_ENVTEST") == "" {
		t.Skip("the world of real processes is tested by make test, which builds what it needs: set VELOSIM_ENVTEST=1")
	}
	velosim := filepath.Join(t.TempDir(), "velosim")
	if out, err := exec.Command("go", "build", "-o", velosim, "../cmd/velosim").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const hangs, waits, begins = "backup-progress-hangs", "InProgress -> WaitingForPluginOperations", "ReadyToStart -> InProgress"
	for _, test := range []struct {
		name     string
		scenario string
		middle   string // the line at which it is
		of       string // whom the signal is for, by its executable; empty: the CLI
		signal   syscall.Signal
	}{
		{"interrupted", hangs, waits, "", syscall.SIGINT},
		{"terminated", hangs, waits, "", syscall.SIGTERM},
		{"killed", hangs, waits, "", syscall.SIGKILL},
		{"the world crashes", hangs, waits, "velosim-envtest", syscall.SIGABRT},
		{"the world is killed", hangs, waits, "velosim-envtest", syscall.SIGKILL},
		{"terminated in a pre-action", "backup-pre-action-hangs", begins, "", syscall.SIGTERM},
		{"killed in a pre-action", "backup-pre-action-hangs", begins, "", syscall.SIGKILL},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp, err := os.MkdirTemp("", "leave-") // shorter than t.TempDir, for sockets
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(temp) })
			cmd := exec.Command(velosim, "run", "--world", "envtest", test.scenario)
			cmd.Env = append(os.Environ(), "TMPDIR="+temp)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stdout)
			for middle := false; !middle; {
				if !lines.Scan() {
					cmd.Wait() //nolint:errcheck // it has failed
					t.Fatalf("the run ended before its middle\n%s", &stderr)
				}
				middle = strings.Contains(lines.Text(), test.middle)
			}
			if test.middle == begins { // the pre-action comes next
				for end := time.Now().Add(20 * time.Second); len(processes(t, temp, "example.io-quiesce")) == 0; time.Sleep(10 * time.Millisecond) {
					if time.Now().After(end) {
						t.Error("the pre-action does not begin")
						break
					}
				}
			}
			began := len(processes(t, temp, ""))
			target := cmd.Process.Pid
			if test.of != "" {
				world := processes(t, temp, test.of)
				if len(world) != 1 {
					t.Fatalf("processes of %s: %v", test.of, world)
				}
				target = world[0]
			}
			syscall.Kill(target, test.signal) //nolint:errcheck // what follows tells
			for lines.Scan() {                // to the end
			}
			cmd.Wait() //nolint:errcheck // how it ends is its own test
			if began < 5 {
				t.Errorf("%d processes in the middle of a run: the test looks at the wrong ones", began)
			}
			var left []int
			var files []os.DirEntry
			for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
				left = processes(t, temp, "")
				if files, err = os.ReadDir(temp); err != nil {
					t.Fatal(err)
				}
				if len(left) == 0 && len(files) == 0 {
					return
				}
			}
			t.Errorf("left: processes %v, files %v", left, files)
		})
	}
}

// processes are those that live and have the folder for their files, or in it; of an executable, if it is named.
func processes(t *testing.T, temp, executable string) []int {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, dir := range dirs {
		environment, err := os.ReadFile(filepath.Join(dir, "environ")) // empty of a zombie; it may have ended just now
		if err != nil || !bytes.Contains(environment, []byte("TMPDIR="+temp)) {
			continue
		}
		command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		name, _, _ := strings.Cut(string(command), "\x00")
		if pid, convErr := strconv.Atoi(filepath.Base(dir)); err == nil && convErr == nil && (executable == "" || filepath.Base(name) == executable) {
			found = append(found, pid)
		}
	}
	return found
}
