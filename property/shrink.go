package property

import (
	"context"
	"flag"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

// Shrink looks for the smallest scenario with a finding of the same kind, for about as long in wall time, or until ctx ends. It returns
// the smallest one that it has found, or the run as it is. Nothing else may use rapid, or change its flags, in the meantime.
func Shrink(ctx context.Context, w world.World, r Run, within time.Duration) Run {
	s := shrinker{ctx: ctx, world: w, first: r, least: r, known: map[string]*Run{}}
	if b, err := text(r.written); err == nil {
		s.known[string(b)] = &r
	}
	smaller(r.Number, within, s.shows)
	s.prune()
	return s.least
}

// smaller has rapid draw ever smaller scenarios that show something, beginning with the one of the number.
func smaller(number int, within time.Duration, shows func(Drawn) bool) {
	for name, value := range map[string]string{
		"rapid.seed": strconv.Itoa(number), "rapid.checks": "1", "rapid.nofailfile": "true", "rapid.shrinktime": within.String(),
	} {
		f := flag.Lookup(name)
		old := f.Value.String()
		if err := flag.Set(name, value); err != nil {
			panic(err) // rapid has these flags
		}
		defer flag.Set(name, old) //nolint:errcheck // it had this value
	}
	rapid.Check(&quiet{}, func(t *rapid.T) {
		if shows(Scenarios().Draw(t, "scenario")) {
			t.Fatal("it shows")
		}
	})
}

type shrinker struct {
	ctx          context.Context
	world        world.World
	first, least Run
	known        map[string]*Run // that show it, by their text; nil: it does not
}

// shows tells whether a scenario has the finding, too. What shows in the model is asked there first.
func (s *shrinker) shows(d Drawn) bool {
	if s.ctx.Err() != nil {
		return false
	}
	b, err := text(d.written)
	if err != nil {
		return false
	}
	r, known := s.known[string(b)]
	if !known {
		if s.mayShow(d.Scenario) {
			played := Play(s.ctx, s.world, d, s.first.Number)
			if played.Finding != nil && Kind(*played.Finding) == Kind(*s.first.Finding) {
				r = &played
			}
		}
		s.known[string(b)] = r
	}
	if r == nil {
		return false
	}
	s.least = *r // rapid only goes on to smaller ones
	return true
}

// prune leaves out faults, plugins and items, one by one, that the smallest scenario shows it without: rapid stops where what it draws less of
// changes the rest, too.
func (s *shrinker) prune() {
	without := func(w scenario.Scenario) bool {
		d, err := read(w)
		return err == nil && s.shows(d)
	}
	for pruned := true; pruned; {
		w := s.least.written
		pruned = dropped(w.Faults, func(f []scenario.Fault) bool { w := w; w.Faults = f; return without(w) }) ||
			dropped(w.Plugins, func(p []scenario.Plugin) bool { w := w; w.Plugins = p; return without(w) }) ||
			dropped(w.Items, func(i []scenario.Item) bool { w := w; w.Items = i; return without(w) })
	}
}

// dropped reports whether the list can do without one of its elements.
func dropped[T any](list []T, without func([]T) bool) bool {
	for i := range list {
		if without(slices.Delete(slices.Clone(list), i, i+1)) {
			return true
		}
	}
	return false
}

// mayShow tells whether the model lacks the path that has been found, for a finding that is about that.
func (s *shrinker) mayShow(x *scenario.Scenario) bool {
	f := s.first.Finding
	release, err := phase.ForRelease(s.first.Trace.Header.Velero)
	if f.Oracle != "prediction" || err != nil {
		return true
	}
	path := taken(s.first.Trace, f.Object)
	for _, p := range model.Predict(release, x) {
		if p.Unknown == "" && kindOf(p.Object) == kindOf(f.Object) && !p.Allows(path) {
			return true
		}
	}
	return false
}

// taken is the path of the object.
func taken(t trace.Trace, object string) (path model.Path) {
	for _, e := range t.Events {
		if e.Object == object && e.Phase != nil {
			if p, err := phase.Parse(e.Phase.To); err == nil {
				path = append(path, p)
			}
		}
	}
	return path
}

// quiet is the test that rapid fails while it shrinks.
type quiet struct {
	rapid.TB
	failed bool
}

func (*quiet) Helper()                 {}
func (*quiet) Name() string            { return "shrink" }
func (*quiet) Log(...any)              {}
func (*quiet) Logf(string, ...any)     {}
func (q *quiet) Errorf(string, ...any) { q.failed = true }
func (q *quiet) FailNow()              { q.failed = true }
func (q *quiet) Failed() bool          { return q.failed }
