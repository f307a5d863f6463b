package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const takes = time.Second

// careless is what both actions have in common. An operation's ID is careless.<start in Unix nanoseconds>.<namespace>.<name>.
type careless struct{}

func (careless) Name() string { return name }

func (careless) AppliesTo() (velero.ResourceSelector, error) {
	// Planted: 17 each process selects something else.
	scratch := fmt.Sprintf("scratch-%d", time.Now().UnixNano())
	return velero.ResourceSelector{IncludedResources: []string{"configmaps"}, ExcludedNamespaces: []string{scratch}}, nil
}

func (careless) execute(item runtime.Unstructured) (runtime.Unstructured, string, error) {
	// Planted: 11 panics if the item has no data, as is legal.
	data := item.UnstructuredContent()["data"].(map[string]any)
	size := 0
	for _, value := range data {
		size += len(value.(string))
	}
	if size > 512<<10 {
		// Planted: 18 hangs if the item is large.
		select {}
	}
	// Planted: 15 leaves a child process behind.
	if err := leaveChild(); err != nil {
		return nil, "", err
	}
	u := &unstructured.Unstructured{Object: item.UnstructuredContent()}
	id := fmt.Sprintf("careless.%d.%s.%s", time.Now().UnixNano(), u.GetNamespace(), u.GetName())
	if strings.HasSuffix(u.GetName(), "-2") {
		// Planted: 12 returns another object than it was given.
		u.SetName(u.GetName() + "-moved")
	}
	return u, id, nil
}

func (careless) progress(id string) (velero.OperationProgress, error) {
	parts := strings.SplitN(id, ".", 3)
	if len(parts) < 3 || parts[0] != "careless" {
		return velero.OperationProgress{}, biav2.InvalidOperationIDError(id)
	}
	nanoseconds, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return velero.OperationProgress{}, biav2.InvalidOperationIDError(id)
	}
	started := time.Unix(0, nanoseconds).UTC()
	p := velero.OperationProgress{NTotal: 1, OperationUnits: "items", Started: started, Updated: started}
	if end := started.Add(takes); !time.Now().Before(end) {
		p.Completed, p.NCompleted, p.Updated = true, 1, end
	}
	return p, nil
}

type backupAction struct{ careless }

func (a backupAction) Execute(item runtime.Unstructured, _ *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	// Planted: 13 starts an operation also when the backup is finalizing.
	item, id, err := a.execute(item)
	return item, nil, id, nil, err
}

func (a backupAction) Progress(id string, _ *velerov1.Backup) (velero.OperationProgress, error) {
	return a.progress(id)
}

func (backupAction) Cancel(string, *velerov1.Backup) error {
	// Planted: 19 Cancel hangs.
	select {}
}

type restoreAction struct{ careless }

func (a restoreAction) Execute(in *velero.RestoreItemActionExecuteInput) (*velero.RestoreItemActionExecuteOutput, error) {
	item, id, err := a.execute(in.Item)
	if err != nil {
		return nil, err
	}
	return velero.NewRestoreItemActionExecuteOutput(item).WithOperationID(id), nil
}

func (a restoreAction) Progress(id string, _ *velerov1.Restore) (velero.OperationProgress, error) {
	return a.progress(id)
}

func (restoreAction) Cancel(string, *velerov1.Restore) error {
	// Planted: 19 Cancel hangs.
	select {}
}

func (restoreAction) AreAdditionalItemsReady([]velero.ResourceIdentifier, *velerov1.Restore) (bool, error) {
	return true, nil
}
