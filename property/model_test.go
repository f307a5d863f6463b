package property

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

// TestModel asks the model about 10,000 scenarios; with -short about few. The first one that it is wrong about is shrunk and written.
func TestModel(t *testing.T) {
	scenarios := int64(10_000)
	if testing.Short() {
		scenarios = 200
	}
	var next, wrong atomic.Int64
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for n := next.Add(1); n <= scenarios && wrong.Load() == 0; n = next.Add(1) {
				if predicts(Numbered(int(n)).Scenario, n%10 == 0) != nil {
					wrong.Store(n)
				}
			}
		})
	}
	workers.Wait()
	if wrong.Load() == 0 {
		return
	}
	least := Run{Number: int(wrong.Load()), Trace: trace.Trace{Header: trace.Header{Velero: "1.18.3"}}}
	smaller(least.Number, 20*time.Second, func(d Drawn) bool {
		f := predicts(d.Scenario, true)
		if f != nil && (least.Finding == nil || f.Expected == least.Finding.Expected) {
			least.Drawn, least.Finding = d, f
			return true
		}
		return false
	})
	_, replay, err := Write("../out/property", least)
	t.Errorf("number %d: expected %s, saw %s\n%s\n%#v", wrong.Load(), least.Finding.Expected, least.Finding.Seen, replay, least.Drawn)
	if err != nil {
		t.Error(err)
	}
}

// predicts checks the predictions for a scenario, and on demand what takes several more; nil: they are as they must be.
func predicts(s *scenario.Scenario, all bool) *verdict.Finding {
	release, err := phase.ForRelease("1.18.3")
	if err != nil {
		return &verdict.Finding{Oracle: "model", Expected: "rules of the release", Seen: err.Error()}
	}
	wrong := func(object, expected string, seen any) *verdict.Finding {
		return &verdict.Finding{Oracle: "model", Object: object, Expected: expected, Seen: fmt.Sprint(seen)}
	}
	demanded, released := model.Predict(release.Demanded(), s), model.Predict(release, s)
	// What may become of one that is not predicted may hold any other.
	if unknown := func(p model.Prediction) bool { return p.Unknown != "" }; slices.ContainsFunc(demanded, unknown) || slices.ContainsFunc(released, unknown) {
		return nil
	}
	for i, object := range s.Objects() {
		d, r := demanded[i], released[i]
		if d.Object != object || r.Object != object {
			return wrong(object, "predictions in the order of the objects", d.Object+" and "+r.Object)
		}
		for _, p := range d.Paths {
			if !p.End().Final() && !vanishes(s, object) && !stranded(s, object, p.End()) {
				return wrong(object, "demanded paths that end", "it may stay: "+p.String())
			}
		}
		if object == s.Expect.Object && len(s.Faults) == 0 && (len(d.Paths) == 0 || len(r.Paths) == 0) {
			return wrong(object, "a path of what is certainly created", fmt.Sprintf("demanded %v, release %v", d.Paths, r.Paths))
		}
		if !all {
			continue
		}
		if other := slices.IndexFunc(r.Paths, func(p model.Path) bool { return !d.Allows(p) }); other >= 0 && !explained(release, s, i, r.Paths[other]) {
			return wrong(object, "rules that explain a path that is not demanded", r.Paths[other])
		}
	}
	if all {
		if diff := cmp.Diff(released, model.Predict(release, s)); diff != "" {
			return wrong("", "the same prediction when it is asked for again", diff)
		}
	}
	return nil
}

// vanishes tells whether the object may be gone before its end: the user deletes or removes it, or its backup, which may expire, too.
func vanishes(s *scenario.Scenario, object string) bool {
	asked := func(object string) bool {
		return slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Delete == object || f.Do.Remove == object })
	}
	if name, ok := strings.CutPrefix(object, "restore/"); ok {
		return asked(object) || vanishes(s, "backup/"+s.RestoreNamed(name).Backup)
	}
	_, expires := s.Expires()
	return asked(object) || expires
}

// stranded tells whether the backup may lack the location that its finalizer needs: it is removed, and created again too early or never.
func stranded(s *scenario.Scenario, object string, end phase.Phase) bool {
	finalizing := end == phase.Finalizing || end == phase.FinalizingPartiallyFailed
	return finalizing && strings.HasPrefix(object, "backup/") &&
		slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Location == scenario.Removed })
}

// explained tells whether there are rules without which the release would not take the path.
func explained(release phase.Rules, s *scenario.Scenario, object int, path model.Path) bool {
	for _, rule := range phase.All() {
		if !rule.Deviates(release) {
			continue
		}
		p := model.Predict(release.Without(rule), s)[object]
		if p.Unknown != "" || !p.Allows(path) {
			return true
		}
		release = release.Without(rule)
	}
	return false
}
