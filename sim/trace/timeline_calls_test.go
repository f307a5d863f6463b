package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// A timeline leaves out AppliesTo unless it takes long or fails, and folds the wait for additional items.
func TestTimelineOfCalls(t *testing.T) {
	const object = "restore/restore-1"
	no, yes := false, true
	var b strings.Builder
	l := trace.NewTimeline(&b, false)
	call := func(id int, at, took time.Duration, object, method string, r trace.Return) {
		t.Helper()
		r.ID = id
		for _, e := range []trace.Event{
			{At: trace.Time(at), Object: object, Body: trace.Body{Call: &trace.Call{ID: id, Plugin: mover, Method: method}}},
			{At: trace.Time(at + took), Object: object, Body: trace.Body{Return: &r}},
		} {
			if err := l.Event(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	call(1, 0, 0, "", "AppliesTo", trace.Return{})
	call(2, 0, time.Minute, "", "AppliesTo", trace.Return{})
	call(3, time.Minute, 0, "", "AppliesTo", trace.Return{Error: "no cloud"})
	for i := range 5 {
		call(4+i, 2*time.Minute+time.Duration(i)*time.Second, 0, object, "AreAdditionalItemsReady", trace.Return{Ready: &no})
	}
	call(9, 3*time.Minute, 0, object, "AreAdditionalItemsReady", trace.Return{Ready: &yes})
	want := []string{
		"1m0s                      example.io/mover AppliesTo: done, after 1m0s",
		"1m0s                      example.io/mover AppliesTo: error: no cloud",
		"2m0s  restore/restore-1   example.io/mover AreAdditionalItemsReady: not ready",
		"2m4s  restore/restore-1   … 4 polls, no change since 2m1s",
		"3m0s  restore/restore-1   example.io/mover AreAdditionalItemsReady: ready",
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.TrimSpace(line))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
}
