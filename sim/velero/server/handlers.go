package server

import (
	"github.com/sirupsen/logrus"
	bia "github.com/vmware-tanzu/velero/pkg/backup/actions"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/discovery"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	ria "github.com/vmware-tanzu/velero/pkg/restore/actions"
	"github.com/vmware-tanzu/velero/pkg/util/actionhelpers"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The initializers below are those of Velero's pkg/cmd/server/plugin/plugin.go, which does not export them.

func withClient[T any](f veleroclient.Factory, construct func(logrus.FieldLogger, client.Client) T) common.HandlerInitializer {
	return func(log logrus.FieldLogger) (any, error) {
		c, err := f.KubebuilderClient()
		if err != nil {
			return nil, err
		}
		return construct(log, c), nil
	}
}

func withKube(f veleroclient.Factory, construct func(logrus.FieldLogger, kubernetes.Interface) (any, error)) common.HandlerInitializer {
	return func(log logrus.FieldLogger) (any, error) {
		kube, err := f.KubeClient()
		if err != nil {
			return nil, err
		}
		return construct(log, kube)
	}
}

func helper(f veleroclient.Factory, log logrus.FieldLogger) (discovery.Helper, error) {
	c, err := f.DiscoveryClient()
	if err != nil {
		return nil, err
	}
	return discovery.NewHelper(c, log)
}

func serviceAccount[T any](f veleroclient.Factory, construct func(logrus.FieldLogger, map[string]actionhelpers.ClusterRoleBindingLister, discovery.Helper) (T, error)) common.HandlerInitializer {
	return withKube(f, func(log logrus.FieldLogger, kube kubernetes.Interface) (any, error) {
		h, err := helper(f, log)
		if err != nil {
			return nil, err
		}
		return construct(log, actionhelpers.NewClusterRoleBindingListerMap(kube), h)
	})
}

func remapCRDVersion(f veleroclient.Factory) common.HandlerInitializer {
	return func(log logrus.FieldLogger) (any, error) {
		cfg, err := f.ClientConfig()
		if err != nil {
			return nil, err
		}
		c, err := apiextensions.NewForConfig(cfg)
		if err != nil {
			return nil, err
		}
		h, err := helper(f, log)
		if err != nil {
			return nil, err
		}
		return bia.NewRemapCRDVersionAction(log, c.ApiextensionsV1beta1().CustomResourceDefinitions(), h), nil
	}
}

func podVolumeRestore(f veleroclient.Factory) common.HandlerInitializer {
	return withKube(f, func(log logrus.FieldLogger, kube kubernetes.Interface) (any, error) {
		c, err := f.KubebuilderClient()
		if err != nil {
			return nil, err
		}
		return ria.NewPodVolumeRestoreAction(log, kube.CoreV1().ConfigMaps(f.Namespace()), c, f.Namespace())
	})
}

func changeStorageClass(f veleroclient.Factory) common.HandlerInitializer {
	return withKube(f, func(log logrus.FieldLogger, kube kubernetes.Interface) (any, error) {
		return ria.NewChangeStorageClassAction(log, kube.CoreV1().ConfigMaps(f.Namespace()), kube.StorageV1().StorageClasses()), nil
	})
}

func changeImageName(f veleroclient.Factory) common.HandlerInitializer {
	return withKube(f, func(log logrus.FieldLogger, kube kubernetes.Interface) (any, error) {
		return ria.NewChangeImageNameAction(log, kube.CoreV1().ConfigMaps(f.Namespace())), nil
	})
}

func persistentVolumeClaim(f veleroclient.Factory) common.HandlerInitializer {
	return withKube(f, func(log logrus.FieldLogger, kube kubernetes.Interface) (any, error) {
		return ria.NewPVCAction(log, kube.CoreV1().ConfigMaps(f.Namespace()), kube.CoreV1().Nodes()), nil
	})
}
