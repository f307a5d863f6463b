// Notify is a plugin of pre and post actions: it posts the start and the end of backups and restores to a webhook. See README.md.
package main

import (
	"os"

	"github.com/sirupsen/logrus"

	"github.com/velosim/velosim/sim/actions"
)

func main() {
	const name = "velosim.io/notify"
	actions.NewServer().
		RegisterPreBackupAction(name, with(func(w *webhook) any { return ofBackup{w, started} })).
		RegisterPostBackupAction(name, with(func(w *webhook) any { return ofBackup{w, finished} })).
		RegisterPreRestoreAction(name, with(func(w *webhook) any { return ofRestore{w, started} })).
		RegisterPostRestoreAction(name, with(func(w *webhook) any { return ofRestore{w, finished} })).
		Serve()
}

// with makes an action that has the webhook of the environment.
func with(action func(*webhook) any) func(logrus.FieldLogger) (any, error) {
	return func(log logrus.FieldLogger) (any, error) {
		w, err := newWebhook(log, os.Getenv)
		if err != nil {
			return nil, err
		}
		return action(w), nil
	}
}
