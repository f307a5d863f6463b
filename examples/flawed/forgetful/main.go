// Forgetful is a bad plugin: it keeps in its process what must outlast it. See ../README.md.
package main

import (
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	name  = "example.io/forgetful"
	takes = 2 * time.Second
)

func main() {
	framework.NewServer().BindFlags(pflag.CommandLine).
		RegisterBackupItemActionV2(name, func(logrus.FieldLogger) (any, error) {
			return &forgetful{operations: map[string]operation{}}, nil
		}).
		Serve()
}

type operation struct{ started, cancelled time.Time }

type forgetful struct {
	mu sync.Mutex
	// Planted: 1 operations are in the process's memory, and each poll is a new process.
	operations map[string]operation
}

func (*forgetful) Name() string { return name }

func (*forgetful) AppliesTo() (velero.ResourceSelector, error) {
	return velero.ResourceSelector{IncludedResources: []string{"configmaps"}}, nil
}

func (f *forgetful) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	switch backup.Status.Phase {
	case velerov1.BackupPhaseFinalizing, velerov1.BackupPhaseFinalizingPartiallyFailed:
		return item, nil, "", nil, nil
	}
	// Planted: 2 all items of a backup have the same operation ID.
	id := "forgetful." + backup.Name
	f.mu.Lock()
	defer f.mu.Unlock()
	f.operations[id] = operation{started: time.Now().UTC()}
	return item, nil, id, nil, nil
}

func (f *forgetful) Progress(id string, _ *velerov1.Backup) (velero.OperationProgress, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.operations[id]
	if !ok {
		// Planted: 4 an unknown operation has no progress, and no error: Velero polls it until its timeout.
		return velero.OperationProgress{}, nil
	}
	p := velero.OperationProgress{NTotal: 1, OperationUnits: "items", Started: o.started, Updated: o.started}
	switch end := o.started.Add(takes); {
	case !o.cancelled.IsZero():
		p.Completed, p.Err, p.Updated = true, "cancelled", o.cancelled
	case !time.Now().Before(end):
		p.Completed, p.NCompleted, p.Updated = true, 1, end
	}
	return p, nil
}

func (f *forgetful) Cancel(id string, _ *velerov1.Backup) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.operations[id]
	if !ok {
		// Planted: 3 the cancel of an unknown operation succeeds.
		return nil
	}
	if now := time.Now().UTC(); o.cancelled.IsZero() && now.Before(o.started.Add(takes)) {
		o.cancelled = now
		f.operations[id] = o
	}
	return nil
}
