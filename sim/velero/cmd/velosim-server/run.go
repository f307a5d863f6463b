package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/bombsimon/logrusr/v3"
	"github.com/sirupsen/logrus"
	veleroclient "github.com/vmware-tanzu/velero/pkg/client"
	"github.com/vmware-tanzu/velero/pkg/cmd/server/config"
	"github.com/vmware-tanzu/velero/pkg/cmd/util/signals"
	"github.com/vmware-tanzu/velero/pkg/discovery"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt/process"
	"github.com/vmware-tanzu/velero/pkg/podexec"
	repokey "github.com/vmware-tanzu/velero/pkg/repository/keys"
	"github.com/vmware-tanzu/velero/simshim"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/velero/prepost"
	"github.com/velosim/velosim/sim/velero/server"
)

// run is what Velero's server does from its start to its end (pkg/cmd/server/server.go: newServer, run).
func run(f veleroclient.Factory, flags *config.Config, t timeouts, log *logrus.Logger) error {
	if flags.RestoreOnly || len(flags.DisabledControllers) > 0 {
		return errors.New("velosim-server runs all controllers: remove --restore-only and --disable-controllers")
	}
	f.SetClientQPS(flags.ClientQPS)
	f.SetClientBurst(flags.ClientBurst)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ctrl.SetLogger(logrusr.New(log))
	klog.SetLogger(logrusr.New(log))

	registry := process.NewRegistry(flags.PluginDir, log, log.Level)
	if err := registry.DiscoverPlugins(); err != nil {
		return err
	}
	found, err := actions.Discover(ctx, flags.PluginDir, log)
	if err != nil {
		return err
	}
	for _, p := range found {
		log.WithFields(logrus.Fields{"kind": p.Kind, "name": p.Name, "command": p.Command}).Info("registering plugin")
	}
	v, err := newViews(f)
	if err != nil {
		return err
	}
	v.plugins = func(l logrus.FieldLogger) clientmgmt.Manager { return clientmgmt.NewManager(l, log.Level, registry) }
	signals.CancelOnShutdown(cancel, log)
	helper, err := discover(ctx, f, log)
	if err != nil {
		return err
	}
	if err := repokey.EnsureCommonRepositoryKey(v.kube.CoreV1(), f.Namespace()); err != nil {
		return err
	}
	credentials, err := simshim.NewCredentialStores(v.mgr.GetClient(), f.Namespace(), flags.CredentialsDirectory)
	if err != nil {
		return err
	}
	s := &server.Server{
		Namespace: f.Namespace(), Flags: flags, Views: v, Discovery: helper, Plugins: registry, Log: log,
		Stores:   persistence.NewObjectBackupStoreGetterWithSecretStore(credentials.Files, credentials.Secrets),
		Commands: podexec.NewPodCommandExecutor(v.mgr.GetConfig(), v.kube.CoreV1().RESTClient()),
	}
	s.Actions = &prepost.Server{ // without plugins as well: what began when there were some is to be given free
		Context: ctx, Namespace: f.Namespace(), ResourceTimeout: flags.ResourceTimeout, Identity: identity(),
		Plugins: plugins{found, t}, Views: v, ObjectStores: s.Stores, Log: log,
	}
	if err := s.MarkInProgress(ctx, v.direct); err != nil {
		return err
	}
	log.Info("Starting controllers")
	if err := s.SetupControllers(ctx); err != nil {
		return err
	}
	log.Info("Server starting...")
	return v.mgr.Start(ctx)
}

// discover returns the discovery helper, which is refreshed every five minutes.
func discover(ctx context.Context, f veleroclient.Factory, log logrus.FieldLogger) (discovery.Helper, error) {
	c, err := f.DiscoveryClient()
	if err != nil {
		return nil, err
	}
	helper, err := discovery.NewHelper(c, log)
	if err != nil {
		return nil, err
	}
	go wait.Until(func() {
		if err := helper.Refresh(); err != nil {
			log.WithError(err).Error("Error refreshing discovery")
		}
	}, 5*time.Minute, ctx.Done())
	return helper, nil
}

// identity is another for each process.
func identity() string {
	host, _ := os.Hostname() //nolint:errcheck // what follows is enough
	return host + "_" + string(uuid.NewUUID())
}
