package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/label"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
			last[object] = phase(object)
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
		u.Created(object, trace.Created{ItemOperationTimeout: trace.Time(b.ItemOperationTimeout.Duration)})
		return u.create(ctx, object, &velerov1.Backup{ObjectMeta: m, Spec: u.spec(b)})
	case "restore":
		if err := u.deleteItems(ctx); err != nil {
			return err
		}
		x := u.RestoreNamed(name)
		u.Created(object, trace.Created{ItemOperationTimeout: trace.Time(x.ItemOperationTimeout.Duration), Backup: x.Backup})
		return u.create(ctx, object, &velerov1.Restore{ObjectMeta: m, Spec: velerov1.RestoreSpec{
			BackupName: strings.TrimPrefix(u.Names.In("backup/"+x.Backup), "backup/"), RestorePVs: new(false), ItemOperationTimeout: metav1.Duration{Duration: x.ItemOperationTimeout.Duration},
		}})
	}
	x := u.schedule(name)
	return u.create(ctx, object, &velerov1.Schedule{ObjectMeta: m, Spec: velerov1.ScheduleSpec{
		Schedule: "@every " + x.Every.String(), Template: u.spec(&x.Template),
	}})
}

func (u User) create(ctx context.Context, object string, o client.Object) error {
	if err := u.Client.Create(ctx, o); err != nil {
		return fmt.Errorf("failed to create %s: %w", object, err)
	}
	return nil
}

func (u User) spec(b *scenario.BackupSpec) velerov1.BackupSpec {
	namespaces := u.Namespaces()
	if len(b.IncludedNamespaces) > 0 {
		namespaces = nil
		for _, namespace := range b.IncludedNamespaces {
			namespaces = append(namespaces, u.inside(namespace))
		}
	}
	return velerov1.BackupSpec{
		IncludedNamespaces: namespaces, StorageLocation: b.StorageLocation, SnapshotVolumes: new(false), TTL: metav1.Duration{Duration: b.TTL.Duration},
		ItemOperationTimeout: metav1.Duration{Duration: b.ItemOperationTimeout.Duration},
	}
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
		if err := u.Client.Delete(ctx, o); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("failed to delete %s before the restore: %w", u.Items[i], err)
		}
	}
	return nil
}

// Do does what a fault says that the user does. In words it is what; missed is why it could not be done, such as that there is no such
// object; both are for the trace.
func (u User) Do(ctx context.Context, do scenario.Do) (what, missed string, err error) {
	switch {
	case do.Create != "":
		return "", "", u.Create(ctx, do.Create)
	case do.Delete != "":
		what, err = "the user deletes "+do.Delete, u.delete(ctx, do.Delete)
	case do.Remove != "":
		what, err = "the user removes "+do.Remove+" from the cluster", u.Client.Delete(ctx, u.object(do.Remove))
	default:
		what, err = "the user describes "+do.Describe, u.describe(ctx, do.Describe)
	}
	if apierrors.IsNotFound(err) || errors.Is(err, errGone) {
		return what, "there was no such object", nil
	}
	return what, "", err
}

var errGone = errors.New("no such object")

// Has reports whether the object is in the cluster.
func (u User) Has(ctx context.Context, object string) bool {
	o := u.object(object)
	return u.Client.Get(ctx, client.ObjectKeyFromObject(o), o) == nil
}

// object is the Backup or Restore that the scenario names.
func (u User) object(object string) client.Object {
	kind, name, _ := strings.Cut(u.Names.In(object), "/")
	m := metav1.ObjectMeta{Namespace: u.Velero, Name: name}
	if kind == "restore" {
		return &velerov1.Restore{ObjectMeta: m}
	}
	return &velerov1.Backup{ObjectMeta: m}
}

// delete does what `velero backup delete` and `velero restore delete` do (pkg/cmd/cli/backup/delete.go, pkg/cmd/cli/restore/delete.go).
func (u User) delete(ctx context.Context, object string) error {
	o := u.object(object)
	if err := u.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	if restore, ok := o.(*velerov1.Restore); ok {
		return u.Client.Delete(ctx, restore)
	}
	request := &velerov1.DeleteBackupRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: u.Velero, GenerateName: o.GetName() + "-",
			Labels: map[string]string{velerov1.BackupNameLabel: label.GetValidName(o.GetName()), velerov1.BackupUIDLabel: string(o.GetUID())},
		},
		Spec: velerov1.DeleteBackupRequestSpec{BackupName: o.GetName()},
	}
	if err := u.Client.Create(ctx, request); err != nil {
		return err
	}
	u.Requested("deletebackuprequest/" + request.Name)
	return nil
}

// describe asks for what `velero backup describe --details` and `velero restore describe --details` ask for
// (pkg/cmd/util/output/backup_describer.go, restore_describer.go).
func (u User) describe(ctx context.Context, object string) error {
	kinds := []velerov1.DownloadTargetKind{
		velerov1.DownloadTargetKindBackupItemOperations, velerov1.DownloadTargetKindBackupResourceList,
		velerov1.DownloadTargetKindBackupVolumeInfos, velerov1.DownloadTargetKindBackupResults,
	}
	o := u.object(object)
	if _, ok := o.(*velerov1.Restore); ok {
		kinds = []velerov1.DownloadTargetKind{
			velerov1.DownloadTargetKindRestoreResults, velerov1.DownloadTargetKindRestoreItemOperations, velerov1.DownloadTargetKindRestoreResourceList,
			velerov1.DownloadTargetKindRestoreVolumeInfo,
		}
	}
	if err := u.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	for _, kind := range kinds {
		err := u.Client.Create(ctx, &velerov1.DownloadRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: u.Velero, GenerateName: o.GetName() + "-"},
			Spec:       velerov1.DownloadRequestSpec{Target: velerov1.DownloadTarget{Kind: kind, Name: o.GetName()}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
