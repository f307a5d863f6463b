package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// bounded tells whether the scenario has few enough objects to look at each, and reports it if not.
func (l *linter) bounded() bool {
	s := l.scenario
	n := len(s.Backups) + len(s.Restores)
	for i, x := range s.Schedules {
		if n += min(x.Backups, maxItems); n > maxItems || x.Backups > maxItems {
			l.complain(fmt.Sprintf("schedules[%d].backups", i), "a scenario has at most %d backups and restores; lower it", maxItems)
			return false
		}
	}
	if n > maxItems {
		l.complain("restores", "a scenario has at most %d backups and restores; remove some", maxItems)
	}
	return n <= maxItems
}

// creates checks what the user creates.
func (l *linter) creates() {
	for _, short := range []string{"backup", "restore"} {
		if l.has(short) && l.has(short+"s") {
			l.complain(short, "is short for a list with one %s; keep one of %s and %ss", short, short, short)
		}
	}
	s := l.scenario
	if len(l.objects) == 0 {
		l.complain("backups", "is empty, and nothing else is created; leave it out for the default")
	}
	for i := range s.Schedules {
		l.schedule(i)
	}
	for i := range s.Backups {
		l.backup(i)
	}
	for i := range s.Restores {
		l.restore(i)
	}
}

// maxScheduleName leaves room in a backup's name for the time (TimestampedName in pkg/apis/velero/v1/schedule_types.go).
const maxScheduleName = validation.DNS1123LabelMaxLength - len("-20060102150405")

func (l *linter) schedule(i int) {
	x, path := &l.scenario.Schedules[i], fmt.Sprintf("schedules[%d]", i)
	l.name(path+".name", x.Name)
	if len(x.Name) > maxScheduleName {
		l.complain(path+".name", "has %d characters; a schedule's has at most %d, as Velero adds the time to name a backup", len(x.Name), maxScheduleName)
	}
	if same := func(other Schedule) bool { return other.Name == x.Name }; slices.ContainsFunc(l.scenario.Schedules[:i], same) {
		l.complain(path+".name", "there is a schedule named %s already; choose another", quote(x.Name))
	}
	l.positive(path+".every", x.Every.Duration == 0)
	if x.Every.Duration%time.Second != 0 {
		l.complain(path+".every", "Velero's schedules know whole seconds only; round it")
	}
	l.positive(path+".backups", x.Backups == 0)
	l.spec(path+".template", &x.Template)
}

func (l *linter) backup(i int) {
	b, path := &l.scenario.Backups[i], listed(l.has, "backup", i)
	l.name(path+".name", b.Name)
	if slices.Index(l.objects, "backup/"+b.Name) != i || l.scheduled(b.Name) {
		l.complain(path+".name", "there is a backup named %s already; choose another", quote(b.Name))
	}
	if x := l.scenario.ScheduleOf(b.Name); x != nil {
		l.complain(path+".name", "%s looks like a backup of the schedule %s; choose another", quote(b.Name), x.Name)
	}
	l.annotations(path+".annotations", b.Annotations)
	l.spec(path, &b.BackupSpec)
}

func (l *linter) annotations(path string, annotations map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		l.valid(path+"."+key, key, "the name of an annotation", validation.IsQualifiedName(strings.ToLower(key)))
	}
}

// scheduled tells whether a schedule makes a backup that points and expectations call by this name.
func (l *linter) scheduled(backup string) bool {
	return slices.Contains(l.objects[len(l.scenario.Backups):], "backup/"+backup)
}

func (l *linter) name(path, name string) {
	l.valid(path, name, "a DNS label", validation.IsDNS1123Label(name))
}

func (l *linter) spec(path string, b *BackupSpec) {
	l.positive(path+".itemOperationTimeout", b.ItemOperationTimeout.Duration == 0)
	l.positive(path+".ttl", b.TTL.Duration == 0)
	l.valid(path+".storageLocation", b.StorageLocation, "a name", validation.IsDNS1123Subdomain(b.StorageLocation))
	l.filled(path+".includedNamespaces", len(b.IncludedNamespaces), "a namespace")
	distinct(l, path+".includedNamespaces", b.IncludedNamespaces)
	l.overlay(path+".spec", "backup", b.Spec, []string{"itemOperationTimeout", "ttl", "includedNamespaces", "storageLocation"})
	if !l.decoded("items") || !l.decoded("manifests") {
		return
	}
	var known []string
	for _, item := range l.scenario.Items {
		known = append(known, item.Namespace())
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for i, namespace := range b.IncludedNamespaces {
		l.oneOf(fmt.Sprintf("%s.includedNamespaces[%d]", path, i), namespace, "a namespace of an item", known)
	}
}

func (l *linter) restore(i int) {
	x, path := &l.scenario.Restores[i], listed(l.has, "restore", i)
	l.name(path+".name", x.Name)
	if same := func(other Restore) bool { return other.Name == x.Name }; slices.ContainsFunc(l.scenario.Restores[:i], same) {
		l.complain(path+".name", "there is a restore named %s already; choose another", quote(x.Name))
	}
	if l.has(path + ".schedule") {
		l.ofSchedule(path, x)
	} else {
		l.restored(path+".backup", x)
	}
	l.positive(path+".itemOperationTimeout", x.ItemOperationTimeout.Duration == 0)
	l.overlay(path+".spec", "restore", x.Spec, []string{"itemOperationTimeout"})
	l.annotations(path+".annotations", x.Annotations)
}

// ofSchedule checks the schedule whose backup is restored.
func (l *linter) ofSchedule(path string, x *Restore) {
	l.name(path+".schedule", x.Schedule)
	if l.has(path + ".backup") {
		l.complain(path+".backup", "is what Velero finds among the backups of schedule %s; keep one of the two", quote(x.Schedule))
	}
	if x.At != nil || !l.decoded("schedules") {
		return
	}
	names := make([]string, len(l.scenario.Schedules))
	for i, s := range l.scenario.Schedules {
		names[i] = s.Name
	}
	l.oneOf(path+".schedule", x.Schedule, "a schedule of the scenario, so that the restore would never be created; correct it, or say when it is: at", names)
}

// restored checks the backup that is restored. Without a point of creation it must be one that can be restored.
func (l *linter) restored(path string, x *Restore) {
	var backups []string
	for _, object := range l.objects {
		if name, ok := strings.CutPrefix(object, "backup/"); ok {
			backups = append(backups, name)
		}
	}
	spec := l.scenario.BackupNamed(x.Backup)
	switch {
	case x.Backup == "" && l.decoded(path):
		l.complain(path, "is missing: the scenario has not exactly one backup; name one of: %s", list(backups))
	case strings.HasPrefix(x.Backup, "backup/"):
		l.complain(path, "is the name alone: write it without \"backup/\"")
	case l.has(path):
		l.name(path, x.Backup)
	}
	switch {
	case x.At != nil || !l.decoded("backups") || !l.decoded("backup") || !l.decoded("schedules"):
	case spec == nil:
		l.oneOf(path, x.Backup, "a backup of the scenario, so that the restore would never be created; correct it, or say when it is: at", backups)
	case !spec.located() && l.cast():
		l.complain(path, "%s fails validation, as there is no storage location %s, so that the restore would never be created; say when it is: at",
			quote(x.Backup), quote(spec.StorageLocation))
	}
}
