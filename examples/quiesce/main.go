// Quiesce is a plugin of pre/post actions: it scales the Deployments and StatefulSets of a backup's namespaces to 0 before the backup, and
// back when the backup has ended, however it ended. See README.md.
package main

import (
	"fmt"

	"github.com/sirupsen/logrus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/velosim/velosim/examples/quiesce/action"
	"github.com/velosim/velosim/sim/actions"
)

func main() {
	actions.NewServer().
		RegisterPreBackupAction(action.Name, with(action.NewQuiesce)).
		RegisterPostBackupAction(action.Name, with(action.NewResume)).
		RegisterPostRestoreAction(action.Name, with(action.NewResumeRestored)).
		Serve()
}

// with makes an action that has a client of the cluster: that of KUBECONFIG or of the pod, as Velero's.
func with[T any](action func(client.Client, logrus.FieldLogger) T) func(logrus.FieldLogger) (any, error) {
	return func(log logrus.FieldLogger) (any, error) {
		config, err := config.GetConfig()
		if err != nil {
			return nil, fmt.Errorf("no configuration of a Kubernetes client: %w", err)
		}
		c, err := client.New(config, client.Options{})
		if err != nil {
			return nil, err
		}
		return action(c, log), nil
	}
}
