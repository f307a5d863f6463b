package virtual_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// TestStoreFaults shows what a trace says of what strikes the object store, the location and the processes of plugins.
func TestStoreFaults(t *testing.T) {
	const contents = "backups/backup-1/backup-1.tar.gz"
	process := func(e trace.Event) string {
		if e.Process != nil && e.Process.Name == "example.io/mover" {
			return e.Process.State
		}
		return ""
	}
	for _, test := range []struct {
		name, fault, phase string
		tell               func(trace.Event) string // what is compared; empty: nothing
		want               []string
	}{
		{
			name:  "an outage fails every access, and Velero takes the location for unavailable until it is over",
			fault: "{at: {phase: WaitingForPluginOperations, delay: 10m}, do: {outage: 20m}}", phase: "Completed",
			tell: func(e trace.Event) string {
				if e.Phase != nil && e.Object == "backupstoragelocation/default" {
					return e.Phase.To
				}
				return ""
			},
			want: []string{"Available", "Unavailable", "Available"},
		},
		{
			name:  "a torn put stores half",
			fault: "{at: {store: {verb: put, key: backups/backup-1/velero-backup.json}}, do: {tear: {error: reset}}}", phase: "Failed",
			tell: func(e trace.Event) string {
				if e.Store != nil && strings.HasSuffix(e.Store.Key, "/velero-backup.json") && e.Store.Verb == "put" {
					return fmt.Sprint(e.Store.Size > 500 && e.Store.Size < 1000, " ", e.Store.Error) // of about 1,500 bytes
				}
				return ""
			},
			want: []string{"true reset"},
		},
		{
			name:  "a plugin's process that ends is started again at the next call",
			fault: "{at: {call: {plugin: example.io/mover, method: AppliesTo}}, do: {crash: {}}}", phase: "Failed",
			tell: process, want: []string{"started", "killed"},
		},
		{
			name:  "within a run, too",
			fault: "{at: {call: {plugin: example.io/mover, method: Execute}, after: true}, do: {crash: {}}}", phase: "PartiallyFailed",
			tell: process, want: []string{"started", "killed"},
		},
		{
			name:  "a reply of the object store that is lost has had its effect",
			fault: "{at: {store: {verb: put, key: " + contents + "}, after: true}, do: {crash: {}}}", phase: "Failed",
			tell: func(e trace.Event) string {
				if e.Store != nil && strings.HasSuffix(e.Store.Key, contents) {
					return e.Store.Verb + e.Store.Error
				}
				return ""
			},
			want: []string{"put"},
		},
		{
			name:  "a location that is removed is gone",
			fault: "{at: {phase: WaitingForPluginOperations}, do: {location: Removed}}", phase: "PartiallyFailed",
			tell: func(e trace.Event) string {
				if e.Deleted != nil {
					return e.Object
				}
				return ""
			},
			want: []string{"backupstoragelocation/default"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, "test.yaml", scenarioOf(t, mover+"\nfaults: ["+test.fault+"]", test.phase))
			tr := run(t, s, 1)
			var got []string
			for _, e := range tr.Events {
				if told := test.tell(e); told != "" {
					got = append(got, told)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			last := slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Rest != nil })
			if last < 0 || tr.Events[last].Rest.Phase != test.phase {
				t.Errorf("it does not end %s", test.phase)
			}
			if a, b := ndjson(t, tr), ndjson(t, run(t, s, 1)); a != b {
				t.Error("a second run with the same seed has another trace")
			}
		})
	}
}
