package virtual

import (
	"sync"

	"github.com/vmware-tanzu/velero/pkg/constant"
)

// locks are those of the maps of item operations (Velero pkg/itemoperationmap), which are held across accesses to the object
// store, and so across steps. A goroutine that waited for one would keep the bubble from resting for ever, as a mutex does not
// count as rest. So a controller that may want such a lock makes no step while another one holds it.
type locks struct {
	mu      sync.Mutex
	holders map[string]chan struct{} // by controller: closed when it lets go
}

// sharers are the controllers that have a map in common with another one.
var sharers = map[string][]string{
	constant.ControllerBackupOperations:  {constant.ControllerDownloadRequest},
	constant.ControllerRestoreOperations: {constant.ControllerDownloadRequest},
	constant.ControllerDownloadRequest:   {constant.ControllerBackupOperations, constant.ControllerRestoreOperations},
}

// lock is called by a controller that has just taken a lock, and its result before it lets go.
func (l *locks) lock(controller string) (unlock func()) {
	if sharers[controller] == nil {
		return func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	free := make(chan struct{})
	l.holders[controller] = free
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.holders, controller)
		close(free)
	}
}

// held is closed when a lock is free that the controller may want; nil: they all are.
func (l *locks) held(controller string) <-chan struct{} {
	others := sharers[controller]
	if others == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, other := range others {
		if free := l.holders[other]; free != nil {
			return free
		}
	}
	return nil
}
