package prepost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	"github.com/vmware-tanzu/velero/pkg/util/logging"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/velosim/velosim/sim/actions"
)

// Stores is what the controllers of backups store with. What they store of a backup has neither its record nor its finalizer, and the phase
// of one whose pre-action has failed.
func (s *Server) Stores(g persistence.ObjectBackupStoreGetter) persistence.ObjectBackupStoreGetter {
	if s == nil {
		return g
	}
	return storeGetter{g, s}
}

type storeGetter struct {
	persistence.ObjectBackupStoreGetter
	server *Server
}

func (g storeGetter) Get(l *velerov1.BackupStorageLocation, o persistence.ObjectStoreGetter, log logrus.FieldLogger) (persistence.BackupStore, error) {
	b, err := g.ObjectBackupStoreGetter.Get(l, o, log)
	if err != nil {
		return nil, err
	}
	return store{b, g.server}, nil
}

type store struct {
	persistence.BackupStore
	server *Server
}

func (s store) PutBackup(info persistence.BackupInfo) (err error) {
	if info.Metadata, err = s.server.stored(info.Metadata); err != nil {
		return err
	}
	return s.BackupStore.PutBackup(info)
}

func (s store) PutBackupMetadata(name string, metadata io.Reader) error {
	metadata, err := s.server.stored(metadata)
	if err != nil {
		return err
	}
	return s.BackupStore.PutBackupMetadata(name, metadata)
}

// stored is a backup as it is stored.
func (s *Server) stored(metadata io.Reader) (io.Reader, error) {
	if metadata == nil {
		return nil, nil
	}
	var b velerov1.Backup
	if err := json.NewDecoder(metadata).Decode(&b); err != nil {
		return nil, fmt.Errorf("failed to read the backup that is to be stored: %w", err)
	}
	delete(b.Annotations, Annotation)
	controllerutil.RemoveFinalizer(&b, actions.Finalizer)
	if why := s.failure(b.UID); why != "" {
		blame(&b, why)
	}
	out, err := json.Marshal(&b)
	return bytes.NewReader(out), err
}

// postLog is the log of an object's post-actions.
type postLog struct {
	logging.DualModeLogger
	server *Server
}

func (s *Server) newLog(o client.Object) (*postLog, error) {
	log, err := logging.NewTempFileLogger(logrus.InfoLevel, logging.FormatText, nil, logrus.Fields{"object": o.GetName()})
	if err != nil {
		return nil, err
	}
	return &postLog{log, s}, nil
}

func (l *postLog) close() { l.Dispose(l.server.Log) }

// upload stores the log beside that of the object's run. What is being deleted has none any more. If it cannot be stored, the statuses of the
// actions still tell; Velero's calls of object stores have no deadline, and one that hangs must not hold the object.
func (l *postLog) upload(ctx context.Context, o client.Object) {
	s := l.server
	l.DoneForPersist(s.Log)
	if o.GetDeletionTimestamp() != nil || phaseOf(o) == string(velerov1.BackupPhaseDeleting) {
		return
	}
	_, controller := controllers(o)
	ctx, cancel := context.WithTimeoutCause(ctx, s.ResourceTimeout, errors.New("it took too long"))
	defer cancel()
	manager := s.Views.Plugins(controller)(s.Log)
	defer manager.CleanupClients() // ends the call
	stored := make(chan error, 1)
	go func() { stored <- l.put(ctx, o, manager) }()
	var err error
	select {
	case err = <-stored:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.Log.WithError(err).Errorf("The log of the post-actions of %s could not be stored", o.GetName())
	}
}

func (l *postLog) put(ctx context.Context, o client.Object, stores persistence.ObjectStoreGetter) error {
	s := l.server
	_, controller := controllers(o)
	file, err := l.GetPersistFile()
	if err != nil {
		return err
	}
	backup, ofBackup := o.(*velerov1.Backup)
	key := path.Join("backups", o.GetName(), o.GetName()+"-post-actions-logs.gz")
	if !ofBackup {
		r := o.(*velerov1.Restore)
		key = path.Join("restores", r.Name, "restore-"+r.Name+"-post-actions-logs.gz")
		backup = &velerov1.Backup{}
		if err := s.Views.Direct(controller).Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: r.Spec.BackupName}, backup); err != nil {
			return err
		}
	}
	location := &velerov1.BackupStorageLocation{}
	if err := s.Views.Direct(controller).Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: backup.Spec.StorageLocation}, location); err != nil {
		return err
	}
	taken := taker{ObjectStoreGetter: stores}
	if _, err := s.ObjectStores.Get(location, &taken, s.Log); err != nil {
		return err
	}
	return taken.store.PutObject(location.Spec.ObjectStorage.Bucket, path.Join(location.Spec.ObjectStorage.Prefix, key), file)
}

// taker takes the object store that a backup store is made of, as it has been set up: a backup store takes no files but Velero's.
type taker struct {
	persistence.ObjectStoreGetter
	store velero.ObjectStore
}

func (t *taker) GetObjectStore(provider string) (s velero.ObjectStore, err error) {
	t.store, err = t.ObjectStoreGetter.GetObjectStore(provider)
	return t.store, err
}
