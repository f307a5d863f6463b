package actions_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	plugin "github.com/hashicorp/go-plugin"
	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/framework/backupitemaction/v2"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/velosim/velosim/sim/actions"
)

// The test binary is each of these executables, by the name of a link to it.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "actions":
		quiesce := func(log logrus.FieldLogger) (any, error) { return backups{log}, nil }
		actions.NewServer().
			RegisterPreBackupAction("example.io/quiesce", quiesce).
			RegisterPostBackupAction("example.io/quiesce", quiesce).
			RegisterPostBackupAction("example.io/audit", quiesce).
			RegisterPreRestoreAction("example.io/gate", func(log logrus.FieldLogger) (any, error) { return restores{log}, nil }).
			RegisterPostRestoreAction("example.io/gate", func(log logrus.FieldLogger) (any, error) { return restores{log}, nil }).
			RegisterPreBackupAction("example.io/wrong", func(log logrus.FieldLogger) (any, error) { return restores{log}, nil }).
			RegisterPreBackupAction("example.io/fails", func(logrus.FieldLogger) (any, error) { return nil, errors.New("no cloud") }).
			Serve()
	case "both":
		actions.NewServer().
			RegisterPreBackupAction("example.io/first", nil).
			RegisterVelero(common.PluginKindBackupItemActionV2, movers()).
			Serve()
	case "velero": // as Velero's own executable, and any plugin that is built with its framework
		framework.NewServer().RegisterBackupItemActionV2("velero.io/internal", nil).Serve()
	case "invalid":
		actions.NewServer().RegisterPreBackupAction("quiesce", nil).Serve()
	case "twice":
		actions.NewServer().RegisterPreBackupAction("example.io/a", nil).RegisterPreBackupAction("example.io/a", nil).Serve()
	case "unskippable":
		actions.NewServer().RegisterPreBackupAction("example.io/a b", nil).Serve()
	case "handshake":
		plugin.Serve(&plugin.ServeConfig{
			HandshakeConfig: plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "VELERO_PLUGIN", MagicCookieValue: "hello"},
			Plugins:         plugin.PluginSet{"any": framework.NewPluginListerPlugin(framework.NewPluginLister())},
			GRPCServer:      plugin.DefaultGRPCServer,
		})
	case "talks":
		fmt.Println("Hello.")
		select {}
	case "exits":
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(3)
	case "silent":
		fmt.Fprintln(os.Stderr, "started")
		select {}
	case "owner":
		owner(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
}

func movers() framework.Interface {
	p := biav2.NewBackupItemActionPlugin(common.ServerLogger(logrus.New()))
	p.Register("example.io/mover", nil)
	return p
}

// owner calls an action that hangs.
func owner(command, record string) {
	c := actions.NewClient(actions.Options{Log: logrus.New()})
	panic(c.Execute(context.Background(), identifier(command, actions.PluginKindPreBackupAction, "example.io/quiesce"), backup(record, "hang", "")))
}

// executable makes a link of this name.
func executable(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	link(t, path)
	return path
}

func link(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type (
	backups  struct{ log logrus.FieldLogger }
	restores struct{ log logrus.FieldLogger }
)

func (b backups) Execute(ctx context.Context, backup *velerov1.Backup) error {
	return act(ctx, b.log, "backup "+backup.Namespace+"/"+backup.Name+" "+string(backup.Status.Phase), backup.Annotations)
}

func (r restores) Execute(ctx context.Context, restore *velerov1.Restore) error {
	return act(ctx, r.log, "restore "+restore.Namespace+"/"+restore.Name+" "+string(restore.Status.Phase), restore.Annotations)
}

// act records the call and then does what the annotations say, which are those of a backup or restore.
func act(ctx context.Context, log logrus.FieldLogger, object string, annotations map[string]string) error {
	calls, err := record(annotations["record"], object)
	if err != nil {
		return err
	}
	log = log.WithField("object", object)
	switch do := annotations["do"]; do {
	case "":
		return nil
	case "log":
		log.Debug("a detail")
		log.WithError(errors.New("no cloud")).Error("an error")
		fmt.Println("printed")
		return nil
	case "error":
		return errors.New("no cloud")
	case "status": // of a server that the action has called
		return status.Error(codes.Unavailable, "no cloud")
	case "panic":
		panic("nil map")
	case "hang":
		select {}
	case "obey":
		<-ctx.Done()
		return ctx.Err()
	case "stop":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP) //nolint:errcheck
		select {}
	case "child", "daemon":
		sleep := exec.Command("sleep", "1000")
		sleep.Stderr = os.NewFile(2, "stderr")
		sleep.SysProcAttr = &syscall.SysProcAttr{Setsid: do == "daemon"}
		if err := sleep.Start(); err != nil {
			return err
		}
		_, err := recordOf(annotations["record"], sleep.Process.Pid, "child")
		return err
	default:
		deaths, err := strconv.Atoi(do)
		if err != nil {
			return err
		}
		if calls <= deaths {
			os.Exit(3)
		}
		return nil
	}
}

func record(path, object string) (calls int, err error) { return recordOf(path, os.Getpid(), object) }

func recordOf(path string, pid int, what string) (lines int, err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%d %s\n", pid, what); err != nil {
		return 0, err
	}
	content, err := os.ReadFile(path)
	return strings.Count(string(content), "\n"), err
}

// call is one that an action has recorded.
type call struct {
	pid    int
	object string
}

func recorded(t *testing.T, path string) []call {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var calls []call
	for line := range strings.Lines(string(content)) {
		pid, object, _ := strings.Cut(strings.TrimSpace(line), " ")
		id, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call{id, object})
	}
	return calls
}

func identifier(command string, kind common.PluginKind, name string) framework.PluginIdentifier {
	return framework.PluginIdentifier{Command: command, Kind: kind, Name: name}
}

func backup(record, do, phase string) *velerov1.Backup {
	return &velerov1.Backup{ObjectMeta: object("backup-1", record, do), Status: velerov1.BackupStatus{Phase: velerov1.BackupPhase(phase)}}
}

func object(name, record, do string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "velero", Name: name, Annotations: map[string]string{"record": record, "do": do}}
}

const patience = 60 * time.Second

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it takes too long until %s", what)
		}
	}
}

func gone(pid int) func() bool {
	return func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
}
