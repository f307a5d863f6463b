package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

func parse(t testing.TB, text string) *scenario.Scenario {
	t.Helper()
	s, errs := scenario.Parse("s.yaml", []byte("apiVersion: velosim.io/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nexpect: {phase: Completed}\n"+text))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

func released(t testing.TB) phase.Rules {
	t.Helper()
	rules, err := phase.ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// short writes a path with a letter or two for each phase.
var short = strings.NewReplacer(" → ", " ", "Queued", "Q", "ReadyToStart", "R", "InProgress", "I",
	"WaitingForPluginOperationsPartiallyFailed", "Wp", "WaitingForPluginOperations", "W", "FinalizingPartiallyFailed", "Fp", "Finalizing", "F",
	"PartiallyFailed", "P", "Completed", "C")

// TestPredict compares the paths of the last object with those that a reader of sim/phase would expect.
func TestPredict(t *testing.T) {
	const mover = "- {name: example.io/mover, operation: {progress: [{at: 0s}, {at: 1h, completed: true}]}"
	for _, test := range []struct {
		name, scenario     string
		demanded, released []string
	}{
		{name: "no plugins", demanded: []string{"Q R I F C"}},
		{name: "an operation completes", scenario: "plugins:\n" + mover + "}", demanded: []string{"Q R I W F C"}},
		{
			name:     "an operation is over when Velero asks first",
			scenario: "plugins:\n- {name: example.io/mover, operation: {progress: [{at: 0s, completed: true}]}}",
			demanded: []string{"Q R I F C"},
		},
		{
			name:     "one that ends after some seconds may be",
			scenario: "plugins:\n- {name: example.io/mover, operation: {progress: [{at: 2s, completed: true}]}}",
			demanded: []string{"Q R I W F C", "Q R I F C"},
		},
		{
			name: "Execute hangs for an additional item of one that is backed up again, which the backup left out",
			scenario: "backup: {includedNamespaces: [app]}\nitems: [configmaps/app/a, configmaps/web/b]\nplugins:\n" +
				"- {name: example.io/a, execute: {hang: true, nth: 3}}\n" +
				"- {name: example.io/b, execute: {additionalItems: [configmaps/app/a], itemsToUpdate: [configmaps/web/b]}, operation: {progress: [{at: 0s}, {at: 1h, completed: true}]}}",
			demanded: []string{"Q R I W F C", "Q R I F C", "Q R I Wp Fp P", "Q R I Fp P"}, // nobody knows which items are left
			released: []string{"Q R I W F", "Q R I Wp Fp", "Q R I W F C", "Q R I F C", "Q R I Wp Fp P", "Q R I Fp P"},
		},
		{
			name:     "a plugin does not start for the run",
			scenario: "plugins:\n" + mover + ", start: {exit: true, nth: 2}}",
			demanded: []string{"Q R I Failed"},
		},
		{
			name:     "nor, once, for a poll",
			scenario: "plugins:\n" + mover + ", start: {exit: true, nth: 3, times: 1}}",
			demanded: []string{"Q R I W F C"}, released: []string{"Q R I W Fp P"},
		},
		{
			name:     "nor for any poll, nor the finalizer",
			scenario: "plugins:\n" + mover + ", start: {exit: true, nth: 3}}",
			demanded: []string{"Q R I W Fp P"}, released: []string{"Q R I W Fp", "Q R I W Fp P"},
		},
		{
			name:     "nor, once, for another of two polls",
			scenario: "items: [configmaps/app/a, configmaps/app/b]\nplugins:\n" + mover + ", start: {exit: true, nth: 3, times: 1}}",
			demanded: []string{"Q R I W F C", "Q R I W Wp Fp P", "Q R I W Fp P"},
		},
		{
			name:     "two operations fail about when another completes",
			scenario: "plugins:\n" + mover + "}\n- {name: example.io/other, operation: {progress: [{at: 1h1s, failed: full}]}}",
			demanded: []string{"Q R I W Wp Fp P", "Q R I W Fp P"},
		},
		{
			name:     "one fails long before another completes",
			scenario: "plugins:\n" + mover + "}\n- {name: example.io/other, operation: {progress: [{at: 1m, failed: full}]}}",
			demanded: []string{"Q R I W Wp Fp P"},
		},
		{
			name:     "and long after",
			scenario: "plugins:\n" + mover + "}\n- {name: example.io/other, operation: {progress: [{at: 2h, failed: full}]}}",
			demanded: []string{"Q R I W Fp P"},
		},
		{
			name:     "an operation ends just when it times out",
			scenario: "backup: {itemOperationTimeout: 1h}\nplugins:\n" + mover + "}",
			demanded: []string{"Q R I W F C", "Q R I W Fp P"},
		},
		{
			name:     "an operation times out in the first pass, as its Execute was slow elsewhere",
			scenario: "backup: {itemOperationTimeout: 1m}\nitems: [configmaps/a/a, configmaps/a/b]\nplugins:\n- {name: example.io/mover, execute: {delay: 2m}, operation: {}}",
			demanded: []string{"Q R I W Wp Fp P", "Q R I W Fp P", "Q R I Wp Fp P", "Q R I Fp P"},
		},
		{
			name:     "Progress errs three times",
			scenario: "plugins:\n" + mover + ", progress: {error: away, times: 3}}",
			demanded: []string{"Q R I W F C"},
			released: []string{"Q R I Fp P"},
		},
		{
			name:     "Progress errs four times",
			scenario: "plugins:\n" + mover + ", progress: {error: away, nth: 3, times: 4}}",
			demanded: []string{"Q R I W Fp P"},
		},
		{
			name:     "a plugin forgets its operations",
			scenario: "plugins:\n- {name: example.io/mover, operation: {forgets: true, progress: [{at: 1h, completed: true}]}}",
			demanded: []string{"Q R I W Fp P"},
		},
		{
			name:     "Execute fails for one of two items",
			scenario: "items: [configmaps/a/a, configmaps/a/b]\nplugins:\n" + mover + ", execute: {error: no, times: 1}}",
			demanded: []string{"Q R I Wp Fp P"},
		},
		{
			name:     "a plugin whose Execute fails keeps a later one from being called",
			scenario: "plugins:\n" + mover + "}\n- {name: example.io/broken, execute: {error: no}}",
			demanded: []string{"Q R I Fp P"},
		},
		{
			name:     "a plugin makes the item too large for the next one",
			scenario: "plugins:\n" + mover + ", execute: {tooLarge: true}}\n- {name: example.io/next, execute: {hang: true}}",
			demanded: []string{"Q R I Wp Fp P"},
		},
		{
			name:     "or may do so, for one of two items",
			scenario: "items: [configmaps/a/a, configmaps/a/b]\nplugins:\n- {name: example.io/a, execute: {error: no, times: 1, tooLarge: true}}\n" + mover + "}",
			demanded: []string{"Q R I Wp Fp P", "Q R I Fp P"},
		},
		{
			name:     "an item that is too large for no plugin is for the API server",
			scenario: "restore: {}\nplugins:\n" + mover + ", execute: {tooLarge: true}}",
			demanded: []string{"I Fp P"},
		},
		{
			name: "or for a plugin that restores it",
			scenario: "restore: {}\nplugins:\n" + mover + ", execute: {tooLarge: true}}\n" +
				"- {name: example.io/r, action: RestoreItemAction, operation: {progress: [{at: 1h, completed: true}]}}",
			demanded: []string{"I Fp P"},
		},
		{
			name:     "a plugin that restores an item makes it too large",
			scenario: "restore: {}\nplugins:\n- {name: example.io/r, action: RestoreItemAction, execute: {tooLarge: true}, operation: {progress: [{at: 1h, completed: true}]}}",
			demanded: []string{"I Wp Fp P"},
		},
		{
			name:     "Execute hangs",
			scenario: "plugins:\n" + mover + ", execute: {hang: true}}",
			demanded: []string{"Q R I Fp P"},
			released: []string{"Q R I"},
		},
		{
			name:     "it takes longer than it may",
			scenario: "plugins:\n" + mover + ", execute: {delay: 11m}}",
			demanded: []string{"Q R I Fp P"},
			released: []string{"Q R I W F C"},
		},
		{
			name:     "Execute hangs in the finalizer",
			scenario: "plugins:\n" + mover + ", execute: {hang: true, nth: 2, itemsToUpdate: [configmaps/app/settings]}}",
			demanded: []string{"Q R I W F C"},
			released: []string{"Q R I W F"},
		},
		{
			name:     "Cancel hangs",
			scenario: "backup: {itemOperationTimeout: 10m}\nplugins:\n" + mover + ", cancel: {hang: true}}",
			demanded: []string{"Q R I W Fp P"},
			released: []string{"Q R I W"},
		},
		{
			name:     "the server is killed at a call of the first pass",
			scenario: "plugins:\n" + mover + "}\nfaults:\n- {at: {call: {plugin: example.io/mover, method: Progress}}, do: {kill: {}}}",
			demanded: []string{"Q R I Failed"},
		},
		{
			name:     "and of a later one",
			scenario: "plugins:\n" + mover + "}\nfaults:\n- {at: {call: {plugin: example.io/mover, method: Progress}, nth: 2}, do: {kill: {}}}",
			demanded: []string{"Q R I W F C"},
		},
		{
			name:     "a fault that cannot strike",
			scenario: "plugins:\n" + mover + "}\nfaults:\n- {at: {call: {plugin: example.io/mover, method: Cancel}}, do: {kill: {}}}",
		},
		{
			name:     "the first upload fails",
			scenario: "plugins:\n" + mover + "}\nfaults:\n- {at: {store: {verb: put, key: backups/backup-1/backup-1.tar.gz}}, do: {fail: full}}",
			demanded: []string{"Q R I Failed"},
		},
		{
			name:     "a hang comes long before the timeout",
			scenario: "plugins:\n- {name: example.io/mover, operation: {}, progress: {hang: true, nth: 5}}",
			demanded: []string{"Q R I W Fp P"},
			released: []string{"Q R I W"},
		},
		{
			name:     "more calls than there are numbers are struck",
			scenario: "plugins:\n" + mover + ", execute: {error: no, times: 9223372036854775807}}",
			demanded: []string{"Q R I Fp P"},
		},
		{
			name:     "seven kinds of ends, and an error of Execute",
			scenario: "items: [configmaps/a/a, configmaps/a/b]\nplugins:\n- {name: example.io/a, operation: {}}\n- {name: example.io/b, operation: {}, cancel: {error: no}}\n- {name: example.io/c, operation: {unknown: true}}\n- {name: example.io/d, execute: {error: no}}",
			demanded: []string{"Q R I Wp Fp P"},
		},
		{
			name: "an item that fails fails the one that needs it",
			scenario: "items: [configmaps/app/a, secrets/app/b]\nplugins:\n- {name: example.io/a, resources: [secrets], execute: {additionalItems: [configmaps/app/a]}}\n" +
				"- {name: example.io/b, execute: {error: no}}\n- {name: example.io/c, resources: [secrets], operation: {progress: [{at: 1h, completed: true}]}}",
			demanded: []string{"Q R I W F C", "Q R I F C", "Q R I Wp Fp P", "Q R I Fp P"},
		},
		{
			name:     "operations time out one after another in one slow pass",
			scenario: "backup: {itemOperationTimeout: 1m}\nplugins:\n- {name: example.io/a, operation: {}, progress: {delay: 40s}}\n- {name: example.io/b, operation: {}, progress: {hang: true, nth: 2}}",
			demanded: []string{"Q R I W Wp Fp P", "Q R I W Fp P", "Q R I Wp Fp P", "Q R I Fp P"},
			released: []string{"Q R I W", "Q R I Wp", "Q R I Wp Fp P", "Q R I Fp P"},
		},
		{
			name:     "of two kills, either may come first",
			scenario: "plugins:\n" + mover + "}\nfaults:\n- {at: {phase: ReadyToStart, delay: 2h}, do: {kill: {}}}\n- {at: {call: {plugin: example.io/mover, method: Execute}}, do: {kill: {}}}",
			demanded: []string{"Q R Q R I Failed", "Q R I Failed"},
			released: []string{"Q R I Failed"},
		},
		{
			name: "a kill that is delayed for long strikes the restore",
			scenario: "restore: {}\nplugins:\n" + mover + "}\n- {name: example.io/r, action: RestoreItemAction, operation: {progress: [{at: 1h, completed: true}]}}\n" +
				"faults:\n- {at: {call: {plugin: example.io/mover, method: Execute}, delay: 90m}, do: {kill: {}}}",
			demanded: []string{"I W F C", "I Failed"},
		},
		{
			name:     "a backup fails before its items",
			scenario: "plugins:\n" + mover + ", execute: {hang: true}}\nfaults:\n- {at: {store: {verb: exists, key: backups/backup-1/velero-backup.json}}, do: {fail: denied}}",
			demanded: []string{"Q R I Fp P", "Q R I Failed"},
			released: []string{"Q R I", "Q R I Failed"},
		},
		{
			name:     "the log of a restore is refused",
			scenario: "restore: {}\nfaults:\n- {at: {store: {verb: put, key: restores/restore-1/restore-restore-1-logs.gz}}, do: {fail: denied}}",
			demanded: []string{"I Fp P"},
		},
		{
			name: "a restore of an item that could not be backed up",
			scenario: "restore: {}\nplugins:\n- {name: example.io/broken, execute: {error: no}}\n" +
				"- {name: example.io/mover, action: RestoreItemAction, operation: {}}",
			demanded: []string{"I F C"},
		},
		{
			name: "a restore of one of two items, and nobody knows which",
			scenario: "restore: {}\nitems: [configmaps/a/a, configmaps/a/b]\nplugins:\n- {name: example.io/broken, execute: {error: no, times: 1}}\n" +
				"- {name: example.io/mover, action: RestoreItemAction, execute: {error: no, nth: 2}, operation: {progress: [{at: 1h, completed: true}]}}",
			demanded: []string{"I W F C", "I F C", "I Wp Fp P"},
		},
		{
			name: "the operations of a restore are not stored",
			scenario: "restore: {}\nplugins:\n- {name: example.io/mover, action: RestoreItemAction, operation: {progress: [{at: 1h, completed: true}]}}\n" +
				"faults:\n- {at: {store: {verb: put, key: restores/restore-1/restore-restore-1-itemoperations.json.gz}}, do: {fail: full}}",
			demanded: []string{"I W F C"}, // v1.18 finds no operations to wait for, and ends alike
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.released == nil {
				test.released = test.demanded
			}
			s := parse(t, test.scenario)
			for _, reading := range []struct {
				rules phase.Rules
				want  []string
			}{{phase.Demanded(), test.demanded}, {released(t), test.released}} {
				got := model.Predict(reading.rules, s)
				if unknown := got[len(got)-1].Unknown; unknown != "" {
					t.Fatal(unknown)
				}
				var paths []string
				for _, path := range got[len(got)-1].Paths {
					paths = append(paths, short.Replace(path.String()))
				}
				if diff := cmp.Diff(reading.want, paths); diff != "" {
					t.Errorf("%s (-want +got):\n%s", reading.rules.Name, diff)
				}
			}
		})
	}
}

// TestKilledAtAWriteOfAPlugin: a plugin may write what something is expected of whenever it is called, so that a kill then may come to anything.
func TestKilledAtAWriteOfAPlugin(t *testing.T) {
	s, errs := scenario.Parse("s.yaml", []byte(`apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: s}
plugins: [{name: example.io/quiesce, action: PreBackupAction}, {name: example.io/quiesce, action: PostBackupAction}]
faults: [{at: {write: {object: configmaps/app/settings, verb: update}}, do: {kill: {}}}]
expect: {phase: Completed, manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {namespace: app, name: settings}, data: {key: value}}]}
`))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	got := model.Predict(phase.Demanded(), s)[0].Ends()
	slices.Sort(got)
	if diff := cmp.Diff([]phase.Phase{phase.Completed, phase.Failed}, got); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
}

// TestPredictionsOfTheCatalogue: each scenario expects one of the ends that are predicted, in both readings, unless its faults are beyond
// the model.
func TestPredictionsOfTheCatalogue(t *testing.T) {
	for _, name := range scenarios.Names() {
		b, err := scenarios.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		s, errs := scenario.Parse(name, b)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		expected := map[string]scenario.Outcome{"demanded": s.Expect.Outcome, "v1.18": s.Expect.Outcome}
		if d := s.Expect.Deviation; d != nil {
			expected["v1.18"] = d.Outcome
			if !phase.Named(d.Rule).Machine() { // what is demanded then, the machine does not know
				expected["demanded"] = d.Outcome
			}
		}
		for _, rules := range []phase.Rules{phase.Demanded(), released(t)} {
			ps := model.Predict(rules, s)
			p := ps[slices.Index(s.Objects(), s.Object())]
			var paths [][]string
			for _, path := range p.Paths {
				paths = append(paths, strings.Split(path.String(), " → "))
			}
			if strings.HasPrefix(p.Unknown, "the model does not explore") {
				continue
			}
			want := expected[rules.Name]
			removed := slices.ContainsFunc(s.Faults, func(f scenario.Fault) bool { return f.Do.Remove == p.Object })
			if (removed || strings.HasPrefix(p.Object, "restore/")) && want.Phase == scenario.Deleted { // whatever its phase then
				continue
			}
			want.Phase = strings.Replace(want.Phase, scenario.Deleted, phase.Deleting.String(), 1)
			if p.Unknown != "" {
				t.Errorf("%s, %s: %s", name, rules.Name, p.Unknown)
			}
			if want.Phase != "" && !slices.ContainsFunc(paths, func(path []string) bool {
				return path[len(path)-1] == want.Phase && (want.Path == nil || slices.Equal(path, want.Path))
			}) {
				t.Errorf("%s, %s: %v are predicted, and %s expected", name, rules.Name, paths, want.Phase)
			}
		}
	}
}

// TestServerDoesNotStart: nothing is created then.
func TestServerDoesNotStart(t *testing.T) {
	s := parse(t, "restore: {}\nplugins: [{name: example.io/mover}]\n")
	s.Plugins[0].Start.Protocol = 3
	want := []model.Prediction{{Object: "backup/backup-1"}, {Object: "restore/restore-1"}}
	if diff := cmp.Diff(want, model.Predict(phase.Demanded(), s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnpredictable(t *testing.T) {
	var many strings.Builder
	many.WriteString("plugins:\n")
	for i := range 20 {
		fmt.Fprintf(&many, "- {name: example.io/p%d, operation: {progress: [{at: %dm, failed: full}]}}\n", i, i)
	}
	p := model.Predict(phase.Demanded(), parse(t, many.String()))[0]
	if p.Unknown == "" || p.Paths != nil {
		t.Errorf("predicted %+v, want none", p)
	}
}

func BenchmarkPredict(b *testing.B) {
	s := parse(b, `
plugins:
- {name: example.io/a, operation: {progress: [{at: 1h, completed: true}]}}
- {name: example.io/b, operation: {progress: [{at: 1h, failed: full}]}}
- {name: example.io/c, operation: {}, cancel: {hang: true}}
items: [configmaps/app/a, configmaps/app/b, configmaps/app/c]
faults:
- {at: {phase: WaitingForPluginOperations, delay: 1h}, do: {kill: {}}}
- {at: {phase: FinalizingPartiallyFailed}, do: {kill: {}}}
`)
	for b.Loop() {
		if p := model.Predict(released(b), s)[0]; p.Unknown != "" {
			b.Fatal(p.Unknown)
		}
	}
}
