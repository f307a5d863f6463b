// Dr-job is a plugin of post actions: it creates a Job after a backup, for example one that copies the backup to another site. See README.md.
package main

import (
	"fmt"
	"os"

	"github.com/sirupsen/logrus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/velosim/velosim/sim/actions"
)

func main() {
	actions.NewServer().RegisterPostBackupAction("velosim.io/dr-job", func(log logrus.FieldLogger) (any, error) {
		config, err := config.GetConfig()
		if err != nil {
			return nil, fmt.Errorf("no configuration of a Kubernetes client: %w", err)
		}
		c, err := client.New(config, client.Options{})
		if err != nil {
			return nil, err
		}
		return newDRJob(c, log, os.Getenv(templateVariable))
	}).Serve()
}
