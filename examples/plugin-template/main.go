// My-plugin is a Velero plugin to start from: a BackupItemAction that exports config maps, which takes a while.
package main

import (
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
)

func main() {
	server := framework.NewServer().BindFlags(pflag.CommandLine)
	register(server, time.Now)
	server.Serve()
}

// register registers the plugin's actions. The tests do so too, with a time of their own.
func register(server framework.Server, now func() time.Time) {
	server.RegisterBackupItemActionV2(name, func(log logrus.FieldLogger) (any, error) {
		return &export{log: log, now: now}, nil
	})
}
