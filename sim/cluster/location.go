package cluster

import (
	"context"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/sim/scenario"
)

// Location is where backups are stored.
type Location struct {
	Provider string
	Config   map[string]string
	// Image of Velero's placeholder Deployment.
	Image string
}

// location is the object.
func (c Cluster) location(l Location) *velerov1.BackupStorageLocation {
	return &velerov1.BackupStorageLocation{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Velero, Name: Default},
		Spec: velerov1.BackupStorageLocationSpec{
			Provider: l.Provider, Default: true, Config: l.Config,
			StorageType: velerov1.StorageType{ObjectStorage: &velerov1.ObjectStorageLocation{Bucket: Bucket}},
		},
	}
}

// change makes of the location what the user does, as `kubectl edit`, `kubectl delete` and `kubectl create` do. In words it is what; missed
// is why that changes nothing.
func (u User) change(ctx context.Context, change scenario.LocationChange) (what, missed string, err error) {
	location := u.location(u.Location)
	switch change {
	case scenario.Removed:
		return "the user removes the location from the cluster", "", u.Client.Delete(ctx, location)
	case scenario.Created:
		what, err = "the user creates the location again", u.Client.Create(ctx, location)
		if apierrors.IsAlreadyExists(err) {
			return what, "it was there", nil
		}
		return what, "", err
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"accessMode":"`+string(change)+`"}}`))
	return "the user makes the location " + string(change), "", u.Client.Patch(ctx, location, patch)
}
