package direct

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	biav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v1"
	biav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/backupitemaction/v2"
	riav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v1"
	riav2 "github.com/vmware-tanzu/velero/pkg/plugin/velero/restoreitemaction/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/velosim/velosim/fakeplugins/subprocess"
	"github.com/velosim/velosim/sim/trace"
)

// process is one of the plugin's, in an exercise.
type process struct {
	*subprocess.Process
	run    *run
	action action
	object string
	hung   atomic.Bool // a call has not returned, and the process was killed
}

// call makes a call, and ends the process if it does not return in time. Others that are under way end with it.
func (p *process) call(do func(client any)) {
	if p.hung.Load() {
		return
	}
	client, err := p.Plugin(p.action.id, p.action.name, p.journal, p.run.spec.Epoch)
	if err != nil {
		return // its kind is one that has a client
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(client)
	}()
	select {
	case <-done:
	case <-time.After(p.run.spec.Call):
		if p.hung.CompareAndSwap(false, true) {
			p.run.event("", trace.Body{Process: &trace.Process{Name: p.action.name, State: "killed"}})
			p.Kill()
		}
	}
}

// journal tells of a call. One that the end of its process cuts short, since it or another has not returned, has no outcome.
func (p *process) journal(_ string, c trace.Call) func(trace.Return) {
	p.run.mu.Lock()
	p.run.calls++
	c.ID = p.run.calls
	p.run.mu.Unlock()
	p.run.event(p.object, trace.Body{Call: &c})
	return func(ret trace.Return) {
		if ret.ID = c.ID; !p.hung.Load() && !p.died(ret) {
			p.run.event(p.object, trace.Body{Return: &ret})
		}
	}
}

// exitWithin is how long a process may take to be seen to have ended, when a call has failed for it.
const exitWithin = time.Second

// died reports whether the call has failed as the process has ended.
func (p *process) died(ret trace.Return) bool {
	if !strings.Contains(ret.Error, "code = Unavailable") {
		return false
	}
	for end := time.Now().Add(exitWithin); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if p.Exited() {
			return true
		}
	}
	return false
}

// selector asks AppliesTo.
func (p *process) selector() (s velero.ResourceSelector, ok bool) {
	p.call(func(client any) {
		got, err := client.(interface {
			AppliesTo() (velero.ResourceSelector, error)
		}).AppliesTo()
		s, ok = got, err == nil
	})
	return s, ok && !p.hung.Load()
}

// execute calls Execute, and returns the operation that was started.
func (p *process) execute(item unstructured.Unstructured) string {
	started := make(chan string, 1)
	item = *item.DeepCopy()
	p.call(func(client any) {
		operation := ""
		switch a := client.(type) {
		case biav2.BackupItemAction:
			_, _, operation, _, _ = a.Execute(&item, p.backup())
		case biav1.BackupItemAction:
			a.Execute(&item, p.backup()) //nolint:errcheck // the journal is told
		case riav2.RestoreItemAction:
			out, err := a.Execute(&velero.RestoreItemActionExecuteInput{Item: &item, ItemFromBackup: item.DeepCopy(), Restore: p.restore()})
			if err == nil && out != nil {
				operation = out.OperationID
			}
		case riav1.RestoreItemAction:
			a.Execute(&velero.RestoreItemActionExecuteInput{Item: &item, ItemFromBackup: item.DeepCopy(), Restore: p.restore()}) //nolint:errcheck // see above
		case velero.DeleteItemAction:
			a.Execute(&velero.DeleteItemActionExecuteInput{Item: &item, Backup: p.backup()}) //nolint:errcheck // see above
		}
		started <- operation
	})
	select {
	case operation := <-started:
		return operation
	default:
		return ""
	}
}

// progress asks after an operation, and reports whether it has ended, as Velero takes it: an error is an end.
func (p *process) progress(operation string) bool {
	over := make(chan bool, 1)
	p.call(func(client any) {
		var reported velero.OperationProgress
		var err error
		switch a := client.(type) {
		case biav2.BackupItemAction:
			reported, err = a.Progress(operation, p.backup())
		case riav2.RestoreItemAction:
			reported, err = a.Progress(operation, p.restore())
		}
		over <- err != nil || reported.Completed
	})
	select {
	case ended := <-over:
		return ended
	default:
		return false
	}
}

func (p *process) cancel(operation string) {
	p.call(func(client any) {
		switch a := client.(type) {
		case biav2.BackupItemAction:
			a.Cancel(operation, p.backup()) //nolint:errcheck // the journal is told
		case riav2.RestoreItemAction:
			a.Cancel(operation, p.restore()) //nolint:errcheck // see above
		}
	})
}
