// Careless is a bad plugin: it expects the best of its items and leaves its leavings to others. See ../README.md.
package main

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
)

const name = "example.io/careless"

func main() {
	// Planted: 14 each process leaves a file behind.
	if f, err := os.CreateTemp("", "careless-"); err == nil {
		_ = f.Close() // nothing was written
	}
	framework.NewServer().BindFlags(pflag.CommandLine).
		RegisterBackupItemActionV2(name, func(logrus.FieldLogger) (any, error) { return backupAction{}, nil }).
		RegisterRestoreItemActionV2(name, func(logrus.FieldLogger) (any, error) { return restoreAction{}, nil }).
		Serve()
	// Planted: 16 the process does not exit when Velero asks it to.
	select {}
}

// leaveChild starts a process that outlives this one and its process group.
func leaveChild() error {
	child := exec.Command("sleep", "3600")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child.Start()
}
