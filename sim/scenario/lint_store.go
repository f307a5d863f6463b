package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// stored is an object that Velero keeps in the object store, and the accesses to it.
type stored struct {
	name     string // in the folder of the backup or restore, whose name %s is
	always   string
	reopened string // further accesses, when the backup has operations or is restored
	restored string // further accesses, when the backup is restored
}

// The objects that a scenario's run accesses. Their names are those of Velero 1.18's pkg/persistence/object_store_layout.go. Who puts
// them: PutBackup (pkg/persistence/object_store.go), which deletes two again when an upload after them fails, and the controllers of
// pkg/controller. Who reads them: BackupExists in backup_controller.go, and what backup_operations_controller.go,
// backup_finalizer_controller.go, restore_controller.go, restore_operations_controller.go and restore_finalizer_controller.go get;
// most of them ask first whether the object exists. No run comes to the other keys: they are read or written for volumes, or
// when a backup is deleted or synced.
var (
	storedOfBackup = []stored{
		{name: "velero-backup.json", always: "put exists delete"},
		{name: "%s.tar.gz", always: "put delete", reopened: "get"},
		{name: "%s-itemoperations.json.gz", always: "put exists get"},
		{name: "%s-volumeinfo.json.gz", always: "put", reopened: "exists get"},
		{name: "%s-volumesnapshots.json.gz", always: "put", restored: "exists get"},
		{name: "%s-csi-volumesnapshots.json.gz", restored: "exists"}, // it never does, so there is no get
		{name: "%s-podvolumebackups.json.gz", always: "put"},
		{name: "%s-resource-list.json.gz", always: "put"},
		{name: "%s-results.gz", always: "put"},
		{name: "%s-logs.gz", always: "put"},
	}
	storedOfRestore = []stored{
		{name: "restore-%s-itemoperations.json.gz", always: "put exists get"},
		{name: "restore-%s-resource-list.json.gz", always: "put exists get"},
		{name: "restore-%s-results.gz", always: "put"},
		{name: "restore-%s-logs.gz", always: "put"},
		{name: "%s-volumeinfo.json.gz", always: "put"},
	}
)

// accesses are the keys that the scenario's run accesses, and how it accesses each.
func (l *linter) accesses() (keys []string, verbs map[string][]string) {
	verbs = map[string][]string{}
	restored := l.scenario.Restore != nil
	add := func(folder, name string, objects []stored) {
		for _, o := range objects {
			vs := strings.Fields(o.always)
			if restored || l.starts(BackupItemAction) {
				vs = append(vs, strings.Fields(o.reopened)...)
			}
			if restored {
				vs = append(vs, strings.Fields(o.restored)...)
			}
			if len(vs) > 0 {
				key := folder + "/" + name + "/" + strings.ReplaceAll(o.name, "%s", name)
				keys, verbs[key] = append(keys, key), vs
			}
		}
	}
	add("backups", l.scenario.Backup.Name, storedOfBackup)
	if restored {
		add("restores", l.scenario.Restore.Name, storedOfRestore)
	}
	return keys, verbs
}

// access reports an access that never happens.
func (l *linter) access(path string, a *Access) {
	if a == nil {
		return
	}
	l.oneOf(path+".verb", a.Verb, "an access that a fault can strike", []string{"put", "get", "exists", "delete"})
	if !l.certain() || !l.sound(path) {
		return
	}
	keys, verbs := l.accesses()
	if l.scenario.Restore == nil && strings.HasPrefix(a.Key, "restores/") {
		l.complain(path+".key", "nothing accesses the object of a restore without one; add \"restore: {}\"")
	}
	l.oneOf(path+".key", a.Key, "an object that this scenario accesses", keys)
	switch vs := verbs[a.Key]; {
	case !l.sound(path):
	case !slices.Contains(vs, a.Verb):
		l.complain(path+".verb", "this scenario never comes to a %s of this object, only to: %s", a.Verb, list(vs))
	case a.Verb == "delete" && !l.uploadFails(a.Key):
		l.complain(path+".verb", "Velero deletes this object only when a later upload fails; add a fault that makes one fail, such as the first put of %s",
			fmt.Sprintf("backups/%[1]s/%[1]s-results.gz", l.scenario.Backup.Name))
	}
}

// uploadFails tells whether a fault makes PutBackup delete the object: it fails a put that comes after the object's.
func (l *linter) uploadFails(key string) bool {
	return slices.ContainsFunc(l.scenario.Faults, func(f Fault) bool {
		s := f.At.Store
		return s != nil && f.Do.Fail != "" && s.Verb == "put" && f.At.Nth == 1 && s.Key != key && strings.HasPrefix(s.Key, "backups/") &&
			!strings.HasSuffix(s.Key, "/velero-backup.json") && !strings.HasSuffix(s.Key, "-logs.gz")
	})
}

// lose reports an object whose loss changes nothing: the access writes or deletes it, or nobody ever gets it.
func (l *linter) lose(path string, a *Access) {
	if !l.certain() || !l.sound(path) {
		return
	}
	_, verbs := l.accesses()
	switch {
	case a.Verb == "put" || a.Verb == "delete":
		l.complain(path+".do.lose", "changes nothing, as the %s follows; lose the object at an exists or a get", a.Verb)
	case !slices.Contains(verbs[a.Key], "get"):
		l.complain(path+".do.lose", "changes nothing, as Velero never gets this object in this scenario")
	}
}
