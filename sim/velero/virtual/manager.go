package virtual

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/velosim/velosim/sim/trace"
)

// namedManager is the incarnation's manager as one controller sees it: what the controller does can be told apart.
type namedManager struct {
	ctrl.Manager
	inc        *incarnation
	controller string
}

// GetClient is asked by periodic sources only. Their lists are no steps: nothing can come between a list of the cache and
// the adding of what it has to a work queue, and a step every few seconds would be dear.
func (m namedManager) GetClient() client.Client {
	cached := cacheReader{Reader: m.Manager.GetCache(), end: m.inc.ctx}
	c := m.inc.client(m.controller, cached)
	if m.inc.run.world.dear {
		return c
	}
	return sourceClient{c, cached}
}

// sourceClient is a periodic source's client. Such lists are much of what happens while the server waits, and so they go straight
// to the cache of the one namespace that is watched. What they list is the cache's own: a source changes nothing.
type sourceClient struct {
	client.Client
	cached cacheReader
}

func (c sourceClient) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return c.cached.List(ctx, l, append(opts, client.InNamespace(veleroNamespace), client.UnsafeDisableDeepCopy)...)
}

func (m namedManager) GetCache() cache.Cache {
	return namedCache{m.Manager.GetCache(), m.inc, m.controller}
}

// Add makes the start of every reconcile a step, and records what comes of it. The controller's queue is the same as ever,
// but without a name, as queues with one update their metrics twice a second, and without a heartbeat.
func (m namedManager) Add(r manager.Runnable) error {
	c := reflect.ValueOf(r).Elem()
	if do := c.FieldByName("Do"); do.IsValid() { // a controller.Controller
		do.Set(reflect.ValueOf(m.watched(do.Interface().(reconcile.Reconciler))))
		config := workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Clock: quietClock{}}
		if m.inc.run.world.dear {
			config.Clock = clock.RealClock{}
		}
		c.FieldByName("NewQueue").Set(reflect.ValueOf(func(_ string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
			return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, config)
		}))
	}
	return m.Manager.Add(r)
}

// quietClock never ticks. A work queue wakes every ten seconds, lest it has missed what its timers tell it: here they are exact.
type quietClock struct{ clock.RealClock }

func (quietClock) NewTicker(time.Duration) clock.Ticker { return noTicker{} }

type noTicker struct{}

func (noTicker) C() <-chan time.Time { return nil }
func (noTicker) Stop()               {}

// lanes number the reconciles of a controller that go on at once.
type lanes struct {
	mu    sync.Mutex
	taken []bool
}

// enter returns the lowest number that is free.
func (l *lanes) enter() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	lane := slices.Index(l.taken, false)
	if lane < 0 {
		lane, l.taken = len(l.taken), append(l.taken, false)
	}
	l.taken[lane] = true
	return lane
}

func (l *lanes) leave(lane int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken[lane] = false
}

// below calls f under n frames more, so that the stacks of reconciles which go on at once tell their steps apart.
func below(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	below(n-1, f)
}

// addresses are those of pointers, which some of Velero's errors tell (Reconcile in pkg/controller/schedule_controller.go), and which are
// others in every run.
var addresses = regexp.MustCompile(`0x[0-9a-f]{8,}`)

func (m namedManager) watched(r reconcile.Reconciler) reconcile.Reconciler {
	var abreast lanes
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if err := m.inc.step(m.controller, "reconcile "+req.Name); err != nil {
			return reconcile.Result{}, err
		}
		m.inc.reconciling.Add(1)
		defer m.inc.reconciling.Add(-1)
		defer func() {
			if p := recover(); p != nil {
				in := fmt.Sprintf("%v, in %s", p, panicked())
				m.inc.record(m.reconciled(req), trace.Body{Reconcile: &trace.Reconcile{Controller: m.controller, Error: in, Panic: true}})
				panic(p) // controller-runtime makes an error of it
			}
		}()
		lane := abreast.enter()
		defer abreast.leave(lane)
		var res reconcile.Result
		var err error
		below(lane, func() { res, err = r.Reconcile(ctx, req) })
		m.inc.await(m.controller) // what gives up after a pause does so without a step
		if err != nil {
			text := addresses.ReplaceAllString(err.Error(), "0x…")
			m.inc.record("", trace.Body{Reconcile: &trace.Reconcile{Controller: m.controller, Error: text}})
		}
		return res, err
	})
}
