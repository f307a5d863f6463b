// Package simshim opens what Velero keeps to itself and the simulation cannot do without. Its import path lies under
// github.com/vmware-tanzu/velero/, so that Go's rule for internal packages admits it.
package simshim

import (
	"context"
	_ "unsafe" // for go:linkname

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/internal/credentials"
	deletecsi "github.com/vmware-tanzu/velero/internal/delete/actions/csi"
	"github.com/vmware-tanzu/velero/internal/hook"
	"github.com/vmware-tanzu/velero/internal/storage"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	_ "github.com/vmware-tanzu/velero/pkg/cmd/server" // holds MarkInProgressCRsFailed
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/util/filesystem"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// MultiHookTracker is what the restorer and the restore finalizer share.
type MultiHookTracker = hook.MultiHookTracker

// NewMultiHookTracker returns an empty tracker.
func NewMultiHookTracker() *MultiHookTracker { return hook.NewMultiHookTracker() }

// DefaultBackupLocationInfo is what the backup storage location controller is told of the server's flags.
type DefaultBackupLocationInfo = storage.DefaultBackupLocationInfo

// CredentialStores are where the server's controllers find the credentials of locations.
type CredentialStores struct {
	Files   credentials.FileStore
	Secrets credentials.SecretStore
}

// NewCredentialStores returns the stores of a server that writes credentials to files below dir (pkg/cmd/server/server.go,
// newServer).
func NewCredentialStores(c client.Client, namespace, dir string) (s CredentialStores, err error) {
	if s.Files, err = credentials.NewNamespacedFileStore(c, namespace, dir, filesystem.NewFileSystem()); err != nil {
		return s, err
	}
	s.Secrets, err = credentials.NewNamespacedSecretStore(c, namespace)
	return s, err
}

// NewVolumeSnapshotContentDeleteItemAction is one of Velero's own item actions.
func NewVolumeSnapshotContentDeleteItemAction(f veleroclient.Factory) common.HandlerInitializer {
	return deletecsi.NewVolumeSnapshotContentDeleteItemAction(f)
}

// MarkInProgressCRsFailed is what the server does at its start, before its controllers run: every backup and restore that
// is InProgress becomes Failed (pkg/cmd/server/server.go).
//
//go:linkname MarkInProgressCRsFailed github.com/vmware-tanzu/velero/pkg/cmd/server.markInProgressCRsFailed
func MarkInProgressCRsFailed(ctx context.Context, c client.Client, namespace string, log logrus.FieldLogger)

// SetDefaultBackupLocation is what the server does next: it marks the location that its flags name as the default one.
//
//go:linkname SetDefaultBackupLocation github.com/vmware-tanzu/velero/pkg/cmd/server.setDefaultBackupLocation
func SetDefaultBackupLocation(ctx context.Context, c client.Client, namespace, location string, log logrus.FieldLogger) error
