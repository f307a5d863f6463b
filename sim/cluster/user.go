package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// User does what the scenario's user does, as the commands of velero and kubectl do it.
type User struct {
	Cluster
	Client client.Client
	Names  *scenario.Naming
	// Location as it was created.
	Location Location
	// Created is told of each object just before it is created, and Requested of each request to delete a backup, when it was.
	Created   func(object string, c trace.Created)
	Requested func(object string)
}

// Play creates the scenario's schedules, and then its objects in their order: each when the one before has ended. await waits until it is
// done, which can be asked at any time, and reports false if the run has to end; phase is the last one of an object,
// scenario.Deleted of one that is gone.
func (u User) Play(ctx context.Context, await func(done func() bool) bool, phase func(object string) string) error {
	for _, x := range u.Schedules {
		if err := u.Create(ctx, "schedule/"+x.Name); err != nil {
			return err
		}
	}
	last := map[string]string{}
	ended := func(object string) func() bool {
		return func() bool {
			if !Ended(last[object]) { // else the user has seen it
				last[object] = phase(object)
			}
			return Ended(last[object])
		}
	}
	for _, object := range u.Order() {
		if name, ok := strings.CutPrefix(object, "restore/"); ok {
			backup := "backup/" + u.RestoreNamed(name).Backup
			if !await(ended(backup)) {
				return nil
			}
			if p := last[backup]; p != string(velerov1.BackupPhaseCompleted) && p != string(velerov1.BackupPhasePartiallyFailed) {
				continue
			}
		}
		if err := u.Create(ctx, object); err != nil || !await(ended(object)) {
			return err
		}
	}
	for _, x := range u.Schedules {
		for i := range x.Backups {
			if !await(ended(fmt.Sprintf("backup/%s-%d", x.Name, i+1))) {
				return nil
			}
		}
	}
	return nil
}

// Ended reports whether an object with this last phase has come to its end, or is gone.
func Ended(p string) bool {
	parsed, err := phase.Parse(p)
	return p == scenario.Deleted || err == nil && parsed.Final()
}

// Resting reports whether all objects have come to their end, given their last phases: backups, restores, and requests to delete.
func Resting(phases map[string]string) bool {
	for object, p := range phases {
		kind, _, _ := strings.Cut(object, "/")
		switch {
		case (kind == "backup" || kind == "restore") && !Ended(p):
			return false
		case kind == "deletebackuprequest" && p != scenario.Deleted && p != string(velerov1.DeleteBackupRequestPhaseProcessed):
			return false
		}
	}
	return true
}

// syncReconcile is how often Velero looks whether a location is due for a sync (pkg/controller/backup_sync_controller.go).
const syncReconcile = time.Minute

// Settling is how long nothing may change for a run to have come to its end: two polls, or longer where Velero looks after removed and
// expired backups.
func (c Cluster) Settling() time.Duration {
	d := 2 * c.Server.ItemOperationSyncFrequency.Duration
	if slices.ContainsFunc(c.Faults, func(f scenario.Fault) bool { return f.Do.Remove != "" }) {
		d = max(d, 2*c.Server.BackupSyncPeriod.Duration+syncReconcile)
	}
	if ttl, expires := c.Expires(); expires {
		d = max(d, ttl+2*c.Server.GarbageCollectionFrequency.Duration)
	}
	return d
}

// Create creates backup/NAME, restore/NAME or schedule/NAME of the scenario. Before a restore, the items are deleted.
func (u User) Create(ctx context.Context, object string) error {
	kind, name, _ := strings.Cut(object, "/")
	m := metav1.ObjectMeta{Namespace: u.Velero, Name: name}
	switch kind {
	case "backup":
		b := u.BackupNamed(name)
		if i := slices.IndexFunc(u.Backups, func(x scenario.Backup) bool { return x.Name == name }); i >= 0 {
			m.Annotations = u.Backups[i].Annotations
		}
		spec, err := u.spec(b)
		if err != nil {
			return fmt.Errorf("%s: %w", object, err)
		}
		u.Created(object, trace.Created{ItemOperationTimeout: trace.Time(b.ItemOperationTimeout.Duration)})
		return u.create(ctx, object, &velerov1.Backup{ObjectMeta: m, Spec: spec})
	case "restore":
		if err := u.deleteItems(ctx); err != nil {
			return err
		}
		x := u.RestoreNamed(name)
		m.Annotations = x.Annotations
		spec := velerov1.RestoreSpec{
			ScheduleName: x.Schedule, RestorePVs: new(false), ItemOperationTimeout: unlessDefault(x.ItemOperationTimeout, scenario.DefaultItemOperationTimeout),
		}
		created := trace.Created{ItemOperationTimeout: trace.Time(x.ItemOperationTimeout.Duration)}
		if x.Schedule == "" { // or else Velero finds it
			created.Backup, spec.BackupName = x.Backup, strings.TrimPrefix(u.Names.In("backup/"+x.Backup), "backup/")
		}
		if err := u.overlay(&spec, x.Spec); err != nil {
			return fmt.Errorf("%s: %w", object, err)
		}
		u.Created(object, created)
		return u.create(ctx, object, &velerov1.Restore{ObjectMeta: m, Spec: spec})
	}
	x := u.schedule(name)
	template, err := u.spec(&x.Template)
	if err != nil {
		return fmt.Errorf("%s: %w", object, err)
	}
	return u.create(ctx, object, &velerov1.Schedule{ObjectMeta: m, Spec: velerov1.ScheduleSpec{
		Schedule: "@every " + x.Every.String(), Template: template,
	}})
}

func (u User) create(ctx context.Context, object string, o client.Object) error {
	if err := u.Client.Create(ctx, o); err != nil {
		return fmt.Errorf("failed to create %s: %w", object, err)
	}
	return nil
}

func (u User) spec(b *scenario.BackupSpec) (velerov1.BackupSpec, error) {
	namespaces := u.Namespaces()
	if len(b.IncludedNamespaces) > 0 {
		namespaces = nil
		for _, namespace := range b.IncludedNamespaces {
			namespaces = append(namespaces, u.inside(namespace))
		}
	}
	spec := velerov1.BackupSpec{
		IncludedNamespaces: namespaces, StorageLocation: b.StorageLocation, SnapshotVolumes: new(false),
		TTL: unlessDefault(b.TTL, scenario.DefaultTTL), ItemOperationTimeout: unlessDefault(b.ItemOperationTimeout, scenario.DefaultItemOperationTimeout),
	}
	return spec, u.overlay(&spec, b.Spec)
}

// unlessDefault is the duration, or none where the server's own default is the same: the user does not say it then.
func unlessDefault(d scenario.Duration, byDefault time.Duration) metav1.Duration {
	if d.Duration == byDefault {
		return metav1.Duration{}
	}
	return metav1.Duration{Duration: d.Duration}
}

func (u User) schedule(name string) *scenario.Schedule {
	for i := range u.Schedules {
		if u.Schedules[i].Name == name {
			return &u.Schedules[i]
		}
	}
	return &scenario.Schedule{}
}

// Made tells how a trace says that a schedule has made the object, which has this name in the cluster; not ok: none has. The user is
// to pause the schedule after the last one.
func (u User) Made(object, name string) (created trace.Created, last, ok bool) {
	x := u.ScheduleOf(name)
	if x == nil || !strings.HasPrefix(object, "backup/") {
		return created, false, false
	}
	created = trace.Created{Name: name, Schedule: x.Name, ItemOperationTimeout: trace.Time(x.Template.ItemOperationTimeout.Duration)}
	return created, object == fmt.Sprintf("backup/%s-%d", x.Name, x.Backups), true
}

// Pause pauses a schedule, as `velero schedule pause` does.
func (u User) Pause(ctx context.Context, name string) error {
	s := &velerov1.Schedule{ObjectMeta: metav1.ObjectMeta{Namespace: u.Velero, Name: name}}
	if err := u.Client.Patch(ctx, s, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"paused":true}}`))); err != nil {
		return fmt.Errorf("failed to pause schedule/%s: %w", name, err)
	}
	return nil
}

// deleteItems deletes what there is of the items.
func (u User) deleteItems(ctx context.Context) error {
	items, err := u.ItemObjects()
	if err != nil {
		return err
	}
	for i, o := range items {
		if o.GetNamespace() == u.Velero {
			continue
		}
		if err := u.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("failed to delete %s before the restore: %w", u.Items[i], err)
		}
	}
	return nil
}
