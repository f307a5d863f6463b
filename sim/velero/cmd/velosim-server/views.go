package main

import (
	"fmt"

	"github.com/sirupsen/logrus"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/velosim/velosim/sim/velero/server"
)

// views implements server.Views: all controllers share what there is.
type views struct {
	mgr     ctrl.Manager
	direct  client.Client
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	plugins func(logrus.FieldLogger) clientmgmt.Manager
}

// newViews makes the manager and the clients.
func newViews(f veleroclient.Factory) (v *views, err error) {
	v = &views{}
	if v.kube, err = f.KubeClient(); err != nil {
		return nil, err
	}
	if v.dynamic, err = f.DynamicClient(); err != nil {
		return nil, err
	}
	if v.direct, err = f.KubebuilderClient(); err != nil {
		return nil, err
	}
	scheme, err := server.NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := f.ClientConfig()
	if err != nil {
		return nil, err
	}
	v.mgr, err = ctrl.NewManager(c, ctrl.Options{
		Scheme: scheme, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{f.Namespace(): {}}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, fmt.Errorf("error creating controller manager: %w", err)
	}
	return v, nil
}

func (v *views) Manager(string) ctrl.Manager                                { return v.mgr }
func (v *views) Cached(string) client.Client                                { return v.mgr.GetClient() }
func (v *views) Direct(string) client.Client                                { return v.direct }
func (v *views) Kube(string) kubernetes.Interface                           { return v.kube }
func (v *views) Dynamic(string) dynamic.Interface                           { return v.dynamic }
func (v *views) Plugins(string) func(logrus.FieldLogger) clientmgmt.Manager { return v.plugins }
