package main

import (
	"context"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type event string

const (
	started  event = "started"
	finished event = "finished"
)

// notification is what is posted.
type notification struct {
	Event               event        `json:"event"`
	Kind                string       `json:"kind"` // Backup or Restore
	Namespace           string       `json:"namespace"`
	Name                string       `json:"name"`
	Backup              string       `json:"backup,omitempty"` // that is restored
	Phase               string       `json:"phase"`
	StartTimestamp      *metav1.Time `json:"startTimestamp,omitempty"`
	CompletionTimestamp *metav1.Time `json:"completionTimestamp,omitempty"`
	Errors              int          `json:"errors"`
	Warnings            int          `json:"warnings"`
	FailureReason       string       `json:"failureReason,omitempty"`
}

// ofBackup is the PreBackupAction, or the PostBackupAction.
type ofBackup struct {
	webhook *webhook
	event   event
}

func (a ofBackup) Execute(ctx context.Context, b *velerov1.Backup) error {
	return a.webhook.notify(ctx, b, notification{
		Event: a.event, Kind: "Backup", Namespace: b.Namespace, Name: b.Name, Phase: string(b.Status.Phase),
		StartTimestamp: b.Status.StartTimestamp, CompletionTimestamp: b.Status.CompletionTimestamp,
		Errors: b.Status.Errors, Warnings: b.Status.Warnings, FailureReason: b.Status.FailureReason,
	})
}

// ofRestore is the PreRestoreAction, or the PostRestoreAction.
type ofRestore struct {
	webhook *webhook
	event   event
}

func (a ofRestore) Execute(ctx context.Context, r *velerov1.Restore) error {
	return a.webhook.notify(ctx, r, notification{
		Event: a.event, Kind: "Restore", Namespace: r.Namespace, Name: r.Name, Backup: r.Spec.BackupName, Phase: string(r.Status.Phase),
		StartTimestamp: r.Status.StartTimestamp, CompletionTimestamp: r.Status.CompletionTimestamp,
		Errors: r.Status.Errors, Warnings: r.Status.Warnings, FailureReason: r.Status.FailureReason,
	})
}

// notify posts a notification about the object. That something starts is not worth failing it: this error is a warning in the log.
func (w *webhook) notify(ctx context.Context, of metav1.Object, n notification) error {
	err := w.post(ctx, string(of.GetUID())+"-"+string(n.Event), n)
	if err != nil && n.Event == started {
		w.log.WithError(err).Warn("Nobody was notified of the start")
		return nil
	}
	return err
}
