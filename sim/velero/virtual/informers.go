package virtual

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// resync is how often informers deliver everything again: controller-runtime's default, without its jitter.
const resync = 10 * time.Hour

func newCache(cfg *rest.Config, o cache.Options) (cache.Cache, error) {
	o.NewInformer = func(lw toolscache.ListerWatcher, obj runtime.Object, _ time.Duration, idx toolscache.Indexers) toolscache.SharedIndexInformer {
		return toolscache.NewSharedIndexInformer(lw, obj, resync, idx)
	}
	return cache.New(cfg, o)
}

// cacheReader reads from the cache. Lists are sorted: the cache has them in the order of a map.
type cacheReader struct {
	client.Reader
	end    context.Context         // of the incarnation: some of Velero's reads have no end of their own, should the cache never sync
	before func(what string) error // nil: nothing
}

// until is ctx, which ends with the incarnation, too.
func (c cacheReader) until(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Value(incarnationKey{}) != nil { // it does
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.end, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (c cacheReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if c.before != nil {
		if err := c.before(fmt.Sprintf("read %T %s", o, key.Name)); err != nil {
			return err
		}
	}
	ctx, cancel := c.until(ctx)
	defer cancel()
	return c.Reader.Get(ctx, key, o, opts...)
}

func (c cacheReader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if c.before != nil {
		if err := c.before(fmt.Sprintf("list %T", l)); err != nil {
			return err
		}
	}
	ctx, cancel := c.until(ctx)
	defer cancel()
	if err := c.Reader.List(ctx, l, opts...); err != nil || meta.LenList(l) < 2 {
		return err
	}
	items, err := meta.ExtractList(l)
	if err != nil {
		return err
	}
	slices.SortFunc(items, func(a, b runtime.Object) int { return strings.Compare(objectName(a), objectName(b)) })
	return meta.SetList(l, items)
}

// objectName is namespace/name@resourceVersion.
func objectName(o any) string {
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		o = gone.Obj
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return fmt.Sprintf("%T", o)
	}
	return m.GetNamespace() + "/" + m.GetName() + "@" + m.GetResourceVersion()
}

type namedCache struct {
	cache.Cache
	inc        *incarnation
	controller string
}

func (c namedCache) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	i, err := c.Cache.GetInformer(ctx, o, opts...)
	if err != nil {
		return nil, err
	}
	return namedInformer{i, c.inc, c.controller}, nil
}

type namedInformer struct {
	cache.Informer
	inc        *incarnation
	controller string
}

// AddEventHandlerWithOptions puts a queue between the informer and the controller's handler.
func (i namedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	d := &delivery{handler: h, inc: i.inc, controller: i.controller, what: "deliver to " + handlerName(h), held: true, wake: make(chan struct{}, 1)}
	if err := i.step(d.what + ": register"); err != nil {
		return nil, err
	}
	reg, err := i.Informer.AddEventHandlerWithOptions(d, o)
	if err != nil {
		return nil, err
	}
	go d.run()
	if err := i.step(d.what + ": registered"); err != nil {
		return nil, err
	}
	d.release()
	return reg, nil
}

// step is a step that does not fail before the incarnation's context has ended: a controller that cannot start stops the
// whole manager, and with it workers on which others wait.
func (i namedInformer) step(what string) error {
	err := i.inc.step(i.controller, what)
	if err != nil {
		<-i.inc.ctx.Done()
	}
	return err
}

// handlerName is the type of the controller-runtime handler behind the event handler: a controller may have several.
func handlerName(h toolscache.ResourceEventHandler) string {
	f := reflect.Indirect(reflect.ValueOf(h)).FieldByName("handler")
	if !f.IsValid() {
		return fmt.Sprintf("%T", h)
	}
	name, _, _ := strings.Cut(f.Elem().Type().String(), "[")
	return name
}

// delivery queues an informer's events and makes the delivery of each a step. What an informer delivers at once in the
// order of a map it sorts: the objects that it holds when the handler is added, and all of them at a resync.
type delivery struct {
	handler    toolscache.ResourceEventHandler
	inc        *incarnation
	controller string
	what       string
	wake       chan struct{}

	mu    sync.Mutex
	held  bool // the initial objects are still coming in
	queue []delivered
}

type delivered struct {
	verb     string
	old, new any
	initial  bool
}

func (e delivered) resync() bool {
	return e.verb == "update" && objectName(e.old) == objectName(e.new)
}

func byName(a, b delivered) int { return cmp.Compare(objectName(a.new), objectName(b.new)) }

func (d *delivery) OnAdd(o any, initial bool) { d.push(delivered{"add", nil, o, initial}) }
func (d *delivery) OnUpdate(a, b any)         { d.push(delivered{"update", a, b, false}) }
func (d *delivery) OnDelete(o any)            { d.push(delivered{"delete", nil, o, false}) }

func (d *delivery) push(e delivered) {
	d.mu.Lock()
	d.queue = append(d.queue, e)
	d.mu.Unlock()
	d.kick()
}

func (d *delivery) kick() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *delivery) release() {
	d.mu.Lock()
	slices.SortStableFunc(d.queue, byName)
	d.held = false
	d.mu.Unlock()
	d.kick()
}

func (d *delivery) run() {
	for {
		select {
		case <-d.wake:
		case <-d.inc.ctx.Done():
			return
		}
		for d.pending() {
			if d.inc.step(d.controller+"'s events", d.what) != nil {
				return
			}
			switch e := d.next(); e.verb {
			case "add":
				d.handler.OnAdd(e.new, e.initial)
			case "update":
				d.handler.OnUpdate(e.old, e.new)
			default:
				d.handler.OnDelete(e.new)
			}
		}
	}
}

func (d *delivery) pending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.held && len(d.queue) > 0
}

// next takes the next event; everything is blocked, so that a resync has put all its events into the queue.
func (d *delivery) next() delivered {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for n < len(d.queue) && d.queue[n].resync() {
		n++
	}
	slices.SortStableFunc(d.queue[:n], byName)
	e := d.queue[0]
	d.queue = d.queue[1:]
	return e
}
