package phase

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readings are all that the tests go through.
func readings(t testing.TB) []Rules {
	t.Helper()
	release, err := ForRelease("1.18.3")
	if err != nil {
		t.Fatal(err)
	}
	return []Rules{Demanded(), release}
}

// Short names for the tables below.
const (
	waiting             = WaitingForPluginOperations
	waitingPartially    = WaitingForPluginOperationsPartiallyFailed
	finalizingPartially = FinalizingPartiallyFailed
)

// legalEdge is one way for a phase to change.
type legalEdge struct {
	from, to Phase
	by       Input
	readings string // that have it
}

const (
	every    = "demanded v1.14 v1.18"
	queued   = "demanded v1.18" // that have a queue
	releases = "v1.14 v1.18"
)

// backupEdges and restoreEdges are the legal changes of phase, written down by hand from Velero's source (every assignment to Status.Phase
// in pkg/controller and pkg/cmd/server) and from what the rules demand, and not from Step.
func backupEdges() []legalEdge {
	edges := []legalEdge{
		{New, Queued, Enqueued, queued},
		{Queued, ReadyToStart, Dequeued, queued},
		{Queued, ReadyToStart, DequeuedUnwatched, "v1.18"},
		{ReadyToStart, Queued, Requeued, "demanded"},
		{ReadyToStart, InProgress, Validated, queued},
		{ReadyToStart, InProgress, BeginUnseen, queued},
		{ReadyToStart, FailedValidation, Rejected, queued},
		{New, InProgress, Validated, "v1.14"},
		{New, InProgress, BeginUnseen, "v1.14"},
		{New, FailedValidation, Rejected, "v1.14"},
		{InProgress, waiting, PassEnded, every},
		{InProgress, waitingPartially, PassEnded, every},
		{InProgress, Finalizing, PassEnded, every},
		{InProgress, finalizingPartially, PassEnded, every},
		{InProgress, Failed, RunFailed, every},
		{InProgress, Failed, ServerStarted, every},
		{waiting, waitingPartially, PassEnded, every},
		{waiting, Finalizing, PassEnded, every},
		{waiting, Finalizing, OperationsMissing, releases},
		{waiting, finalizingPartially, PassEnded, every},
		{waiting, finalizingPartially, OperationsMissing, "demanded"},
		{waiting, PartiallyFailed, LookupFailed, every},
		{waitingPartially, finalizingPartially, PassEnded, every},
		{waitingPartially, finalizingPartially, OperationsMissing, every},
		{waitingPartially, PartiallyFailed, LookupFailed, every},
		{Finalizing, Completed, FinalizerSucceeded, every},
		{Finalizing, Completed, FinalUploadFailed, releases},
		{Finalizing, PartiallyFailed, FinalizerFailed, "demanded"},
		{finalizingPartially, PartiallyFailed, FinalizerSucceeded, every},
		{finalizingPartially, PartiallyFailed, FinalUploadFailed, releases},
		{finalizingPartially, PartiallyFailed, FinalizerFailed, "demanded"},
		// The start that failed to mark it has emptied the tracker.
		{InProgress, Deleting, DeletionRequested, releases},
		{Queued, Deleting, DeletionRequested, queued},
		{ReadyToStart, Deleting, DeletionRequested, queued},
		{Queued, Deleting, DeletionOvertaken, "v1.18"},
		{ReadyToStart, Deleting, DeletionOvertaken, "v1.18"},
	}
	for _, from := range []Phase{New, waiting, waitingPartially, Finalizing, finalizingPartially, Completed, PartiallyFailed, Failed, FailedValidation} {
		edges = append(edges, legalEdge{from, Deleting, DeletionRequested, every})
	}
	for _, from := range []Phase{New, InProgress, waiting, waitingPartially, Finalizing, finalizingPartially} {
		edges = append(edges, legalEdge{from, Deleting, DeletionOvertaken, releases})
	}
	for _, e := range slices.Clone(edges) { // what had begun goes on over Deleting
		if e.to != Deleting && e.by != ServerStarted && e.readings != "demanded" {
			edges = append(edges, legalEdge{Deleting, e.to, e.by, strings.ReplaceAll(e.readings, "demanded", "")})
		}
	}
	return append(edges, repeatedPasses()...)
}

// repeatedPasses are those over operations that have ended, of an object that is taken for one that still waits, and patches that are sent again.
func repeatedPasses() []legalEdge {
	return []legalEdge{
		{waitingPartially, Finalizing, PassRepeated, releases},
		{finalizingPartially, Finalizing, PassRepeated, releases},
		{Completed, Finalizing, PassRepeated, releases},
		{PartiallyFailed, Finalizing, PassRepeated, releases},
		{PartiallyFailed, finalizingPartially, FailedPassRepeated, releases},
		{Completed, Finalizing, RunPatchRepeated, releases},
		{PartiallyFailed, finalizingPartially, RunPatchRepeated, releases},
	}
}

func restoreEdges() []legalEdge {
	edges := []legalEdge{
		{PartiallyFailed, Completed, FinalizerRepeated, releases},
		{Completed, PartiallyFailed, FinalizerRepeated, releases},
		{New, InProgress, Validated, every},
		{New, InProgress, BeginUnseen, every},
		{New, InProgress, BackupUnfinished, releases},
		{New, FailedValidation, Rejected, every},
		{New, FailedValidation, BackupUnfinished, "demanded"},
		{InProgress, Failed, RunFailed, every},
		{InProgress, Failed, ServerStarted, every},
		{waiting, waitingPartially, PassEnded, every},
		{waiting, Finalizing, PassEnded, every},
		{waiting, Finalizing, OperationsMissing, releases},
		{waiting, finalizingPartially, PassEnded, every},
		{waiting, finalizingPartially, LookupFailed, every},
		{waiting, finalizingPartially, OperationsMissing, "demanded"},
		{waitingPartially, finalizingPartially, PassEnded, every},
		{waitingPartially, finalizingPartially, LookupFailed, every},
		{waitingPartially, finalizingPartially, OperationsMissing, every},
		{Finalizing, Completed, FinalizerSucceeded, every},
		{Finalizing, PartiallyFailed, FinalizerFailed, every},
		{Finalizing, PartiallyFailed, HookStatusLost, releases},
		{Finalizing, PartiallyFailed, BackupNotFound, every},
		{finalizingPartially, PartiallyFailed, FinalizerSucceeded, every},
		{finalizingPartially, PartiallyFailed, FinalizerFailed, every},
		{finalizingPartially, PartiallyFailed, HookStatusLost, releases},
		{finalizingPartially, PartiallyFailed, BackupNotFound, every},
	}
	for _, to := range []Phase{waiting, waitingPartially, Finalizing, finalizingPartially} {
		edges = append(edges, legalEdge{InProgress, to, PassEnded, every}, legalEdge{InProgress, to, RunUploadFailed, releases})
	}
	for _, from := range []Phase{waiting, waitingPartially, Finalizing, finalizingPartially, Completed, PartiallyFailed, Failed, FailedValidation} {
		edges = append(edges, legalEdge{from, InProgress, RunRepeated, releases})
	}
	return append(edges, repeatedPasses()...)
}

func TestLegal(t *testing.T) {
	old, err := ForRelease("1.14.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, rules := range append(readings(t), old) {
		for kind, edges := range map[Kind][]legalEdge{Backup: backupEdges(), Restore: restoreEdges()} {
			want := map[Edge][]Input{}
			for _, e := range edges {
				if slices.Contains(strings.Fields(e.readings), rules.Name) {
					want[Edge{e.from, e.to}] = append(want[Edge{e.from, e.to}], e.by)
				}
			}
			for _, by := range want {
				slices.Sort(by)
			}
			for edge, by := range want {
				want[edge] = slices.Compact(by)
			}
			if diff := cmp.Diff(want, rules.Legal(kind)); diff != "" {
				t.Errorf("%s %s: legal edges (-want +got):\n%s", rules.Name, kind, diff)
			}
		}
	}
}

// TestLegalNeedsNoMoreOperations explores further than Legal does.
func TestLegalNeedsNoMoreOperations(t *testing.T) {
	for _, rules := range readings(t) {
		for _, kind := range []Kind{Backup, Restore} {
			legal := rules.Legal(kind)
			rules.explore(Initial(kind), legalOperations+2, func(before State, in Input, after State, _ Effects) {
				if edge := (Edge{before.Phase, after.Phase}); edge.From != edge.To && legal[edge] == nil {
					t.Fatalf("%s %s: Legal lacks %s (%s)", rules.Name, kind, edge, in)
				}
			})
		}
	}
}

// TestGuideListsTheEdges reads the tables in doc.go, which promise to be complete.
func TestGuideListsTheEdges(t *testing.T) {
	guide, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	got := map[Kind]map[string]bool{Backup: {}, Restore: {}}
	kind := Backup
	for line := range strings.Lines(string(guide)) {
		if strings.HasPrefix(line, "// # Edges of a restore") {
			kind = Restore
		}
		if strings.HasPrefix(line, "// # Pre- and post-actions") { // whose edges are another table: see TestLegalWithActions
			break
		}
		edge, ok := strings.CutPrefix(line, "//\t")
		from, rest, isEdge := strings.Cut(edge, " → ")
		if !ok || !isEdge {
			continue
		}
		to := strings.Fields(rest)[0]
		if from == "any phase but InProgress and Deleting" {
			for p := range phases {
				if p.of(kind) && p != FailedPreBackupActions && p != InProgress && p != Deleting {
					got[kind][fmt.Sprintf("%s → %s", p, to)] = true
				}
			}
			continue
		}
		got[kind][from+" → "+to] = true
	}
	for kind, got := range got {
		want := map[string]bool{}
		for edge := range Demanded().Legal(kind) { // a superset of the release's: see TestLegal
			want[edge.String()] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("edges of a %s in doc.go (-machine +guide):\n%s", kind, diff)
		}
	}
}

func BenchmarkLegal(b *testing.B) {
	rules := Demanded()
	for b.Loop() {
		rules.Legal(Backup)
	}
}
