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
	hooked   string // further accesses, when hooks of the restore fail
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
		{name: "restore-%s-results.gz", always: "put", hooked: "exists get"},
		{name: "restore-%s-logs.gz", always: "put"},
		{name: "%s-volumeinfo.json.gz", always: "put"},
	}
)

// accessed is an object in the object store that the scenario's run accesses, and how.
type accessed struct {
	key   string
	verbs []string
}

// accesses are those to what is stored of a backup or restore.
func (l *linter) accesses(object string) []accessed {
	kind, name, _ := strings.Cut(object, "/")
	objects, restored := storedOfRestore, false
	if kind == "backup" {
		objects = storedOfBackup
		restored = slices.ContainsFunc(l.scenario.Restores, func(x Restore) bool { return x.Backup == name })
	}
	reopened := restored || l.starts(object)
	var all []accessed
	for _, o := range objects {
		verbs := strings.Fields(o.always)
		if reopened {
			verbs = append(verbs, strings.Fields(o.reopened)...)
		}
		if restored {
			verbs = append(verbs, strings.Fields(o.restored)...)
		}
		if l.hooked(kind) {
			verbs = append(verbs, strings.Fields(o.hooked)...)
		}
		if len(verbs) > 0 {
			all = append(all, accessed{kind + "s/" + name + "/" + strings.ReplaceAll(o.name, "%s", name), verbs})
		}
	}
	if slices.ContainsFunc(l.scenario.ActionsOf(object), func(p Plugin) bool { return !p.Action.Pre() }) {
		all = append(all, accessed{fmt.Sprintf("%ss/%s/%s%s-post-actions-logs.gz", kind, name, map[string]string{"restore": "restore-"}[kind], name), []string{"put"}})
	}
	return all
}

// hooked tells whether Velero may run hooks for objects of the kind: they are in a spec, or at pods.
func (l *linter) hooked(kind string) bool {
	s := l.scenario
	return kind == "restore" && (slices.ContainsFunc(s.Restores, func(x Restore) bool { return len(x.Spec) > 0 }) ||
		slices.ContainsFunc(s.Manifests, func(m Manifest) bool { return m["kind"] == "Pod" }))
}

// ofKey is the object whose key in the object store it is.
func ofKey(key string) string {
	parts := strings.SplitN(key, "/", 3)
	if len(parts) < 3 {
		return ""
	}
	return strings.TrimSuffix(parts[0], "s") + "/" + parts[1]
}

// verbs are those of the accesses to a key, which it reports if there are none.
func (l *linter) verbs(path, key string) []string {
	of := ofKey(key)
	objects := l.objects
	if _, ok := l.created[of]; ok {
		objects = []string{of}
	} else if slices.Contains(l.objects, of) || l.scenario.ScheduleOf(strings.TrimPrefix(of, "backup/")) != nil {
		l.complain(path, "the keys of a schedule's backups have the time in them, which a scenario does not know; choose a phase or a call")
		return nil
	} else if len(l.scenario.Restores) == 0 && strings.HasPrefix(key, "restores/") {
		l.complain(path, "nothing accesses the object of a restore without one; add \"restore: {}\"")
		return nil
	}
	var keys []string
	for _, object := range objects {
		if _, ok := l.created[object]; !ok {
			continue
		}
		for _, a := range l.accesses(object) {
			if a.key == key {
				return a.verbs
			}
			keys = append(keys, a.key)
		}
	}
	l.oneOf(path, key, "an object that this scenario accesses", keys)
	return nil
}

// access reports an access that never happens.
func (l *linter) access(path string, a *Access) {
	if a == nil {
		return
	}
	l.oneOf(path+".verb", a.Verb, "an access that a fault can strike", verbs())
	if !l.certain() || !l.sound(path) {
		return
	}
	verbs := l.verbs(path+".key", a.Key)
	switch {
	case verbs == nil || l.reads():
	case !slices.Contains(verbs, a.Verb):
		l.complain(path+".verb", "this scenario never comes to a %s of this object, only to: %s", a.Verb, list(verbs))
	case a.Verb == "delete" && !l.uploadFails(a.Key):
		l.complain(path+".verb", "Velero deletes this object only when a later upload fails; add a fault that makes one fail, such as the first put of %s",
			fmt.Sprintf("backups/%[1]s/%[1]s-results.gz", strings.Split(a.Key, "/")[1]))
	}
}

// reads tells whether the user, or time, has Velero access what is stored in other ways than backups and restores do.
func (l *linter) reads() bool {
	return len(l.fates.deleted) > 0 || len(l.fates.removed) > 0 || l.fates.described
}

// uploadFails tells whether a fault makes PutBackup delete the object: it fails a put of the same backup that comes after the object's.
func (l *linter) uploadFails(key string) bool {
	return slices.ContainsFunc(l.scenario.Faults, func(f Fault) bool {
		s := f.At.Store
		return s != nil && f.Do.Fail != "" && s.Verb == "put" && f.At.Nth == 1 && s.Key != key && ofKey(s.Key) == ofKey(key) &&
			!strings.HasSuffix(s.Key, "/velero-backup.json") && !strings.HasSuffix(s.Key, "-logs.gz")
	})
}

// lose reports an object whose loss changes nothing: the access writes or deletes it, or nobody ever gets it.
func (l *linter) lose(path string, a *Access) {
	if !l.certain() || !l.sound(path) || l.reads() {
		return
	}
	switch {
	case a.Verb == "put" || a.Verb == "delete":
		l.complain(path+".do.lose", "changes nothing, as the %s follows; lose the object at an exists or a get", a.Verb)
	case !slices.ContainsFunc(l.accesses(ofKey(a.Key)), func(x accessed) bool { return x.key == a.Key && slices.Contains(x.verbs, "get") }):
		l.complain(path+".do.lose", "changes nothing, as Velero never gets this object in this scenario; lose another")
	}
}
