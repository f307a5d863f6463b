package cluster

import (
	"context"
	"errors"
	"strings"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/label"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/scenario"
)

// Do does what a fault says that the user does. In words it is what; missed is why it could not be done, such as that there is no such
// object; both are for the trace.
func (u User) Do(ctx context.Context, do scenario.Do) (what, missed string, err error) {
	switch {
	case do.Create != "":
		return "", "", u.Create(ctx, do.Create)
	case do.Location != "":
		what, missed, err = u.change(ctx, do.Location)
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
	return what, missed, err
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
