package actions_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/velosim/velosim/sim/actions"
)

// client is one whose processes and files are gone at the end of the test.
type client struct {
	*actions.Client
	t       *testing.T
	command string
	record  string // the file that actions record their calls in
	log     *logtest.Hook
}

func newClient(t *testing.T, timeout time.Duration) *client {
	t.Helper()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	c := &client{t: t, command: executable(t, "actions"), record: filepath.Join(t.TempDir(), "record")}
	log, hook := logtest.NewNullLogger()
	log.Level, c.log = logrus.DebugLevel, hook
	o := actions.Options{Log: log}
	if timeout != 0 {
		o.Timeouts = map[string]time.Duration{"example.io/quiesce": timeout}
	}
	c.Client = actions.NewClient(o)
	t.Cleanup(func() {
		c.Close()
		nothingLeft(t, temp)
	})
	return c
}

// nothingLeft checks that this process has no children, and that the folder is empty.
func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	if children := children(t); len(children) > 0 {
		t.Errorf("processes are left: %q", children)
	}
	if files, err := os.ReadDir(temp); err != nil || len(files) > 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
}

func children(t *testing.T) []string {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var children []string
	for _, path := range lists {
		list, _ := os.ReadFile(path) // the thread may have ended
		children = append(children, strings.Fields(string(list))...)
	}
	return children
}

// do calls the action of example.io/quiesce before a backup, and says how.
func (c *client) do(how string) error {
	return c.Execute(c.t.Context(), identifier(c.command, actions.PluginKindPreBackupAction, "example.io/quiesce"), backup(c.record, how, "InProgress"))
}

func contains(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// Every kind gets its object, in one process.
func TestKinds(t *testing.T) {
	c := newClient(t, 0)
	restore := &velerov1.Restore{ObjectMeta: object("restore-1", c.record, ""), Status: velerov1.RestoreStatus{Phase: velerov1.RestorePhaseCompleted}}
	for _, step := range []struct {
		kind common.PluginKind
		name string
		of   metav1.Object
	}{
		{actions.PluginKindPreBackupAction, "example.io/quiesce", backup(c.record, "", "InProgress")},
		{actions.PluginKindPostBackupAction, "example.io/quiesce", backup(c.record, "", "PartiallyFailed")},
		{actions.PluginKindPostBackupAction, "example.io/audit", backup(c.record, "", "Failed")},
		{actions.PluginKindPreRestoreAction, "example.io/gate", restore},
		{actions.PluginKindPostRestoreAction, "example.io/gate", restore},
	} {
		if err := c.Execute(t.Context(), identifier(c.command, step.kind, step.name), step.of); err != nil {
			t.Error(err)
		}
	}
	var got []string
	calls := recorded(t, c.record)
	for _, call := range calls {
		got = append(got, call.object)
		if call.pid != calls[0].pid {
			t.Error("not all calls were in one process")
		}
	}
	want := []string{
		"backup velero/backup-1 InProgress", "backup velero/backup-1 PartiallyFailed", "backup velero/backup-1 Failed",
		"restore velero/restore-1 Completed", "restore velero/restore-1 Completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// A plugin's own errors are Velero's, and the process goes on.
func TestOwnErrors(t *testing.T) {
	c := newClient(t, 0)
	for _, test := range []struct {
		how, want string
	}{
		{"error", "rpc error: code = Unknown desc = no cloud"},
		{"status", "rpc error: code = Unknown desc = no cloud"},
		{"panic", "rpc error: code = Aborted desc = plugin panicked: nil map"},
	} {
		err := c.do(test.how)
		contains(t, err, test.want)
		if errors.Is(err, actions.ErrDeadline) || errors.Is(err, actions.ErrCrashed) {
			t.Errorf("%s: error %v", test.how, err)
		}
	}
	for name, want := range map[string]string{
		"example.io/other": "the executable has no PreBackupAction example.io/other",
		"example.io/wrong": "restores has no method Execute(context.Context, *v1.Backup) error",
		"example.io/fails": "no cloud",
	} {
		contains(t, c.Execute(t.Context(), identifier(c.command, actions.PluginKindPreBackupAction, name), backup(c.record, "", "")), want)
	}
	if err := c.do(""); err != nil {
		t.Error(err)
	}
	calls := recorded(t, c.record)
	if len(calls) != 4 || calls[0].pid != calls[3].pid {
		t.Errorf("calls %v, want 4 in one process", calls)
	}
	var stacked interface{ File() string }
	if !errors.As(c.do("panic"), &stacked) || stacked.File() == "" {
		t.Error("the error of a panic has no stack trace")
	}
}

func TestWrongObject(t *testing.T) {
	c := newClient(t, 0)
	contains(t, c.Execute(t.Context(), identifier(c.command, actions.PluginKindPreRestoreAction, "example.io/gate"), backup("", "", "")),
		"PreRestoreAction example.io/gate cannot be called with a *v1.Backup")
	contains(t, c.Execute(t.Context(), identifier(c.command, "ObjectStore", "example.io/gate"), backup("", "", "")),
		`"ObjectStore" is not a kind of pre/post actions`)
}

// What hangs past the deadline is killed before Execute returns; what heeds its context is told the same.
func TestDeadline(t *testing.T) {
	for _, how := range []string{"hang", "obey", "stop"} {
		t.Run(how, func(t *testing.T) {
			c := newClient(t, 500*time.Millisecond)
			for c.do("") != nil { // a machine that is slow may take longer to start the process
			}
			began := time.Now()
			err := c.do(how)
			if !errors.Is(err, actions.ErrDeadline) {
				t.Errorf("error %v, want ErrDeadline", err)
			}
			contains(t, err, "PreBackupAction example.io/quiesce: the deadline of the call is over after 500ms")
			if took := time.Since(began); took < 500*time.Millisecond {
				t.Errorf("it took %s", took)
			}
			calls := recorded(t, c.record)
			if pid := calls[len(calls)-1].pid; !gone(pid)() {
				t.Errorf("process %d still runs", pid)
			}
		})
	}
}

// A process that has died is launched again, in the call and before it.
func TestRelaunch(t *testing.T) {
	c := newClient(t, 0)
	if err := c.do("2"); err != nil {
		t.Error(err)
	}
	calls := recorded(t, c.record)
	if len(calls) != 3 {
		t.Fatalf("the action was called %d times, want 3", len(calls))
	}
	if err := syscall.Kill(calls[2].pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := c.do(""); err != nil {
		t.Error(err)
	}
	calls = recorded(t, c.record)
	if len(calls) != 4 || calls[3].pid == calls[2].pid {
		t.Errorf("calls %v, want one more, in a new process", calls)
	}
}

func TestRelaunchesAreBounded(t *testing.T) {
	c := newClient(t, 0)
	err := c.do("1000")
	if !errors.Is(err, actions.ErrCrashed) {
		t.Errorf("error %v, want ErrCrashed", err)
	}
	contains(t, err, "PreBackupAction example.io/quiesce: the plugin's process has died, and was relaunched 10 times: ")
	if calls := recorded(t, c.record); len(calls) != 11 {
		t.Errorf("the action was called %d times, want 11", len(calls))
	}
	c.record += "2" // later calls are not affected
	if err := c.do(""); err != nil {
		t.Error(err)
	}
}
