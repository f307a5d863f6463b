package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
)

// start is when operations are started, as a machine says that is not in UTC.
func start() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 5, time.FixedZone("", 3600)) }

// at is the plugin's process at a time: it shares no more than the store with others.
func at(s Store, d time.Duration) mover {
	return mover{s, func() time.Time { return start().Add(d) }}
}

// stores are new ones of each kind.
func stores(t *testing.T) map[string]Store {
	return map[string]Store{
		"folder":      folder(t.TempDir()),
		"config maps": configMaps{fake.NewClientset().CoreV1().ConfigMaps("velero")},
	}
}

func configMap(namespace, name string) *unstructured.Unstructured {
	u := new(unstructured.Unstructured)
	u.SetAPIVersion("v1")
	u.SetKind("ConfigMap")
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func backup(name string) *velerov1.Backup {
	return &velerov1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: name, UID: "of 1"}}
}

// operation starts one at time 0.
func operation(t *testing.T, s Store) string {
	t.Helper()
	_, _, id, _, err := backupAction{at(s, 0)}.Execute(configMap("app", "settings"), backup("backup-1"))
	if id == "" || err != nil {
		t.Fatalf("Execute: operation %q, %v", id, err)
	}
	return id
}

func progress(t *testing.T, s Store, id string, d time.Duration) velero.OperationProgress {
	t.Helper()
	p, err := backupAction{at(s, d)}.Progress(id, backup("backup-1"))
	if err != nil {
		t.Fatalf("Progress after %s: %v", d, err)
	}
	return p
}

func TestCancel(t *testing.T) {
	for name, c := range map[string]struct {
		cancel []time.Duration
		asked  time.Duration
		want   velero.OperationProgress
	}{
		"runs":             {nil, 1100 * time.Millisecond, report5of10(1000 * time.Millisecond)},
		"ends":             {nil, time.Hour, ended()},
		"cancelled":        {[]time.Duration{1100 * time.Millisecond}, time.Hour, stopped(1100 * time.Millisecond)},
		"cancelled twice":  {[]time.Duration{1100 * time.Millisecond, 1500 * time.Millisecond}, time.Hour, stopped(1100 * time.Millisecond)},
		"cancelled late":   {[]time.Duration{2 * time.Second, time.Hour}, time.Hour, ended()},
		"cancelled before": {[]time.Duration{-time.Minute}, time.Hour, stopped(0)}, // by the clock of another machine
	} {
		for kind, s := range stores(t) {
			t.Run(name+", "+kind, func(t *testing.T) {
				id := operation(t, s)
				for _, d := range c.cancel {
					if err := (backupAction{at(s, d)}).Cancel(id, backup("backup-1")); err != nil {
						t.Fatalf("Cancel after %s: %v", d, err)
					}
				}
				got := progress(t, s, id, c.asked)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("Progress: -want +got\n%s", diff)
				}
				if _, offset := got.Started.Zone(); offset != 0 {
					t.Errorf("Started is %s, want UTC", got.Started)
				}
			})
		}
	}
}

func report5of10(updated time.Duration) velero.OperationProgress {
	return velero.OperationProgress{
		NCompleted: 5, NTotal: 10, OperationUnits: "steps", Description: "moving", Started: start().UTC(), Updated: start().UTC().Add(updated),
	}
}

func ended() velero.OperationProgress {
	p := report5of10(2 * time.Second)
	p.NCompleted, p.Completed = 10, true
	return p
}

func stopped(after time.Duration) velero.OperationProgress {
	p := report5of10(after)
	p.NCompleted, p.Completed, p.Err, p.Description = int64(after/(200*time.Millisecond)), true, "cancelled", "cancelled"
	return p
}

// Reports only get further, and Updated is when they last did.
func TestProgress(t *testing.T) {
	s := folder(t.TempDir())
	id := operation(t, s)
	last := progress(t, s, id, -time.Minute)
	if last.NCompleted != 0 || !last.Updated.Equal(last.Started) {
		t.Errorf("by the clock of another machine, before the start: %+v", last)
	}
	changes := 0
	for d := time.Duration(0); d <= 3*time.Second; d += 50 * time.Millisecond {
		p := progress(t, s, id, d)
		if p.NCompleted < last.NCompleted || p.NCompleted > p.NTotal || last.Completed && !p.Completed || p.Updated.After(start().Add(d)) {
			t.Errorf("after %s %+v follows %+v", d, p, last)
		}
		if p.Completed != (d >= 2*time.Second) || p.Err != "" {
			t.Errorf("after %s: completed %t, %q", d, p.Completed, p.Err)
		}
		updated := p.Updated
		p.Updated = last.Updated
		if changed := p != last; changed != updated.After(last.Updated) {
			t.Errorf("after %s: the report has changed: %t, but Updated is %s after %s", d, changed, updated, last.Updated)
		} else if changed {
			changes++
		}
		p.Updated = updated
		last = p
	}
	if changes != 10 {
		t.Errorf("%d reports, want 10", changes)
	}
}

func TestUnknown(t *testing.T) {
	for kind, s := range stores(t) {
		id := operation(t, s)
		if f, ok := s.(folder); ok { // what a path in an ID would find
			if err := os.WriteFile(string(f)+"/settings", []byte("2026-01-31T12:00:00Z"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := (backupAction{at(s, 0)}).Cancel(id, backup("backup-1")); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{
			"", "settings", "mover-", "mover-/../settings", "../" + id, "./" + id, id + "/", id + "0", id + ".cancelled", "mover-\x00",
			idPrefix + strings.Repeat("0", 2*idHash),
		} {
			m, want := at(s, 0), "operation ID "+id+" is invalid"
			if _, err := (backupAction{m}).Progress(id, backup("backup-1")); err == nil || err.Error() != want {
				t.Errorf("%s: Progress %q: %v", kind, id, err)
			}
			if err := (backupAction{m}).Cancel(id, backup("backup-1")); err == nil || err.Error() != want {
				t.Errorf("%s: Cancel %q: %v", kind, id, err)
			}
			if _, err := (restoreAction{m}).Progress(id, new(velerov1.Restore)); err == nil || err.Error() != want {
				t.Errorf("%s: Progress of a restore %q: %v", kind, id, err)
			}
			if err := (restoreAction{m}).Cancel(id, new(velerov1.Restore)); err == nil || err.Error() != want {
				t.Errorf("%s: Cancel of a restore %q: %v", kind, id, err)
			}
		}
	}
}

// What is kept stays, whoever is late with the same.
func TestPut(t *testing.T) {
	for kind, s := range stores(t) {
		for _, d := range []time.Duration{0, time.Second} {
			if err := s.Put("key", start().Add(d), metav1.OwnerReference{}); err != nil {
				t.Errorf("%s: Put after %s: %v", kind, d, err)
			}
		}
		if got, err := s.Get("key"); err != nil || got != start().UTC() {
			t.Errorf("%s: Get: %s, %v, want %s", kind, got, err, start().UTC())
		}
		if got, err := s.Get("other"); err != nil || !got.IsZero() {
			t.Errorf("%s: Get of what was not put: %s, %v", kind, got, err)
		}
	}
}
