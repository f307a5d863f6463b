package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
)

// Store keeps times outside of the process: for each of its polls Velero starts a new one.
type Store interface {
	// Put keeps the time under the key, whole and for good: if one is there, that stays.
	Put(key string, at time.Time, owner metav1.OwnerReference) error
	// Get returns the time in UTC, or the zero time if there is none.
	Get(key string) (time.Time, error)
}

// openStore opens the folder, if one is given, else the config maps of Velero's namespace.
func openStore(dir, namespace string) (Store, error) {
	if dir != "" {
		return folder(dir), nil
	}
	if namespace == "" {
		return nil, errors.New("the namespace of Velero is not known: set VELERO_NAMESPACE, or MOVER_STATE to a folder")
	}
	config, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("no configuration of a Kubernetes client: %w", err)
	}
	config.Timeout = 10 * time.Second // Velero waits for a plugin without end
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return configMaps{client.CoreV1().ConfigMaps(namespace)}, nil
}

const stateLabel = "example.io/mover-operation" // of the config maps that are the state

type configMaps struct {
	client typedcorev1.ConfigMapInterface
}

func (s configMaps) Put(key string, at time.Time, owner metav1.OwnerReference) error {
	_, err := s.client.Create(context.Background(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: key, Labels: map[string]string{stateLabel: "", velerov1.ExcludeFromBackupLabel: "true"},
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Data: map[string]string{"at": at.UTC().Format(time.RFC3339Nano)},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (s configMaps) Get(key string) (time.Time, error) {
	m, err := s.client.Get(context.Background(), key, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, m.Data["at"])
}

// folder is for tests without a cluster.
type folder string

func (s folder) Put(key string, at time.Time, _ metav1.OwnerReference) error {
	path := filepath.Join(string(s), key)
	if err := os.WriteFile(path+".new", []byte(at.UTC().Format(time.RFC3339Nano)), 0o600); err != nil {
		return err
	}
	if err := os.Link(path+".new", path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Remove(path + ".new")
}

func (s folder) Get(key string) (time.Time, error) {
	b, err := os.ReadFile(filepath.Join(string(s), key))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, string(b))
}
