package virtual_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// TestOutageOfTheAPI: while it lasts, no write of the server is applied, and the first one afterwards is.
func TestOutageOfTheAPI(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, "\nfaults: [{at: {write: {phase: Finalizing}}, do: {apiOutage: 30s}}]", "Completed"))
	for seed := int64(1); seed <= 4; seed++ {
		tr := run(t, s, seed)
		at := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Fault != nil })
		refused := 0
		for _, e := range tr.Events[max(at, 0):] {
			if e.Write == nil || e.Incarnation == 0 {
				continue
			}
			lost := strings.HasSuffix(e.Write.Error, "connection refused")
			if during := e.At < tr.Events[at].At+trace.Time(30*time.Second); lost != during {
				t.Errorf("seed %d: %s of %s at %s, the outage being at %s: error %q", seed, e.Write.Verb, e.Object, e.At, tr.Events[at].At, e.Write.Error)
			}
			if lost {
				refused++
			}
		}
		if refused == 0 {
			t.Errorf("seed %d: no write was refused", seed)
		}
	}
}

// TestStaleCache: what the server writes does not come to its own caches before the fault is over, and then it does.
func TestStaleCache(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, "\nfaults: [{at: {phase: Queued}, do: {staleCache: 1h}}]", "Completed"))
	for seed := int64(1); seed <= 4; seed++ {
		tr := run(t, s, seed)
		when := func(phase string) trace.Time {
			i := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Phase != nil && e.Phase.To == phase })
			if i < 0 {
				t.Fatalf("seed %d: it is never %s", seed, phase)
			}
			return tr.Events[i].At
		}
		// The queue acts on Queued, which its cache does not have.
		if waits := time.Duration(when("ReadyToStart") - when("Queued")); waits < time.Hour || waits > time.Hour+2*time.Minute {
			t.Errorf("seed %d: it is Queued for %v", seed, waits)
		}
	}
}

// TestWatchesEnd: the server watches again, so that it learns of what comes later.
func TestWatchesEnd(t *testing.T) {
	s := parse(t, "test.yaml", scenarioOf(t, "\nfaults: [{at: {phase: Queued}, do: {breakWatches: {}}}]", "Completed"))
	for seed := int64(1); seed <= 4; seed++ {
		told := story(run(t, s, seed), func(e trace.Event) bool { return e.Phase != nil && e.Object == "backup/backup-1" })
		want := []string{
			"server started", "Queued", "fault: every watch of the server ends", "ReadyToStart", "InProgress", "Finalizing", "Completed", "server stopped",
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestCRDsLack: a phase that the CRD lacks is refused in the run that lacks it, and in no other.
func TestCRDsLack(t *testing.T) {
	for _, lacks := range []string{"\ncrds: {backup: {lacks: [Finalizing]}}\nworlds: [virtual]", ""} {
		s := parse(t, "test.yaml", scenarioOf(t, lacks, "Completed"))
		refused := slices.ContainsFunc(run(t, s, 1).Events, func(e trace.Event) bool {
			return e.Write != nil && strings.Contains(e.Write.Error, `status.phase: Unsupported value: "Finalizing"`)
		})
		if refused != (lacks != "") {
			t.Errorf("with %q a write is refused: %t", lacks, refused)
		}
	}
}

// TestSlowStore: an access takes effect so much later, and its reply is seen so much later.
func TestSlowStore(t *testing.T) {
	for _, after := range []string{"", ", after: true"} {
		s := parse(t, "test.yaml", scenarioOf(t,
			"\nfaults: [{at: {store: {verb: put, key: backups/backup-1/backup-1.tar.gz}"+after+"}, do: {latency: 5m}}]", "Completed"))
		tr := run(t, s, 1)
		var put, ends trace.Time
		for _, e := range tr.Events {
			switch {
			case e.Store != nil && e.Store.Verb == "put" && strings.HasSuffix(e.Store.Key, ".tar.gz"):
				put = e.At
			case e.Phase != nil && e.Phase.To == "Finalizing":
				ends = e.At
			}
		}
		late := put > trace.Time(5*time.Minute)
		if late != (after == "") || ends < trace.Time(5*time.Minute) || ends > trace.Time(6*time.Minute) {
			t.Errorf("%q: the put is at %s, and the run ends at %s", after, put, ends)
		}
	}
}
