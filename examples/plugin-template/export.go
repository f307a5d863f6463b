package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	name = "example.com/export"
	// takes is how long an export takes.
	takes = 20 * time.Minute
)

// export is a BackupItemAction. Each call of Progress and Cancel comes to a new process, so that nothing may be kept in it: here, all that is
// to be known of an operation is in its ID. Put what yours needs into a custom resource, say, and its name into the ID.
type export struct {
	log logrus.FieldLogger
	now func() time.Time
}

// Name is not called on the plugin's side.
func (*export) Name() string { return name }

// AppliesTo selects config maps.
func (*export) AppliesTo() (velero.ResourceSelector, error) {
	return velero.ResourceSelector{IncludedResources: []string{"configmaps"}}, nil
}

// Execute starts an export, unless the backup is being finalized: nobody would wait for it.
func (e *export) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	switch backup.Status.Phase {
	case velerov1.BackupPhaseFinalizing, velerov1.BackupPhaseFinalizingPartiallyFailed:
		return item, nil, "", nil, nil
	}
	u := unstructured.Unstructured{Object: item.UnstructuredContent()}
	id := fmt.Sprintf("%s.%s.%d", u.GetNamespace(), u.GetName(), e.now().UnixNano())
	e.log.WithField("operation", id).Info("Export started")
	return item, nil, id, nil, nil
}

// Progress reports an export as complete when its time has come.
func (e *export) Progress(operationID string, _ *velerov1.Backup) (velero.OperationProgress, error) {
	started, err := startOf(operationID)
	if err != nil {
		return velero.OperationProgress{}, err
	}
	p := velero.OperationProgress{NTotal: 100, OperationUnits: "%", Started: started, Updated: started}
	if e.now().Sub(started) >= takes {
		p.NCompleted, p.Completed, p.Updated = 100, true, started.Add(takes)
	}
	return p, nil
}

// Cancel has nothing to cancel: say here to what does the work that it should stop, and do not wait until it has.
func (*export) Cancel(operationID string, _ *velerov1.Backup) error {
	_, err := startOf(operationID)
	return err
}

// startOf is when the operation was started; an error for an ID that is none of ours.
func startOf(operationID string) (time.Time, error) {
	at := operationID[strings.LastIndex(operationID, ".")+1:]
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil || strings.Count(operationID, ".") < 2 {
		return time.Time{}, biav2.InvalidOperationIDError(operationID)
	}
	return time.Unix(0, n).UTC(), nil
}
