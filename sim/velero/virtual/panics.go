package virtual

import (
	"runtime"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// reconciled is the backup or restore that the controller runs; empty: it runs none.
func (m namedManager) reconciled(req reconcile.Request) string {
	if m.controller != "backup" && m.controller != "restore" {
		return ""
	}
	return m.controller + "/" + req.Name
}

// panicked is the function that has panicked, called where that is recovered: the first one below those of the runtime.
func panicked() string {
	stack := make([]uintptr, 64)
	frames := runtime.CallersFrames(stack[:runtime.Callers(0, stack)])
	panics := false
	for {
		f, more := frames.Next()
		switch own := strings.HasPrefix(f.Function, "runtime."); {
		case panics && !own:
			return strings.TrimPrefix(f.Function, "github.com/vmware-tanzu/velero/")
		case !more:
			return "unknown"
		default:
			panics = panics || f.Function == "runtime.gopanic"
		}
	}
}
