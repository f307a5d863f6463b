package verdict

import (
	"testing"

	"github.com/velosim/velosim/sim/trace"
)

// TestRefusedUploads: what the object store has refused to take from the finalizer, it does not have.
func TestRefusedUploads(t *testing.T) {
	const (
		contents = "backup-1.tar.gz"
		metadata = "velero-backup.json"
	)
	put := func(file, err string) trace.Body {
		return trace.Body{Store: &trace.Store{Verb: "put", Key: "velosim/backups/backup-1/" + file, Error: err}}
	}
	uploads := func(bodies ...trace.Body) *script {
		s := waiting().progress(mover1, trace.Progress{Done: 10, Of: 10, Completed: true}).phases("Finalizing")
		for _, b := range bodies {
			s.add("", b)
		}
		return s.phases("Completed")
	}
	// behind is at rest with a stored copy that is as Velero has uploaded it in that phase.
	behind := func(s *script, phase string, completed int) trace.Trace {
		api := trace.Rest{Copy: "api", Attempted: 1, Completed: 1, Ended: true}
		store := trace.Rest{Copy: "store", Phase: phase, Attempted: 1, Completed: completed, Operations: []trace.Operation{storedAs("Completed")}}
		return s.rest(api).rest(store).settles()
	}
	for _, test := range []struct {
		name   string
		trace  trace.Trace
		result Result
	}{
		{"contents, and then not", uploads(put(contents, "full"), put(contents, "")).rests(1, 0).settles(), Pass},
		{"contents", uploads(put(contents, ""), put(contents, "full")).rests(1, 0).settles(), KnownDeviation},
		{"metadata", behind(uploads(put(metadata, "full")), "Finalizing", 1), KnownDeviation},
		{"metadata, and then not", behind(uploads(put(metadata, "full"), put(metadata, "")), "Finalizing", 1), Fail},
		{"metadata, but the copy is older than the finalizer", behind(uploads(put(metadata, "full")), "WaitingForPluginOperations", 1), Fail},
		{"metadata, but the copy counts otherwise", behind(uploads(put(metadata, "full")), "Finalizing", 0), Fail},
		{"contents, but the copy is behind", behind(uploads(put(contents, "full")), "Finalizing", 1), Fail},
		{"nothing", behind(uploads(), "Finalizing", 1), Fail},
		{
			"metadata, before the finalizer", behind(
				waiting().progress(mover1, trace.Progress{Completed: true}).add("", put(metadata, "full")).phases("Finalizing", "Completed"), "Finalizing", 1,
			), Fail,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := Judge(moving(nil), test.trace)
			if v.Result != test.result || v.Result == KnownDeviation && (len(v.Deviations) != 1 || v.Deviations[0] != finalUpload) {
				t.Errorf("%s %v %v, want %s", v.Result, v.Deviations, v.Findings, test.result)
			}
		})
	}
}

// TestForgottenOperations: Velero looks for the operations of a restore that the object store has refused, and goes on without.
func TestForgottenOperations(t *testing.T) {
	access := func(verb, err string) trace.Body {
		return trace.Body{Store: &trace.Store{Verb: verb, Key: "velosim/restores/restore-1/restore-restore-1-itemoperations.json.gz", Error: err}}
	}
	refused, looked := access("put", "full"), access("exists", "")
	for _, test := range []struct {
		name   string
		bodies []trace.Body
		stored []trace.Operation
		result Result
	}{
		{"there is no file", []trace.Body{refused, looked}, nil, KnownDeviation},
		{"there is a file", []trace.Body{refused, looked, access("get", "")}, nil, Fail},
		{"it could not look", []trace.Body{refused, access("exists", "away")}, nil, Fail},
		{"it did not look", []trace.Body{refused}, nil, Fail},
		{"one of the two is stored", []trace.Body{refused, looked}, []trace.Operation{{ID: "mover-2", Plugin: mover, Item: item, Phase: "New"}}, Fail},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := healthy().rests(1, 0).create("restore/restore-1").phases("InProgress").execute("mover-2").execute("mover-3").
				progress("mover-2", trace.Progress{}).progress("mover-3", trace.Progress{}).phases("WaitingForPluginOperations")
			for _, b := range test.bodies {
				s.add("", b)
			}
			tr := s.phases("Finalizing", "Completed").rest(trace.Rest{Copy: "api", Attempted: 2, Ended: true}).
				rest(trace.Rest{Copy: "store", Operations: test.stored}).settles()
			v := unpredicted(moving(withRestore), tr)
			if v.Result != test.result || v.Result == KnownDeviation && (len(v.Deviations) != 1 || v.Deviations[0] != missingOperations) {
				t.Errorf("%s %v %v, want %s", v.Result, v.Deviations, briefs(v), test.result)
			}
		})
	}
}
