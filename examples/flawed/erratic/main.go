// Erratic is a bad plugin: what it reports of its operations makes no sense. See ../README.md.
package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	name  = "example.io/erratic"
	slot  = 500 * time.Millisecond // what is reported changes with each
	takes = 4                      // slots
)

func main() {
	framework.NewServer().BindFlags(pflag.CommandLine).
		RegisterBackupItemActionV2(name, func(logrus.FieldLogger) (any, error) { return erratic{}, nil }).
		Serve()
}

// erratic has no state: an operation's ID is erratic.<start in Unix nanoseconds>.<namespace>.<name>.
type erratic struct{}

func (erratic) Name() string { return name }

func (erratic) AppliesTo() (velero.ResourceSelector, error) {
	return velero.ResourceSelector{IncludedResources: []string{"configmaps"}}, nil
}

func (erratic) Execute(item runtime.Unstructured, backup *velerov1.Backup) (
	runtime.Unstructured, []velero.ResourceIdentifier, string, []velero.ResourceIdentifier, error,
) {
	switch backup.Status.Phase {
	case velerov1.BackupPhaseFinalizing, velerov1.BackupPhaseFinalizingPartiallyFailed:
		return item, nil, "", nil, nil
	}
	u := unstructured.Unstructured{Object: item.UnstructuredContent()}
	return item, nil, fmt.Sprintf("erratic.%d.%s.%s", time.Now().UnixNano(), u.GetNamespace(), u.GetName()), nil, nil
}

func (erratic) Progress(id string, _ *velerov1.Backup) (velero.OperationProgress, error) {
	started, err := startOf(id)
	if err != nil {
		return velero.OperationProgress{}, err
	}
	now := time.Since(started) / slot
	p := velero.OperationProgress{NTotal: 10, OperationUnits: "steps"}
	// Planted: 5 NCompleted goes back.
	p.NCompleted = []int64{3, 2, 5, 4}[now%4]
	if now == 2 {
		// Planted: 6 NCompleted exceeds NTotal.
		p.NCompleted = 12
	}
	if now > 0 {
		// Planted: 7 Started and Updated are not set at first, and later Updated is before Started.
		p.Started, p.Updated = started, started.Add(-time.Hour)
	}
	// Planted: 8 what has completed is running again in every second slot.
	if p.Completed = now >= takes && now%2 == 0; p.Completed {
		p.NCompleted = p.NTotal
	} else {
		// Planted: 10 an error is reported of what has not completed.
		p.Err = "the disk is slow"
	}
	return p, nil
}

func (erratic) Cancel(id string, _ *velerov1.Backup) error {
	// Planted: 9 Cancel succeeds and has no effect: the operation goes on and completes in its time.
	_, err := startOf(id)
	return err
}

// startOf is the start in an operation's ID.
func startOf(id string) (time.Time, error) {
	parts := strings.SplitN(id, ".", 3)
	if len(parts) < 3 || parts[0] != "erratic" {
		return time.Time{}, biav2.InvalidOperationIDError(id)
	}
	nanoseconds, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || nanoseconds > time.Now().UnixNano() {
		return time.Time{}, biav2.InvalidOperationIDError(id)
	}
	return time.Unix(0, nanoseconds).UTC(), nil
}
