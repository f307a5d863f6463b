package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vmware-tanzu/velero/pkg/plugin/framework"

	"github.com/velosim/velosim/fakeplugins/filestore"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/trace"
)

// objectStore is the file system as an ObjectStore of Velero. The world is told of every access before and after.
type objectStore struct {
	client *wire.Client

	mu    sync.Mutex
	root  string
	store *filestore.Store
}

// Init opens the store at the location's config.root. Velero calls it for every store that it makes of a location.
func (o *objectStore) Init(config map[string]string) error {
	if err := framework.ValidateObjectStoreConfigKeys(config, "root"); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	root := config["root"]
	if o.store != nil && o.root == root {
		return nil
	}
	s, err := filestore.Open(root)
	if err != nil {
		return fmt.Errorf("config.root of the BackupStorageLocation: %w", err)
	}
	// The one before may be in use. It ends with the process.
	o.root, o.store = root, s
	return nil
}

// access makes one access: told of, done unless it has to fail, and its outcome told of. do returns the size.
func (o *objectStore) access(verb, bucket, key string, size int64, do func(*filestore.Store) (int64, error)) error {
	root, store, err := o.opened()
	if err != nil {
		return err
	}
	a := trace.Store{Verb: verb, Key: bucket + "/" + key, Size: int(size)}
	accessed, err := o.client.Access(root, a)
	if err == nil {
		size, err = do(store)
		a.Size = int(size)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return errors.Join(err, accessed(a))
}

func (o *objectStore) opened() (string, *filestore.Store, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store == nil {
		return "", nil, errors.New("the object store was used before Init")
	}
	return o.root, o.store, nil
}

// PutObject reads all of the body first, as the world's answer is to come when all is there but the effect.
func (o *objectStore) PutObject(bucket, key string, body io.Reader) error {
	_, store, err := o.opened()
	if err != nil {
		return err
	}
	p, err := store.Prepare(bucket, key, body)
	if err != nil {
		return err
	}
	defer p.Discard()
	return o.access("put", bucket, key, p.Size, func(*filestore.Store) (int64, error) { return p.Size, p.Commit() })
}

func (o *objectStore) ObjectExists(bucket, key string) (exists bool, err error) {
	err = o.access("exists", bucket, key, 0, func(s *filestore.Store) (_ int64, err error) {
		exists, err = s.Exists(bucket, key)
		return 0, err
	})
	return exists && err == nil, err
}

func (o *objectStore) GetObject(bucket, key string) (io.ReadCloser, error) {
	var body io.ReadCloser
	err := o.access("get", bucket, key, 0, func(s *filestore.Store) (size int64, err error) {
		body, size, err = s.Get(bucket, key)
		return size, err
	})
	if err != nil && body != nil {
		return nil, errors.Join(err, body.Close())
	}
	return body, err
}

func (o *objectStore) ListCommonPrefixes(bucket, prefix, delimiter string) (prefixes []string, err error) {
	err = o.access("list", bucket, prefix, 0, func(s *filestore.Store) (_ int64, err error) {
		prefixes, err = s.CommonPrefixes(bucket, prefix, delimiter)
		return 0, err
	})
	return prefixes, err
}

func (o *objectStore) ListObjects(bucket, prefix string) (keys []string, err error) {
	err = o.access("list", bucket, prefix, 0, func(s *filestore.Store) (_ int64, err error) {
		keys, err = s.List(bucket, prefix)
		return 0, err
	})
	return keys, err
}

func (o *objectStore) DeleteObject(bucket, key string) error {
	return o.access("delete", bucket, key, 0, func(s *filestore.Store) (int64, error) { return 0, s.Delete(bucket, key) })
}

func (o *objectStore) CreateSignedURL(bucket, key string, _ time.Duration) (url string, err error) {
	err = o.access("sign", bucket, key, 0, func(s *filestore.Store) (_ int64, err error) {
		url, err = s.URL(bucket, key)
		return 0, err
	})
	return url, err
}
