package simshim

import (
	"time"
	_ "unsafe" // for go:linkname

	_ "k8s.io/client-go/tools/cache" // holds neverExitWatch
)

// neverExitWatch is a channel of client-go's, made before any testing/synctest bubble: in one, a reflector without resync waits on it, and
// the bubble's time would stand still. A nil channel is as silent, and belongs to every bubble. Velero's waiting for hooks has such a reflector
// (internal/hook/wait_exec_hook_handler.go).
//
//go:linkname neverExitWatch k8s.io/client-go/tools/cache.neverExitWatch
var neverExitWatch <-chan time.Time

func init() { neverExitWatch = nil }
