package virtual

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	ibav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/itemblockaction/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/sched"
	"github.com/velosim/velosim/sim/world"
)

type panicking struct{ ibav1.ItemBlockAction }

func (panicking) GetRelatedItems(runtime.Unstructured, *velerov1.Backup) ([]velero.ResourceIdentifier, error) {
	panic("nil map")
}

// Velero's own actions run in a process of their own, too.
func TestAPanicOfAnInternalActionIsAnError(t *testing.T) {
	a := itemBlockAction{panicking{}, &incarnation{proc: sched.New(1, new(atomic.Int64)).Process()}}
	if _, err := a.GetRelatedItems(nil, nil); err == nil || !strings.Contains(err.Error(), "plugin panicked: nil map") {
		t.Errorf("error = %v", err)
	}
}

// AppliesTo is told of no object. Two backups that ask at the same instant are told apart by what Velero logs.
func TestAppliesToOfTwoBackupsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := scenario.Plugin{Name: "example.io/mover", Action: scenario.BackupItemAction, Version: 2}
		s := &scenario.Scenario{Plugins: []scenario.Plugin{script}}
		r := &run{job: world.Job{Scenario: s}, sched: sched.New(1, new(atomic.Int64)), names: scenario.NewNaming(s)}
		calls := 0
		r.rec = &recorder{start: time.Now(), names: r.names, sink: func(e trace.Event) error {
			if e.Call != nil {
				calls++
			}
			return nil
		}}
		r.operations, r.faults = fakeplugins.NewOperations(time.Now(), nil), newFaults(r)
		inc := &incarnation{n: 1, run: r, proc: r.sched.Process(), running: t.Context(), plugins: map[string]int{}, starts: map[string]int{}}
		answers := make(chan error, 2)
		for _, backup := range []string{"velero/backup-1", "velero/backup-2"} {
			m := inc.pluginManager("backup")(logrus.New().WithField("backup", backup)).(*pluginManager)
			p, err := m.process(script)
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, err := p.AppliesTo(); answers <- err }()
		}
		if _, err := r.sched.Run(context.Background(), func() bool { return len(answers) == 2 }, time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
			r.sched.Drain()
		}
		for range 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if calls != 2 {
			t.Errorf("%d calls were recorded", calls)
		}
	})
}
