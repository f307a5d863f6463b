package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
)

// TestPredictLocation has the location change, and a torn upload.
func TestPredictLocation(t *testing.T) {
	const mover = "plugins:\n- {name: example.io/mover, operation: {progress: [{at: 0s}, {at: 1h, completed: true}]}}\nfaults:\n"
	const restores = "restore: {}\nplugins:\n- {name: example.io/mover, action: RestoreItemAction, operation: {progress: [{at: 0s}, {at: 1h, completed: true}]}}\nfaults:\n"
	for _, test := range []struct {
		name, scenario     string
		demanded, released []string // as demanded, if there are none
	}{
		{
			name:     "a backup whose location is read-only when its operations are polled ends, if they have not ended before",
			scenario: mover + "- {at: {phase: WaitingForPluginOperations}, do: {location: ReadOnly}}",
			demanded: []string{"Q R I W F C", "Q R I W P"},
		},
		{
			name:     "one whose location is removed ends when it is finalized, or stays there",
			scenario: mover + "- {at: {phase: WaitingForPluginOperations}, do: {location: Removed}}",
			demanded: []string{"Q R I W F C", "Q R I W F P", "Q R I W P"}, released: []string{"Q R I W F", "Q R I W F C", "Q R I W P"},
		},
		{
			name:     "it is too late to be rejected when it has begun, and not before",
			scenario: mover + "- {at: {phase: Queued}, do: {location: ReadOnly}}",
			demanded: []string{"Q R FailedValidation", "Q R I W F C", "Q R I W P"},
		},
		{
			name:     "a location that is written to again does no harm",
			scenario: mover + "- {at: {phase: Completed}, do: {location: ReadOnly}}\n- {at: {phase: Completed, delay: 1m}, do: {location: ReadWrite}}",
			demanded: []string{"Q R I W F C"},
		},
		{
			name:     "a restore reads from a location that is read-only",
			scenario: restores + "- {at: {phase: WaitingForPluginOperations}, do: {location: ReadOnly}}",
			demanded: []string{"I W F C"},
		},
		{
			name:     "and is finalized with errors without one",
			scenario: restores + "- {at: {phase: WaitingForPluginOperations}, do: {location: Removed}}",
			demanded: []string{"I W F C", "I W F P", "I W Fp P"},
		},
		{
			name:     "a plugin whose process ends in Progress has erred",
			scenario: mover + "- {at: {call: {plugin: example.io/mover, method: Progress}, nth: 2}, do: {crash: {}}}",
			demanded: []string{"Q R I W F C"},
			released: []string{"Q R I W Fp P"},
		},
		{
			name:     "and in Execute",
			scenario: mover + "- {at: {call: {plugin: example.io/mover, method: Execute}, after: true}, do: {crash: {}}}",
			demanded: []string{"Q R I Fp P"},
		},
		{
			name:     "contents that are torn are lost to the finalizer",
			scenario: mover + "- {at: {store: {verb: put, key: backups/backup-1/backup-1.tar.gz}}, do: {tear: {}}}",
			demanded: []string{"Q R I W F C", "Q R I W F P"}, // the put may be the finalizer's own
			released: []string{"Q R I W F", "Q R I W F C"},
		},
		{
			name:     "a restore whose log is stored in half has an error",
			scenario: "restore: {}\nfaults:\n- {at: {store: {verb: put, key: restores/restore-1/restore-restore-1-logs.gz}}, do: {tear: {error: no}}}",
			demanded: []string{"I Fp P"},
		},
		{
			name:     "and one whose store ends with the put of its log",
			scenario: "restore: {}\nfaults:\n- {at: {store: {verb: put, key: restores/restore-1/restore-restore-1-logs.gz}, after: true}, do: {crash: {}}}",
			demanded: []string{"I Fp P"},
		},
		{
			name:     "a backup that fails at once meets the fault of what it stores then",
			scenario: "plugins:\n- {name: example.io/mover, appliesTo: {error: no}}\nfaults:\n- {at: {store: {verb: put, key: backups/backup-1/velero-backup.json}}, do: {fail: no}}",
			demanded: []string{"Q R I Failed"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := parse(t, test.scenario)
			for _, reading := range []struct {
				rules phase.Rules
				want  []string
			}{{phase.Demanded(), test.demanded}, {released(t), either(test.released, test.demanded)}} {
				all := model.Predict(reading.rules, s)
				p := all[len(all)-1]
				var got []string
				for _, path := range p.Paths {
					got = append(got, short.Replace(path.String()))
				}
				slices.Sort(got)
				if diff := cmp.Diff(reading.want, got); diff != "" || p.Unknown != "" {
					t.Errorf("%s (-want +got):\n%s%s", reading.rules.Name, diff, p.Unknown)
				}
			}
		})
	}
}

func either(a, b []string) []string {
	if a == nil {
		return b
	}
	return a
}

// TestPredictGivesUp says of which faults nothing is predicted.
func TestPredictGivesUp(t *testing.T) {
	const mover = "plugins:\n- {name: example.io/mover, operation: {}}\nfaults:\n- "
	for text, want := range map[string]string{
		"store: {immutable: true}":                            "refuses to overwrite",
		mover + "{at: {phase: InProgress}, do: {outage: 1m}}": "outage",
		mover + "{at: {store: {verb: put, key: backups/backup-1/velero-backup.json}}, do: {tear: {}}}":  "torn",
		mover + "{at: {store: {verb: put, key: backups/backup-1/velero-backup.json}}, do: {hang: {}}}":  "hang",
		mover + "{at: {call: {plugin: example.io/mover, method: Progress}}, do: {crash: {}}, times: 2}": "end by themselves",
		"restore: {}\nplugins:\n- {name: example.io/a}\n- {name: example.io/a, action: RestoreItemAction}\nfaults:\n" +
			"- {at: {call: {plugin: example.io/a, method: Execute}}, do: {crash: {}}}": "end by themselves",
		mover + "{at: {store: {verb: put, key: backups/backup-1/velero-backup.json}}, do: {crash: {}}}":               "",
		mover + "{at: {store: {verb: put, key: backups/backup-1/velero-backup.json}}, do: {tear: {error: no space}}}": "",
	} {
		p := model.Predict(released(t), parse(t, text))[0]
		if known := p.Unknown == ""; known != (want == "") || !strings.Contains(p.Unknown, want) {
			t.Errorf("%s\n%q, want %q", text, p.Unknown, want)
		}
	}
}
