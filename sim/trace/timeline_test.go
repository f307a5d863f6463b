package trace_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

func timeline(t *testing.T, tr trace.Trace, verbose bool) string {
	t.Helper()
	var b strings.Builder
	tl := trace.NewTimeline(&b, verbose)
	for _, e := range tr.Events {
		if err := tl.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := tl.End(tr.End); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTimeline(t *testing.T) {
	cut := hangs()
	cut.Events, cut.End = cut.Events[:12], trace.End{}
	for name, tr := range map[string]trace.Trace{
		"times-out": timesOut(),
		"hangs":     hangs(),
		"restores":  restores(),
		"cut-off":   cut,
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "timeline/"+name+".golden", timeline(t, tr, false))
			golden(t, "timeline/"+name+".verbose.golden", timeline(t, tr, true))
		})
	}
}

// TestTimelineFolds looks at what is folded and left out, event by event.
func TestTimelineFolds(t *testing.T) {
	const other = "backup/backup-2"
	version := func(s *script, v, change string) {
		s.add(backup, trace.Body{Write: &trace.Write{
			Client: "gc", Verb: "update", Resource: "backups", Name: "velero/backup-1", ResourceVersion: v, Change: change,
		}})
	}
	for _, tt := range []struct {
		name  string
		build func(*script)
		want  []string
	}{
		{"a poll that takes longer is shown", func(s *script) {
			s.poll(backup, "mover-1", progress(1, 0))
			s.poll(backup, "mover-1", progress(1, 0))
			id := s.call(backup, trace.Call{Method: "Progress", Operation: "mover-1"})
			s.at += time.Minute
			r := progress(1, 0)
			r.ID = id
			s.add(backup, trace.Body{Return: &r})
		}, []string{
			"0s backup/backup-1 example.io/mover Progress mover-1: 1 of 10 GB (uploading)",
			"0s backup/backup-1 … 1 poll, no change since 0s",
			"1m0s backup/backup-1 example.io/mover Progress mover-1: 1 of 10 GB (uploading), after 1m0s",
		}},
		{"a poll is split by what happens during it", func(s *script) {
			s.poll(backup, "mover-1", progress(1, 0))
			id := s.call(backup, trace.Call{Method: "Progress", Operation: "mover-1"})
			s.server("stopped")
			r := progress(1, 0)
			r.ID = id
			s.add(backup, trace.Body{Return: &r})
		}, []string{
			"0s backup/backup-1 example.io/mover Progress mover-1: 1 of 10 GB (uploading)",
			"0s backup/backup-1 example.io/mover Progress mover-1 …",
			"0s process server stopped",
			"0s backup/backup-1 example.io/mover Progress mover-1: 1 of 10 GB (uploading)",
		}},
		{"polls of several objects belong to none", func(s *script) {
			for range 2 {
				s.poll(backup, "mover-1", progress(1, 0))
				s.poll(other, "mover-2", progress(1, 0))
			}
		}, []string{
			"0s backup/backup-1 example.io/mover Progress mover-1: 1 of 10 GB (uploading)",
			"0s backup/backup-2 example.io/mover Progress mover-2: 1 of 10 GB (uploading)",
			"0s … 2 polls, no change since 0s",
		}},
		{"polls of operations of the same ID are told apart by object", func(s *script) {
			s.poll(backup, "mover-1", progress(1, 0))
			s.poll(other, "mover-1", progress(1, 0))
		}, []string{
			"0s backup/backup-1 example.io/mover Progress mover-1: 1 of 10 GB (uploading)",
			"0s backup/backup-2 example.io/mover Progress mover-1: 1 of 10 GB (uploading)",
		}},
		{"a fault that could not strike says why", func(s *script) {
			s.add("", trace.Body{Fault: &trace.Fault{ID: "fault-1", Missed: "the server was down"}})
		}, []string{"0s fault fault-1 did not strike: the server was down"}},
		{"puts are folded by folder", func(s *script) {
			for _, key := range []string{"velero/a/1", "velero/a/2", "velero/b/1", "velero/top"} {
				s.store("put", key)
			}
			s.store("get", "velero/a/1")
			s.store("delete", "velero/a/1")
		}, []string{
			"0s stored 2 objects in velero/a/",
			"0s stored 1 object in velero/b/",
			"0s stored 1 object in velero/",
			"0s backup: store delete velero/a/1, 10 bytes",
		}},
		{"polls and puts stay in order", func(s *script) {
			s.poll(backup, "mover-1", progress(1, 0))
			for range 2 {
				s.at += time.Second
				s.store("put", "velero/a/1")
				s.at += time.Second
				s.poll(backup, "mover-1", progress(1, 0))
			}
		}, []string{
			"0s backup/backup-1 example.io/mover Progress mover-1: 1 of 10 GB (uploading)",
			"1s stored 1 object in velero/a/",
			"2s backup/backup-1 … 1 poll, no change since 2s",
			"3s stored 1 object in velero/a/",
			"4s backup/backup-1 … 1 poll, no change since 4s",
		}},
		{"patches and writes that change nothing are left out", func(s *script) {
			version(s, "5", "a")
			version(s, "5", "b")
			version(s, "6", "{}")
			s.add(backup, trace.Body{Write: &trace.Write{Client: "gc", Verb: "patch", Resource: "backups", Name: "velero/backup-1", Change: `{"status":{"errors":1}}`, ResourceVersion: "7"}})
			version(s, "8", "c")
		}, []string{
			"0s backup/backup-1 gc: update backups velero/backup-1 a",
			"0s backup/backup-1 gc: update backups velero/backup-1 c",
		}},
		{"objects of the cluster at rest", func(s *script) {
			s.add("configmaps/app/settings", trace.Body{Item: &trace.Item{Manifest: json.RawMessage(`{"kind":"ConfigMap"}`)}})
			s.add("secrets/app/token", trace.Body{Item: &trace.Item{}})
		}, []string{`0s configmaps/app/settings at rest: {"kind":"ConfigMap"}`, "0s secrets/app/token at rest: there is none"}},
		{"a return of nothing", func(s *script) {
			s.add(backup, trace.Body{Return: &trace.Return{ID: 9}})
		}, []string{"0s backup/backup-1 call 9, which was never made, returned"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(tt.name)
			tt.build(s)
			var got []string
			for line := range strings.Lines(timeline(t, s.end(trace.Settled, ""), false)) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			want := append(tt.want, s.End.At.String()+" end: settled")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestTimelineKeepsTheFirstWriteError(t *testing.T) {
	tl := trace.NewTimeline(full{}, false)
	var err error
	for _, e := range hangs().Events {
		err = tl.Event(e)
	}
	if err == nil || tl.End(trace.End{Reason: trace.Settled}) == nil {
		t.Error("no error, want the writer's")
	}
}
