package virtual

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/cmd/server/config"
	"github.com/vmware-tanzu/velero/pkg/discovery"
	"github.com/vmware-tanzu/velero/pkg/persistence"
	"github.com/vmware-tanzu/velero/pkg/util/logging"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/velosim/velosim/fakeplugins/subprocess"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/sched"
	"github.com/velosim/velosim/sim/velero/server"
)

// incarnation is one life of the Velero server.
type incarnation struct {
	n      int // from 1
	run    *run
	proc   *sched.Process
	ctx    context.Context
	cancel context.CancelFunc
	mgr    ctrl.Manager
	ended  chan struct{} // main has returned
	err    error         // that it returned

	// reconciling is how many reconciles are under way.
	reconciling atomic.Int64
	// running is the context of its plugins' processes, which die with it.
	running context.Context
	die     context.CancelFunc
	// plugins are the running processes of scripted plugins, by name.
	plugins map[string]int
	// starts are those of their processes so far, of which some may have failed.
	starts map[string]int
	// owns are the running processes of the user's plugins.
	owns  map[*own]*subprocess.Process
	locks locks
}

// incarnationKey is what a context has that ends with its incarnation.
type incarnationKey struct{}

// start starts the server in a goroutine of its own, as its main function would.
func (r *run) start() {
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), incarnationKey{}, true))
	inc := &incarnation{
		n: len(r.incarnations) + 1, run: r, proc: r.sched.Process(), ctx: ctx, cancel: cancel,
		ended: make(chan struct{}), plugins: map[string]int{}, starts: map[string]int{}, owns: map[*own]*subprocess.Process{}, locks: locks{holders: map[string]chan struct{}{}},
	}
	inc.running, inc.die = context.WithCancel(context.Background())
	r.incarnations = append(r.incarnations, inc)
	inc.record("", trace.Body{Process: &trace.Process{Name: "server", State: "started"}})
	go func() {
		defer close(inc.ended)
		inc.err = inc.main()
	}()
}

// main is what the server does from its start to its end (Velero pkg/cmd/server/server.go: newServer, run).
func (inc *incarnation) main() error {
	r := inc.run
	if err := inc.discover(); err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(inc.restConfig("manager"), ctrl.Options{
		Scheme:                 r.scheme,
		MapperProvider:         func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return r.mapper, nil },
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{veleroNamespace: {}}},
		NewCache:               newCache,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller: ctrlconfig.Controller{
			SkipNameValidation: new(true), // names are checked per process
			// A dead server must not notice that its caches never synced: it would end its context, and what retries without end
			// (Velero's finalizer) would never again come to a step.
			CacheSyncTimeout: 100 * 365 * 24 * time.Hour,
		},
	})
	if err != nil {
		return fmt.Errorf("failed to make the controller manager: %w", err)
	}
	inc.mgr = mgr
	client, err := factory{inc, "server"}.DiscoveryClient()
	if err != nil {
		return err
	}
	helper, err := discovery.NewHelper(client, r.log)
	if err != nil {
		return fmt.Errorf("failed to discover the API server's resources: %w", err)
	}
	views := server.Views(inc)
	if r.world.decorate != nil {
		views = r.world.decorate(views)
	}
	s := &server.Server{
		Namespace: veleroNamespace, Flags: r.flags(), Views: views, Discovery: helper,
		Stores: storeGetter{persistence.NewObjectBackupStoreGetter(nil)}, Plugins: registry{r.job.Scenario}, Actions: inc.actions(), Log: r.log,
	}
	if err := s.MarkInProgress(inc.ctx, inc.Direct("startup")); err != nil {
		return err
	}
	if err := s.SetupControllers(inc.ctx); err != nil {
		return err
	}
	return mgr.Start(inc.ctx)
}

// flags are the scenario's, and otherwise the defaults.
func (r *run) flags() *config.Config {
	flags, s := config.GetDefaultConfig(), r.job.Scenario.Server
	// Each line of a log is a write to a file, at which Go may let another goroutine go on. Velero counts warnings and errors.
	flags.LogLevel = logging.LogLevelFlag(logrus.WarnLevel)
	flags.ConcurrentBackups = s.ConcurrentBackups
	flags.ItemOperationSyncFrequency = s.ItemOperationSyncFrequency.Duration
	flags.ResourceTimeout = s.ResourceTimeout.Duration
	flags.GarbageCollectionFrequency = s.GarbageCollectionFrequency.Duration
	flags.BackupSyncPeriod = s.BackupSyncPeriod.Duration
	return flags
}

// kill freezes the incarnation: nothing that it does can land any more. Its context does not end, as a dead process has
// no time to notice anything, and Velero waits for ever for workers that did (pkg/backup/item_block_worker_pool.go). Its
// plugins' processes end, and who has called one does not see that it has.
func (inc *incarnation) kill() {
	inc.proc.Kill()
	inc.die()
	for _, name := range sortedKeys(inc.plugins) {
		for range inc.plugins[name] {
			inc.run.rec.add(inc.n, "", trace.Body{Process: &trace.Process{Name: name, State: "killed"}})
		}
	}
	inc.run.rec.add(inc.n, "", trace.Body{Process: &trace.Process{Name: "server", State: "killed"}})
	inc.killOwns()
}

// elected reports whether the manager has started its controllers.
func (inc *incarnation) elected() bool {
	if inc.mgr == nil {
		return false
	}
	select {
	case <-inc.mgr.Elected():
		return true
	default:
		return false
	}
}

// over reports whether main has returned.
func (inc *incarnation) over() bool {
	select {
	case <-inc.ended:
		return true
	default:
		return false
	}
}

// errGone is what everything that a server still tries comes to when the run is over.
var errGone = errors.New("the run is over")

// step is a step of the incarnation: the caller is parked, until the run is over if the incarnation is dead.
func (inc *incarnation) step(who, what string) error { return inc.take(inc.proc.Step, who, what) }

// childStep is a step of one of its plugins' processes, which go on while it is paused.
func (inc *incarnation) childStep(who, what string) error {
	return inc.take(inc.proc.StepApart, who, what)
}

func (inc *incarnation) take(step func(who, what string) bool, who, what string) error {
	for {
		if !step(who, what) {
			return errGone
		}
		free := inc.locks.held(who)
		if free == nil {
			inc.run.acting = inc
			return nil
		}
		<-free
	}
}

// fence parks the caller if the incarnation has just been killed.
func (inc *incarnation) fence() {
	if inc.proc.Dead() {
		inc.proc.Step("dead", "")
	}
}

// await is fence for what the server itself goes on with: the caller is parked as long as it is paused, too.
func (inc *incarnation) await(who string) {
	if inc.proc.Stopped() {
		inc.proc.Step(who, "stopped")
	}
}

// record records what the incarnation did; nothing once the run is over, when what goes on has no order.
func (inc *incarnation) record(object string, b trace.Body) {
	if inc.run.rec.over() {
		return
	}
	if p := b.Process; p != nil && p.Name != "server" {
		switch p.State {
		case "started":
			inc.plugins[p.Name]++
		case trace.ProcessFailed: // it was never there for anybody
		default:
			inc.plugins[p.Name]--
		}
	}
	inc.run.rec.add(inc.n, object, b)
}
