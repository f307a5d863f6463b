package proxy

import (
	"slices"
	"sync"
	"time"
)

// patience is how long the answer to a write waits for those to writes that were passed on before it: what has seen an earlier write by a watch
// may write, and be answered, before that is.
const patience = time.Second

// order hands the answers to writes over, one at a time for an object, and by version as the package comment says.
type order struct {
	patience time.Duration
	mu       sync.Mutex
	objects  map[string]*object
}

// object is there while writes to it are under way: a later one cannot have a smaller version.
type object struct {
	key      string
	underway int
	turn     sync.Cond
	busy     bool
	passed   []*write // as they were passed on; not answered yet
	answered []*write // by version; waiting for their turn
	last     uint64   // largest version that was handed over
}

// write is one that is under way.
type write struct {
	object  *object
	version uint64
	before  []*write // were passed on before, and not answered then
}

// begin notes a write that is about to be passed on. It must be handed over, whatever becomes of it.
func (o *order) begin(key string) *write {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.objects == nil {
		o.objects = map[string]*object{}
	}
	x := o.objects[key]
	if x == nil {
		x = &object{key: key, turn: sync.Cond{L: &o.mu}}
		o.objects[key] = x
	}
	x.underway++
	w := &write{object: x, before: slices.Clone(x.passed)}
	x.passed = append(x.passed, w)
	return w
}

// hand calls f in its turn. The version is 0 for a write that made none.
func (o *order) hand(w *write, version uint64, f func(late bool) Action) Action {
	late := o.take(w, version)
	defer o.done(w.object)
	return f(late)
}

func (o *order) take(w *write, version uint64) (late bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x := w.object
	x.passed = slices.DeleteFunc(x.passed, func(other *write) bool { return other == w })
	x.turn.Broadcast()
	w.version = version
	until := time.Now().Add(o.patience)
	defer time.AfterFunc(o.patience, x.turn.Broadcast).Stop()
	at := slices.IndexFunc(x.answered, func(other *write) bool { return other.version > version })
	if at < 0 {
		at = len(x.answered)
	}
	x.answered = slices.Insert(x.answered, at, w)
	for x.busy || x.answered[0] != w || x.awaits(w) && time.Now().Before(until) {
		x.turn.Wait()
	}
	x.busy = true
	x.answered = x.answered[1:]
	late = version != 0 && version < x.last
	x.last = max(x.last, version)
	return late
}

// awaits reports whether a write that was passed on before w is not answered yet.
func (x *object) awaits(w *write) bool {
	return slices.ContainsFunc(w.before, func(other *write) bool { return slices.Contains(x.passed, other) })
}

func (o *order) done(x *object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	x.busy = false
	x.underway--
	if x.underway == 0 {
		delete(o.objects, x.key)
	}
	x.turn.Broadcast()
}
