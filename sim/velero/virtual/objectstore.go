package virtual

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/itemoperation"
	"github.com/vmware-tanzu/velero/pkg/persistence"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/trace"
)

// objects are what the object store holds, by bucket/key. Only the one who acts touches them.
type objects map[string][]byte

var (
	errNotFound  = errors.New("the object does not exist")
	errImmutable = errors.New(cluster.ImmutableError)
)

// kept reports whether an access would overwrite or delete what is there.
func (o objects) kept(verb, path string) bool {
	_, there := o[path]
	return there && (verb == "put" || verb == "delete")
}

// objectStore is the ObjectStore plugin as one controller of one incarnation sees it. Every access is a step.
type objectStore struct {
	inc        *incarnation
	controller string
	batch      *batch
}

func (s *objectStore) Init(map[string]string) error { return nil }

// access makes one access: a step, then do, then the event.
func (s *objectStore) access(verb, bucket, key string, do func(objects, string) (int, error)) error {
	path := bucket + "/" + key
	what := "store " + verb + " " + path
	if err := s.inc.step(s.controller, what); err != nil {
		return err
	}
	d := s.inc.run.faults.access(verb, path, false)
	s.inc.fence()
	if err := s.holdUp(d.latency, what+": held up"); err != nil {
		return err
	}
	if d.hangs {
		<-s.inc.running.Done()
		return errGone
	}
	size, err := 0, d.err
	switch {
	case d.crashes:
		err = errCrashed
	case err == nil && s.inc.run.job.Scenario.Store.Immutable && s.inc.run.objects.kept(verb, path):
		err = errImmutable
	case err == nil || d.torn:
		size, err = do(s.inc.run.objects, path)
		err = errors.Join(d.err, err)
	}
	if d.torn {
		size /= 2
		s.inc.run.objects[path] = s.inc.run.objects[path][:size]
	}
	body := trace.Store{Verb: verb, Key: path, Controller: s.controller, Size: size}
	// Velero writes log lines and the files of a tarball in any order, and errors with the names of temporary files.
	if slices.ContainsFunc([]string{"-logs.gz", "-results.gz", ".tar.gz"}, func(suffix string) bool { return strings.HasSuffix(key, suffix) }) {
		body.Size = 0
	}
	if err != nil {
		body.Error = err.Error()
	}
	s.inc.record("", trace.Body{Store: &body})
	d = s.inc.run.faults.access(verb, path, true)
	s.inc.await(s.controller)
	if d.crashes {
		return errCrashed
	}
	return errors.Join(err, s.holdUp(d.latency, what+": reply"))
}

// holdUp holds an access, or its reply, up.
func (s *objectStore) holdUp(d time.Duration, what string) error {
	if d == 0 {
		return nil
	}
	time.Sleep(d)
	return s.inc.step(s.controller, what)
}

func (s *objectStore) PutObject(bucket, key string, body io.Reader) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("failed to read what is to be put at %s/%s: %w", bucket, key, err)
	}
	if s.batch != nil && s.batch.takes(key) {
		for _, p := range s.batch.add(put{bucket, key, data}) {
			if err := s.put(p); err != nil {
				return err
			}
		}
		return nil
	}
	return s.put(put{bucket, key, data})
}

func (s *objectStore) put(p put) error {
	return s.access("put", p.bucket, p.key, func(o objects, path string) (int, error) {
		o[path] = p.data
		return len(p.data), nil
	})
}

func (s *objectStore) ObjectExists(bucket, key string) (exists bool, err error) {
	err = s.access("exists", bucket, key, func(o objects, path string) (int, error) {
		_, exists = o[path]
		return 0, nil
	})
	return exists, err
}

func (s *objectStore) GetObject(bucket, key string) (io.ReadCloser, error) {
	var data []byte
	err := s.access("get", bucket, key, func(o objects, path string) (int, error) {
		var ok bool
		if data, ok = o[path]; !ok {
			return 0, errNotFound
		}
		return len(data), nil
	})
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (s *objectStore) ListObjects(bucket, prefix string) (keys []string, err error) {
	err = s.access("list", bucket, prefix, func(o objects, path string) (int, error) {
		for k := range o {
			if strings.HasPrefix(k, path) {
				keys = append(keys, strings.TrimPrefix(k, bucket+"/"))
			}
		}
		slices.Sort(keys)
		return 0, nil
	})
	return keys, err
}

func (s *objectStore) ListCommonPrefixes(bucket, prefix, delimiter string) (prefixes []string, err error) {
	err = s.access("list", bucket, prefix, func(o objects, path string) (int, error) {
		for k := range o {
			rest, ok := strings.CutPrefix(k, path)
			if i := strings.Index(rest, delimiter); ok && i >= 0 {
				prefixes = append(prefixes, prefix+rest[:i+len(delimiter)])
			}
		}
		slices.Sort(prefixes)
		prefixes = slices.Compact(prefixes)
		return 0, nil
	})
	return prefixes, err
}

func (s *objectStore) DeleteObject(bucket, key string) error {
	return s.access("delete", bucket, key, func(o objects, path string) (int, error) {
		delete(o, path)
		return 0, nil
	})
}

func (s *objectStore) CreateSignedURL(bucket, key string, _ time.Duration) (string, error) {
	return "memory://" + bucket + "/" + key, nil
}

// PutBackup (Velero pkg/persistence/object_store.go) puts its last objects in the order of a map, which is another one in
// every run. A batch takes them in and lets them be put, sorted, when the last has come.
type batch struct {
	left int
	puts []put
}

type put struct {
	bucket, key string
	data        []byte
}

func (b *batch) takes(key string) bool {
	for _, suffix := range []string{"-podvolumebackups.json.gz", "-volumesnapshots.json.gz", "-itemoperations.json.gz", "-resource-list.json.gz", "-results.gz", "-volumeinfo.json.gz"} {
		if strings.HasSuffix(key, suffix) {
			return b.left > 0
		}
	}
	return false
}

// add takes one in, and returns them all when it was the last.
func (b *batch) add(p put) []put {
	b.puts = append(b.puts, p)
	if b.left--; b.left > 0 {
		return nil
	}
	slices.SortFunc(b.puts, func(a, b put) int { return strings.Compare(a.key, b.key) })
	return b.puts
}

// storeGetter is Velero's own, but for the order of PutBackup, and for the locks that are held while operations are got and put.
type storeGetter struct {
	persistence.ObjectBackupStoreGetter
}

func (g storeGetter) Get(l *velerov1.BackupStorageLocation, o persistence.ObjectStoreGetter, log logrus.FieldLogger) (persistence.BackupStore, error) {
	store, err := g.ObjectBackupStoreGetter.Get(l, o, log)
	if err != nil {
		return nil, err
	}
	objects, err := o.GetObjectStore(objectStoreProvider)
	if err != nil {
		return nil, err
	}
	return backupStore{store, objects.(*objectStore)}, nil
}

type backupStore struct {
	persistence.BackupStore
	objects *objectStore
}

func (s backupStore) PutBackup(info persistence.BackupInfo) error {
	s.objects.batch = &batch{}
	defer func() { s.objects.batch = nil }()
	for _, r := range []io.Reader{info.PodVolumeBackups, info.VolumeSnapshots, info.BackupItemOperations, info.BackupResourceList, info.BackupResults, info.BackupVolumeInfo} {
		if r != nil {
			s.objects.batch.left++
		}
	}
	return s.BackupStore.PutBackup(info)
}

func (s backupStore) GetBackupItemOperations(name string) ([]*itemoperation.BackupOperation, error) {
	defer s.objects.locked()()
	return s.BackupStore.GetBackupItemOperations(name)
}

func (s backupStore) PutBackupItemOperations(name string, operations io.Reader) error {
	defer s.objects.locked()()
	return s.BackupStore.PutBackupItemOperations(name, operations)
}

func (s backupStore) GetRestoreItemOperations(name string) ([]*itemoperation.RestoreOperation, error) {
	defer s.objects.locked()()
	return s.BackupStore.GetRestoreItemOperations(name)
}

func (s backupStore) PutRestoreItemOperations(name string, operations io.Reader) error {
	defer s.objects.locked()()
	return s.BackupStore.PutRestoreItemOperations(name, operations)
}

func (s *objectStore) locked() (unlock func()) { return s.inc.locks.lock(s.controller) }
