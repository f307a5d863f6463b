package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
)

// TestPredictRefusedWrites: what comes of writes that the API server refuses, or whose replies are lost.
func TestPredictRefusedWrites(t *testing.T) {
	const (
		fails    = "plugins: [{name: example.io/mover, operation: {progress: [{at: 0s}, {at: 1h, failed: full}]}}]\n"
		restored = "restore: {}\n"
	)
	for name, test := range map[string]struct {
		scenario           string
		demanded, released []string
	}{
		"the patch that ends the run, once":            {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Conflict}}]", []string{"Q R I F C"}, nil},
		"seven times, which are all that Velero tries": {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Timeout}, times: 7}]", []string{"Q R I F C"}, []string{"Q R I"}},
		"six times":                          {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Timeout}, times: 6}]", []string{"Q R I F C"}, nil},
		"for half a minute":                  {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Timeout}, for: 30s}]", []string{"Q R I F C"}, nil},
		"for 41 s, which may be long enough": {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Timeout}, for: 41s}]", []string{"Q R I F C"}, []string{"Q R I", "Q R I F C"}},
		"for two minutes":                    {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Timeout}, for: 2m}]", []string{"Q R I F C"}, []string{"Q R I"}},
		"for two minutes, by a server that gives up earlier": {"server: {resourceTimeout: 20s}\nfaults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Timeout}, for: 5s}]", []string{"Q R I F C"}, []string{"Q R I"}},
		"ten times, as client-go hides":                      {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: TooManyRequests}, times: 10}]", []string{"Q R I F C"}, nil},
		"a restore's":                                        {restored + "faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {refuse: Timeout}, for: 2m}]", []string{"I F C"}, []string{"I"}},
		"the final patch, for an hour":                       {"faults: [{at: {write: {phase: Completed}}, do: {refuse: Timeout}, for: 1h}]", []string{"Q R I F C"}, nil},
		"the patch that would tell of a failure":             {fails + "faults: [{at: {write: {from: WaitingForPluginOperations, phase: FinalizingPartiallyFailed}}, do: {refuse: Timeout}}]", []string{"Q R I W Fp P"}, []string{"Q R I W F C"}},
		"its reply lost":                                     {fails + "faults: [{at: {write: {phase: FinalizingPartiallyFailed}}, do: {loseReply: true}}]", []string{"Q R I W Fp P"}, nil},
		"the patch that marks at the start": {
			"faults: [{at: {phase: InProgress}, do: {kill: {}}}, {at: {write: {from: InProgress, phase: Failed}}, do: {refuse: Timeout}}]",
			[]string{"Q R I Failed"},
			[]string{"Q R I", "Q R I Failed"},
		},
		"the hooks' counts":                                  {restored + "faults: [{at: {write: {from: Finalizing}}, do: {refuse: Timeout}}]", []string{"I F C"}, []string{"I F P"}},
		"their reply lost":                                   {restored + "faults: [{at: {write: {from: Finalizing}}, do: {loseReply: true}}]", []string{"I F C"}, []string{"I F P"}},
		"the hooks' counts, as client-go hides":              {restored + "faults: [{at: {write: {from: Finalizing}}, do: {refuse: TooManyRequests}}]", []string{"I F C"}, nil},
		"what is patched after them":                         {restored + "faults: [{at: {write: {from: Finalizing}, nth: 2}, do: {refuse: Timeout}}]", []string{"I F C"}, []string{"I F C", "I F P"}},
		"any patch of a restore":                             {restored + "faults: [{at: {write: {object: restore/restore-1}}, do: {refuse: Timeout}}]", []string{"I F C"}, []string{"I F C", "I F P"}},
		"a backup's finalizer patches its end alone":         {"faults: [{at: {write: {from: Finalizing}}, do: {refuse: Timeout}}]", []string{"Q R I F C"}, nil},
		"the creation of an item":                            {restored + "faults: [{at: {write: {object: configmaps/app/settings}}, do: {refuse: Forbidden}}]", []string{"I Fp P"}, nil},
		"its reply":                                          {restored + "faults: [{at: {write: {object: configmaps/app/settings}}, do: {loseReply: true}}]", []string{"I F C", "I Fp P"}, nil},
		"the creation, once, as client-go hides":             {restored + "faults: [{at: {write: {object: configmaps/app/settings}}, do: {refuse: TooManyRequests}}]", []string{"I F C"}, nil},
		"a kill before the patch that ends the run":          {"faults: [{at: {write: {from: InProgress, phase: Finalizing}}, do: {kill: {}}}]", []string{"Q R I F C", "Q R I Failed"}, nil},
		"a kill after the one that brings the run to an end": {"faults: [{at: {write: {phase: Finalizing}, after: true}, do: {kill: {}}}]", []string{"Q R I F C"}, nil},
		"latency": {"faults: [{at: {write: {phase: Finalizing}}, do: {latency: 1m}}]", []string{"Q R I F C"}, nil},
	} {
		s := parse(t, test.scenario)
		if test.released == nil {
			test.released = test.demanded
		}
		for reading, want := range map[string][]string{"demanded": test.demanded, "released": test.released} {
			rules := phase.Demanded()
			if reading == "released" {
				rules = released(t)
			}
			all := model.Predict(rules, s)
			var got []string
			for _, p := range all[len(all)-1].Paths {
				got = append(got, short.Replace(p.String()))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, reading, diff)
			}
		}
	}
}
