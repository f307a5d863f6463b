// Package prepost has Velero's own controllers run pre- and post-actions (sim/actions), as proposed in Velero's
// design/new-prepost-backuprestore-plugin-hooks.md: by decorating what the controllers are given, with no copy of their code.
//
// A pre-action is called in the decorated Backupper or Restorer, before the first item. If it fails, Velero goes on to write Failed (of a
// restore FinalizingPartiallyFailed), and the decorated client writes FailedPreBackupActions or FailedPreRestoreActions instead; the
// controller sees what it expects, so that it lets go of the backup. The decorated object store is given the same.
//
// Post-actions are called by a controller of this package's own, of objects that have ended, never in Velero's finalizers, which a restart
// and some errors pass by. It acts on those alone that carry a record of their run, written in the patch to InProgress: not on objects of
// other clusters that sync brings, nor on those of before an upgrade. The same patch adds a finalizer, so that a deleted object stays
// until its post-actions have been called. Each object's actions are called under a Lease, by one server at a time.
//
// The record is an annotation, as Velero's garbage collection updates backups by a type that does not know the statuses of actions; it is
// mirrored in the status. Neither is stored with the backup, as another cluster may not know them.
//
//	s := &prepost.Server{Namespace: "velero", Plugins: plugins, …}
//	backupper = s.Backupper(backupper)
//	client = s.Client(client)
//	stores = s.Stores(stores)
//	err := s.SetupWithManager(mgr)
//
// It imports Velero and sim/actions.
package prepost
