package world

import "testing"

func TestCrashOfVelero(t *testing.T) {
	const (
		reconciler = "github.com/vmware-tanzu/velero/pkg/controller.(*backupReconciler).Reconcile(0xc0001, {0x1, 0x2})\n\t/src/backup_controller.go:229 +0x1d\n"
		manager    = "sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).reconcile.func1(0xc0002)\n\t/src/runnable_group.go:226 +0xc8\n"
		ours       = "github.com/velosim/velosim/sim/velero/virtual.(*run).play(0xc0003)\n\t/src/run.go:88 +0x1d\n"
		created    = "created by github.com/vmware-tanzu/velero/pkg/backup.New in goroutine 7\n\t/src/backup.go:10 +0x1d\n"
	)
	for name, tt := range map[string]struct {
		crash string
		want  bool
	}{
		"Velero panics":                      {"panic: nil map\n\ngoroutine 9 [running]:\npanic({0x1, 0x2})\n\t/src/panic.go:787 +0x132\n" + reconciler, true},
		"controller-runtime panics":          {"panic: closed channel\n\ngoroutine 9 [running]:\n" + manager, true},
		"in a bubble":                        {"panic: nil map\n\ngoroutine 9 [running, synctest bubble 1]:\n" + reconciler, true},
		"Velero's maps race":                 {"fatal error: concurrent map writes\n\ngoroutine 9 [running]:\n" + reconciler, true},
		"Velero recurses without end":        {"fatal error: stack overflow\n\nruntime stack:\nruntime.throw()\n\ngoroutine 9 gp=0xc1 m=0 mp=0x1 [running]:\n" + reconciler, true},
		"this project panics":                {"panic: nil map\n\ngoroutine 9 [running]:\n" + ours, false},
		"this project, and Velero waits":     {"panic: nil map\n\ngoroutine 9 [running]:\n" + ours + "\ngoroutine 10 [select]:\n" + reconciler, false},
		"this project, started by Velero":    {"panic: nil map\n\ngoroutine 9 [running]:\n" + ours + created, false},
		"the panic names Velero":             {"panic: in\n\tgithub.com/vmware-tanzu/velero/pkg/backup.New\n\ngoroutine 9 [running]:\n" + ours, false},
		"no memory, for a thread of its own": {"fatal error: runtime: cannot allocate memory\n\nruntime stack:\nruntime.throw()\n\ngoroutine 1 [select]:\n" + reconciler, false},
		"no memory, for this project":        {"fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw()\n\ngoroutine 1 [running]:\n" + ours, false},
		"too many threads":                   {"fatal error: thread exhaustion\n\nruntime stack:\nruntime.throw()\n\ngoroutine 1 [chan receive]:\n" + reconciler, false},
		"a SIGQUIT while Velero runs":        {"SIGQUIT: quit\nPC=0x1 m=0 sigcode=0\n\ngoroutine 9 [running]:\n" + reconciler, false},
		"no stack":                           {"panic: nil map\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := crashOfVelero(tt.crash); got != tt.want {
				t.Errorf("crashOfVelero = %v, want %v", got, tt.want)
			}
		})
	}
}
