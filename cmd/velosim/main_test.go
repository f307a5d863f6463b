package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world/executable"
)

// Script tests: testdata/script/*.txtar. The command velosim is the CLI with a clock that stands still, velosim-virtual a
// stand-in for the world (see standin_test.go). -update rewrites what "cmp" compares with.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"velosim": func() {
			c := &cli{in: os.Stdin, out: os.Stdout, err: os.Stderr, now: func() time.Time { return time.Time{} }}
			os.Exit(c.main(os.Args[1:]))
		},
		"velosim-virtual": standIn,
		"old-world":       standIn,
	})
}

var update = flag.Bool("update", false, "rewrite the files that scripts compare with")

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			dir, err := worldDir()
			env.Setenv(executable.DirVariable, dir)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "mode": mode},
	})
}

// worldDir returns the folder of the stand-in.
func worldDir() (string, error) {
	path, err := exec.LookPath("velosim-virtual")
	return filepath.Dir(path), err
}

// exits runs a command that must end with an exit code: exits 2 velosim lint bad.yaml.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG]...")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want, _ := strconv.Atoi(args[0]); code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// mode checks a file's permissions: mode 600 FILE.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode PERMISSIONS FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// command returns velosim, to run beside the test.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := worldDir()
	if err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("velosim")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), executable.DirVariable+"="+dir, "TMPDIR="+t.TempDir())
	return cmd
}

// scenarioFile writes a scenario of which the stand-in knows the name.
func scenarioFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".yaml")
	text := fmt.Sprintf("# A test.\napiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: %s}\nexpect: {phase: Completed}\n", name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCtrlC(t *testing.T) {
	for name, tt := range map[string]struct {
		scenarios []string
		want      int
	}{
		"while a run waits":    {[]string{"passes", "waits", "passes-too"}, exitInconclusive},
		"after a run failed":   {[]string{"fails", "waits", "passes"}, exitFailure},
		"a world that is deaf": {[]string{"passes", "deaf", "passes-too"}, exitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			args := []string{"run", "--parallel", "1", "--format", "json", "--out", out}
			for _, s := range tt.scenarios {
				args = append(args, scenarioFile(t, s))
			}
			cmd := command(t, args...)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitFor(t, filepath.Join(out, tt.scenarios[1]+".ndjson"), `"to":"InProgress"`)
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			cmd.Wait() //nolint:errcheck // the exit code says it
			if code := cmd.ProcessState.ExitCode(); code != tt.want {
				t.Errorf("exit code %d, want %d; stderr:\n%s", code, tt.want, &stderr)
			}
			var got struct{ Results []result }
			if err := json.Unmarshal([]byte(stdout.String()), &got); err != nil {
				t.Fatalf("stdout: %v\n%s", err, &stdout)
			}
			if len(got.Results) != 2 || got.Results[1].Verdict != verdict.Inconclusive {
				t.Errorf("stdout:\n%s", &stdout)
			}
			tr, err := readTrace(filepath.Join(out, tt.scenarios[1]+".ndjson"))
			if err != nil || tr.End.Reason != trace.Environment {
				t.Errorf("the interrupted trace: end %+v, %v", tr.End, err)
			}
		})
	}
}

func TestTheSecondCtrlCQuitsAtOnce(t *testing.T) {
	out := t.TempDir()
	cmd := command(t, "run", "--out", out, scenarioFile(t, "deaf"))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(out, "deaf.ndjson"), `"to":"InProgress"`)
	cmd.Process.Signal(os.Interrupt) //nolint:errcheck // seen below
	said := bufio.NewScanner(stderr)
	if !said.Scan() || !strings.Contains(said.Text(), "once more quits at once") {
		t.Errorf("stderr: %s", said.Text())
	}
	start := time.Now()
	cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // seen below
	cmd.Wait()                          //nolint:errcheck // the exit code says it
	if code, d := cmd.ProcessState.ExitCode(), time.Since(start); code != exitInconclusive || d > time.Second {
		t.Errorf("exit code %d after %v", code, d)
	}
}

func TestAClosedStdoutIsNoCrash(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		cmd := command(t, "run", "--format", format, scenarioFile(t, "fails"))
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = w, &stderr
		cmd.Run() //nolint:errcheck // the exit code says it
		w.Close()
		if code := cmd.ProcessState.ExitCode(); code != exitFailure || stderr.Len() > 0 {
			t.Errorf("%s: %v, stderr %q", format, cmd.ProcessState, stderr.String())
		}
	}
}

func TestExitOf(t *testing.T) {
	pass, known := &result{Run: reports.Run{Verdict: verdict.Pass}}, &result{Run: reports.Run{Verdict: verdict.KnownDeviation}}
	fail, unclear := &result{Run: reports.Run{Verdict: verdict.Fail}}, &result{Run: reports.Run{Verdict: verdict.Inconclusive}}
	unwritten := &result{Run: reports.Run{Verdict: verdict.Pass}, lost: errors.New("disk full")}
	for name, tt := range map[string]struct {
		results []*result
		jobs    int
		want    int
	}{
		"nothing went wrong":             {[]*result{pass, known}, 2, exitOK},
		"a failure wins":                 {[]*result{unclear, fail, unclear}, 4, exitFailure},
		"one is inconclusive":            {[]*result{pass, unclear}, 2, exitInconclusive},
		"interrupted between two runs":   {[]*result{pass}, 2, exitInconclusive},
		"a verdict could not be written": {[]*result{unwritten, pass}, 2, exitInconclusive},
	} {
		t.Run(name, func(t *testing.T) {
			code := exitOK
			var exit *exitError
			if errors.As(exitOf(tt.results, tt.jobs), &exit) {
				code = exit.code
			}
			if code != tt.want {
				t.Errorf("exit code %d, want %d", code, tt.want)
			}
		})
	}
}

func TestVersionIsGoMods(t *testing.T) {
	b, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "github.com/vmware-tanzu/velero v"+velero+"\n") {
		t.Errorf("go.mod requires another Velero than %s: correct the constant", velero)
	}
}

// waitFor waits until a file that another process writes has the text.
func waitFor(t *testing.T, path, text string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), text) {
			return
		}
	}
	t.Fatalf("%s never had %s", path, text)
}

func readTrace(path string) (trace.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return trace.Trace{}, err
	}
	defer f.Close()
	return trace.Read(f, path)
}
