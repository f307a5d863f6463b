package virtual

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/property"
	"github.com/velosim/velosim/sim/velero/server"
	"github.com/velosim/velosim/sim/world"
)

// planted has the test's executable serve the world with a defect.
var planted = flag.String("planted", "", "serve the world with the `defect` of this name")

func TestMain(m *testing.M) {
	flag.Parse()
	if *planted == "" {
		os.Exit(m.Run())
	}
	w := New()
	w.decorate = defects()[*planted].plant
	if err := world.Serve(context.Background(), w, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// defect is what may be wrong with Velero, as far as it shows between its controllers and what they use.
type defect struct {
	plant func(server.Views) server.Views
	// oracles are those that may tell.
	oracles []string
}

func defects() map[string]defect {
	return map[string]defect{
		"none":                {},
		"a patch is dropped":  {func(v server.Views) server.Views { return &dropsPatch{Views: v} }, []string{"liveness"}},
		"Cancel is doubled":   {func(v server.Views) server.Views { return wrapsPlugins{v, doublesCancel} }, []string{"contract"}},
		"an error is dropped": {func(v server.Views) server.Views { return wrapsPlugins{v, swallowsError} }, []string{"prediction", "conformance"}},
	}
}

func TestPlantedDefectsAreFound(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sound, err := world.Open(t.Context(), path, world.Options{Args: []string{"-planted", "none"}})
	if err != nil {
		t.Fatal(err)
	}
	defer sound.Close()
	for name, defect := range defects() {
		if defect.plant == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			pool, err := world.OpenPool(t.Context(), path, 2, world.Options{Args: []string{"-planted", name}})
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			runs := 0
			for r := range property.Search(t.Context(), pool, 1, 300) {
				runs++
				if r.Finding == nil || !slices.Contains(defect.oracles, r.Finding.Oracle) {
					continue
				}
				if property.Play(t.Context(), sound, r.Drawn, r.Number).Finding == nil { // else the defect is not why
					t.Logf("found in run %d: %s", runs, property.Kind(*r.Finding))
					return
				}
			}
			t.Errorf("not found in %d runs", runs)
		})
	}
}

// dropsPatch loses the first patch of a finalizer, which sees it succeed.
type dropsPatch struct {
	server.Views
	dropped atomic.Bool
}

func (d *dropsPatch) Cached(controller string) client.Client {
	c := d.Views.Cached(controller)
	if strings.HasSuffix(controller, "-finalizer") {
		return dropsOnePatch{c, &d.dropped}
	}
	return c
}

type dropsOnePatch struct {
	client.Client
	dropped *atomic.Bool
}

func (c dropsOnePatch) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if c.dropped.CompareAndSwap(false, true) {
		return nil
	}
	return c.Client.Patch(ctx, o, p, opts...)
}

// wrapsPlugins puts something between the controllers and the item actions.
type wrapsPlugins struct {
	server.Views
	wrap func(clientmgmt.Manager) clientmgmt.Manager
}

func (v wrapsPlugins) Plugins(controller string) func(logrus.FieldLogger) clientmgmt.Manager {
	manager := v.Views.Plugins(controller)
	return func(log logrus.FieldLogger) clientmgmt.Manager { return v.wrap(manager(log)) }
}

func doublesCancel(m clientmgmt.Manager) clientmgmt.Manager { return cancelsTwice{m} }

type cancelsTwice struct{ clientmgmt.Manager }

func (m cancelsTwice) GetBackupItemActionV2(name string) (biav2.BackupItemAction, error) {
	a, err := m.Manager.GetBackupItemActionV2(name)
	return cancelsBackupTwice{a}, err
}

func (m cancelsTwice) GetRestoreItemActionV2(name string) (riav2.RestoreItemAction, error) {
	a, err := m.Manager.GetRestoreItemActionV2(name)
	return cancelsRestoreTwice{a}, err
}

type cancelsBackupTwice struct{ biav2.BackupItemAction }

func (a cancelsBackupTwice) Cancel(id string, b *velerov1.Backup) error {
	_ = a.BackupItemAction.Cancel(id, b)
	return a.BackupItemAction.Cancel(id, b)
}

type cancelsRestoreTwice struct{ riav2.RestoreItemAction }

func (a cancelsRestoreTwice) Cancel(id string, r *velerov1.Restore) error {
	_ = a.RestoreItemAction.Cancel(id, r)
	return a.RestoreItemAction.Cancel(id, r)
}

func swallowsError(m clientmgmt.Manager) clientmgmt.Manager { return executesWell{m} }

// executesWell loses the errors of backup item actions.
type executesWell struct{ clientmgmt.Manager }

func (m executesWell) GetBackupItemActionsV2() ([]biav2.BackupItemAction, error) {
	actions, err := m.Manager.GetBackupItemActionsV2()
	for i, a := range actions {
		actions[i] = executesBackupWell{a}
	}
	return actions, err
}

type executesBackupWell struct{ biav2.BackupItemAction }

func (a executesBackupWell) Execute(o runtime.Unstructured, b *velerov1.Backup) (runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error) {
	changed, more, operation, updates, err := a.BackupItemAction.Execute(o, b)
	if err != nil {
		return o, nil, "", nil, nil
	}
	return changed, more, operation, updates, nil
}
