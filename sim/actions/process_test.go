package actions_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/velosim/velosim/sim/actions"
)

// Executables that do not start are no plugins, for List at once and for a call after the relaunches.
func TestDoesNotStart(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		executable(t, "handshake"):   "incompatible API version with plugin. Plugin version: 1, Client versions: [2]",
		executable(t, "talks"):       "Unrecognized remote plugin message: Hello.",
		executable(t, "exits"):       "exits: ", // go-plugin sees one of two reasons first
		executable(t, "invalid"):     "invalid: ",
		text:                         "exec format error",
		filepath.Join(text, "a"):     "not a directory",
		"/dev/null/velosim-plugin/x": "not a directory",
	} {
		t.Run(filepath.Base(command), func(t *testing.T) {
			c := newClient(t, 0)
			log, _ := logtest.NewNullLogger()
			listed, err := actions.List(t.Context(), command, log)
			if len(listed) > 0 {
				t.Errorf("List: %v", listed)
			}
			contains(t, err, want)
			err = c.Execute(t.Context(), identifier(command, actions.PluginKindPreBackupAction, "example.io/quiesce"), backup(c.record, "", ""))
			if !errors.Is(err, actions.ErrCrashed) {
				t.Errorf("error %v, want ErrCrashed", err)
			}
			contains(t, err, want)
		})
	}
}

// A process that never shakes hands is killed at the deadline too.
func TestSilent(t *testing.T) {
	c := newClient(t, 300*time.Millisecond)
	err := c.Execute(t.Context(), identifier(executable(t, "silent"), actions.PluginKindPreBackupAction, "example.io/quiesce"), backup(c.record, "", ""))
	if !errors.Is(err, actions.ErrDeadline) {
		t.Errorf("error %v, want ErrDeadline", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	log, _ := logtest.NewNullLogger()
	if _, err := actions.List(ctx, executable(t, "silent"), log); err == nil {
		t.Error("List succeeded")
	}
}

// The caller's context and Close end calls that hang, and those that wait for their turn.
func TestInterrupted(t *testing.T) {
	for _, how := range []string{"cancel", "close"} {
		t.Run(how, func(t *testing.T) {
			c := newClient(t, 0)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			id := identifier(c.command, actions.PluginKindPreBackupAction, "example.io/quiesce")
			results := make(chan error, 2)
			call := func() { results <- c.Execute(ctx, id, backup(c.record, "hang", "")) }
			go call()
			eventually(t, "the action hangs", func() bool { return len(recorded(t, c.record)) == 1 })
			go call()
			if how == "cancel" {
				cancel(errors.New("the server stops"))
			} else {
				c.Close()
			}
			for range 2 {
				contains(t, <-results, map[string]string{"cancel": "the server stops", "close": "the client of plugins is closed"}[how])
			}
			if pid := recorded(t, c.record)[0].pid; !gone(pid)() {
				t.Errorf("process %d still runs", pid)
			}
			if how == "close" {
				contains(t, c.do(""), "the client of plugins is closed")
			} else if err := c.do(""); err != nil {
				t.Error(err)
			}
		})
	}
}

// Close ends a process that is stopped, and those that actions have started and left.
func TestClose(t *testing.T) {
	for _, how := range []string{"stop", "child", "daemon"} {
		t.Run(how, func(t *testing.T) {
			c := newClient(t, 0)
			if how == "stop" {
				if err := c.do(""); err != nil {
					t.Fatal(err)
				}
				syscall.Kill(recorded(t, c.record)[0].pid, syscall.SIGSTOP) //nolint:errcheck
			} else if err := c.do(how); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			c.Close()
			t.Logf("Close took %s", time.Since(began))
			for _, call := range recorded(t, c.record) {
				if how == "daemon" && call.object == "child" { // it has made itself independent; Close does not wait for it
					syscall.Kill(call.pid, syscall.SIGKILL) //nolint:errcheck
				} else {
					eventually(t, "the process is gone", gone(call.pid))
				}
			}
		})
	}
}

// Plugins go with the process that started them.
func TestOwnerKilled(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp) // the folder of the socket stays
	record := filepath.Join(t.TempDir(), "record")
	owner := exec.Command(executable(t, "owner"), executable(t, "actions"), record)
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the action hangs", func() bool { return len(recorded(t, record)) == 1 })
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	owner.Wait() //nolint:errcheck // it is killed
	eventually(t, "the plugin is gone", gone(recorded(t, record)[0].pid))
}

// What plugins log and print is in the client's log.
func TestLog(t *testing.T) {
	c := newClient(t, 0)
	if err := c.do("log"); err != nil {
		t.Fatal(err)
	}
	has := func(level logrus.Level, message string, fields logrus.Fields) bool {
		return slices.ContainsFunc(c.log.AllEntries(), func(e *logrus.Entry) bool {
			for name, value := range fields {
				if e.Data[name] != value {
					return false
				}
			}
			return e.Level == level && e.Message == message && e.Data["cmd"] == c.command
		})
	}
	eventually(t, "what it prints is logged", func() bool { return has(logrus.InfoLevel, "printed", nil) })
	c.Close()
	object := "backup velero/backup-1 InProgress"
	if !has(logrus.DebugLevel, "a detail", logrus.Fields{"object": object, "pluginName": "actions"}) ||
		!has(logrus.ErrorLevel, "an error", logrus.Fields{"object": object, "error": "no cloud"}) {
		for _, e := range c.log.AllEntries() {
			t.Log(e.Level, e.Message, e.Data)
		}
		t.Error("the plugin's entries are not in the log")
	}
}
