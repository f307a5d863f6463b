package plugintest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/plugintest"
	"github.com/velosim/velosim/sim/trace"
)

func TestMain(m *testing.M) { plugintest.Main(m, register) }

// register registers a mover whose operations take ten minutes, and one that forgets them.
func register(s framework.Server) {
	s.RegisterBackupItemActionV2("example.io/mover", func(logrus.FieldLogger) (any, error) { return mover{}, nil })
	s.RegisterBackupItemActionV2("example.io/forgetful", func(logrus.FieldLogger) (any, error) { return forgetful{}, nil })
}

const takes = 10 * time.Minute

// mover has all that it knows of an operation in its ID: item.start.
type mover struct{}

func (mover) Name() string { return "" }

func (mover) AppliesTo() (velero.ResourceSelector, error) {
	return velero.ResourceSelector{IncludedResources: []string{"configmaps"}}, nil
}

func (mover) Execute(item kruntime.Unstructured, backup *velerov1.Backup) (
	kruntime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	if strings.HasPrefix(string(backup.Status.Phase), "Finalizing") {
		return item, nil, "", nil, nil
	}
	u := unstructured.Unstructured{Object: item.UnstructuredContent()}
	return item, nil, fmt.Sprintf("%s.%d", u.GetName(), plugintest.Now().UnixNano()), nil, nil
}

func (mover) Progress(id string, _ *velerov1.Backup) (velero.OperationProgress, error) {
	_, at, ok := strings.Cut(id, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return velero.OperationProgress{}, biav2.InvalidOperationIDError(id)
	}
	started := time.Unix(0, n).UTC()
	p := velero.OperationProgress{NTotal: 10, Started: started, Updated: started}
	if done := plugintest.Now().Sub(started); done >= takes {
		p.NCompleted, p.Completed, p.Updated = 10, true, started.Add(takes)
	}
	return p, nil
}

func (mover) Cancel(string, *velerov1.Backup) error { return nil }

type forgetful struct{ mover }

func (forgetful) AppliesTo() (velero.ResourceSelector, error) {
	return velero.ResourceSelector{IncludedResources: []string{"secrets"}}, nil
}

func (forgetful) Progress(id string, _ *velerov1.Backup) (velero.OperationProgress, error) {
	return velero.OperationProgress{}, biav2.InvalidOperationIDError(id)
}

const killed = `
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: server-killed}
plugins:
- {name: example.io/mover, own: true}
items: [configmaps/app/settings, configmaps/app/more]
faults:
- {at: {phase: WaitingForPluginOperations, delay: 5m}, do: {kill: {restartAfter: 10s}}}
expect:
  phase: Completed
  operations: {attempted: 2, completed: 2, failed: 0}
  within: 11m
`

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs the executable of the virtual world, and -short asks for none")
	}
	plugintest.Run(t, plugintest.Case{Scenario: killed, Seeds: 4, Checks: []plugintest.Check{
		plugintest.NoFinding(),
		plugintest.Contract("example.io/mover"),
		plugintest.Ends("backup/backup-1", "Completed"),
		plugintest.Calls("example.io/mover", "Cancel", 0, 0),
		plugintest.Replies("example.io/mover", func(_ trace.Call, r trace.Return) error {
			if r.Error != "" {
				return errors.New(r.Error)
			}
			return nil
		}),
	}})
}

// What each check says of a plugin that forgets its operations, and of one that registers nothing.
func TestChecksFail(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs the executable of the virtual world, and -short asks for none")
	}
	r := plugintest.RunOnce(t, `
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: forgets}
plugins: [{name: example.io/forgetful, own: true}]
items: [secrets/app/token]
expect: {phase: Completed}
`)
	for name, test := range map[string]struct {
		check plugintest.Check
		want  string
	}{
		"NoFinding": {plugintest.NoFinding(), "want phase Completed, seen phase PartiallyFailed, as Velero 1.18.3 does by progress-error-is-final"},
		"Contract":  {plugintest.Contract("example.io/forgetful"), "operation-id-in-new-process: A new process of the plugin knows an operation by its ID."},
		"Keeps":     {plugintest.Keeps("example.io/forgetful", "progress-monotonous"), `there is no check "progress-monotonous"`},
		"Ends":      {plugintest.Ends("backup/backup-1", "Completed"), "the last phase of backup/backup-1 is PartiallyFailed, want Completed"},
		"Calls":     {plugintest.Calls("example.io/forgetful", "Cancel", 1, 1), "Cancel of example.io/forgetful was called 0 times, want 1 to 1"},
		"Replies": {plugintest.Replies("example.io/forgetful", func(c trace.Call, r trace.Return) error {
			if r.Error != "" {
				return errors.New(r.Error)
			}
			return nil
		}), "is invalid"},
	} {
		if err := test.check(r); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	unknown := plugintest.RunOnce(t, `
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: unknown}
plugins: [{name: example.io/nobody, own: true}]
expect: {phase: Completed}
`)
	want := "no executable registers the BackupItemAction example.io/nobody, which is the user's own by the scenario"
	if err := plugintest.NoFinding()(unknown); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a plugin that nothing registers: %v, want %q", err, want)
	}
}

// Virtual time tells the processes of the plugin the time, so that a run can be made again.
func TestSameSeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs the executable of the virtual world, and -short asks for none")
	}
	first, second := plugintest.RunOnce(t, killed), plugintest.RunOnce(t, killed)
	if diff := cmp.Diff(first.Trace, second.Trace); diff != "" {
		t.Errorf("two runs with one seed differ:\n%s", diff)
	}
	if self, err := os.Executable(); err != nil || runtime.GOOS == "linux" && processes(t, self) != 1 {
		t.Errorf("%d processes of the plugin are left (error %v)", processes(t, self)-1, err)
	}
}

// processes counts those of the executable.
func processes(t *testing.T, executable string) (n int) {
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if path, err := os.Readlink(link); err == nil && path == executable {
			n++
		}
	}
	return n
}
