package virtual

import (
	"strings"
	"sync/atomic"
	"testing"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	ibav1 "github.com/vmware-tanzu/velero/pkg/plugin/velero/itemblockaction/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/sim/velero/sched"
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
