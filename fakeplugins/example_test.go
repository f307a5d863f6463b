package fakeplugins_test

import (
	"context"
	"fmt"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// A plugin whose operations live in the memory of its process: the process that the next poll starts knows none.
func Example() {
	script := scenario.Plugin{
		Name:      "example.io/mover",
		Action:    scenario.BackupItemAction,
		Operation: &scenario.Operation{Forgets: true},
	}
	journal := func(object string, c trace.Call) func(trace.Return) {
		return func(r trace.Return) {
			fmt.Printf("%s: %s %s%s: %s%s\n", object, c.Method, c.Item, c.Operation, r.Operation, r.Error)
		}
	}
	operations := fakeplugins.NewOperations(time.Now(), nil)
	backup := new(velerov1.Backup)
	backup.Name = "backup-1"
	item := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"namespace": "app", "name": "settings"},
	}}

	process := fakeplugins.NewProcess(context.Background(), script, operations, journal)
	_, _, id, _, _ := process.BackupItemAction().Execute(item, backup)
	process = fakeplugins.NewProcess(context.Background(), script, operations, journal)
	_, _ = process.BackupItemAction().Progress(id, backup)
	// Output:
	// backup/backup-1: Execute configmaps/app/settings: backup-1/mover-1
	// backup/backup-1: Progress backup-1/mover-1: operation ID backup-1/mover-1 is invalid
}
