package phase

import (
	"fmt"
	"os"
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

// backupEdges and restoreEdges are the legal changes of phase in Velero 1.18.3, written down from its source by hand.
func backupEdges() map[Edge][]Input {
	edges := map[Edge][]Input{
		{New, Queued}:                           {Enqueued},
		{Queued, ReadyToStart}:                  {Dequeued},
		{ReadyToStart, InProgress}:              {Validated},
		{ReadyToStart, FailedValidation}:        {Rejected},
		{InProgress, waiting}:                   {PassEnded},
		{InProgress, waitingPartially}:          {PassEnded},
		{InProgress, Finalizing}:                {PassEnded},
		{InProgress, finalizingPartially}:       {PassEnded},
		{InProgress, Failed}:                    {RunFailed, ServerStarted},
		{waiting, waitingPartially}:             {PassEnded},
		{waiting, Finalizing}:                   {PassEnded},
		{waiting, finalizingPartially}:          {PassEnded},
		{waiting, PartiallyFailed}:              {LookupFailed},
		{waitingPartially, finalizingPartially}: {PassEnded, OperationsMissing},
		{waitingPartially, PartiallyFailed}:     {LookupFailed},
		{Finalizing, Completed}:                 {FinalizerSucceeded},
		{finalizingPartially, PartiallyFailed}:  {FinalizerSucceeded},
	}
	for from := range phases {
		if from != InProgress && from != Deleting {
			edges[Edge{from, Deleting}] = []Input{DeletionRequested}
		}
	}
	return edges
}

func restoreEdges() map[Edge][]Input {
	return map[Edge][]Input{
		{New, InProgress}:                       {Validated},
		{New, FailedValidation}:                 {Rejected},
		{InProgress, waiting}:                   {PassEnded},
		{InProgress, waitingPartially}:          {PassEnded},
		{InProgress, Finalizing}:                {PassEnded},
		{InProgress, finalizingPartially}:       {PassEnded},
		{InProgress, Failed}:                    {RunFailed, ServerStarted},
		{waiting, waitingPartially}:             {PassEnded},
		{waiting, Finalizing}:                   {PassEnded},
		{waiting, finalizingPartially}:          {PassEnded, LookupFailed},
		{waitingPartially, finalizingPartially}: {PassEnded, LookupFailed, OperationsMissing},
		{Finalizing, Completed}:                 {FinalizerSucceeded},
		{Finalizing, PartiallyFailed}:           {FinalizerFailed, BackupNotFound},
		{finalizingPartially, PartiallyFailed}:  {FinalizerSucceeded, FinalizerFailed, BackupNotFound},
	}
}

func TestLegal(t *testing.T) {
	demandedBackup, demandedRestore, releasedRestore := backupEdges(), restoreEdges(), restoreEdges()
	demandedBackup[Edge{waiting, finalizingPartially}] = []Input{PassEnded, OperationsMissing}
	demandedRestore[Edge{waiting, finalizingPartially}] = []Input{PassEnded, LookupFailed, OperationsMissing}
	releasedRestore[Edge{waiting, Finalizing}] = []Input{PassEnded, OperationsMissing}
	demandedBackup[Edge{ReadyToStart, Queued}] = []Input{Requeued}
	demandedBackup[Edge{Finalizing, PartiallyFailed}] = []Input{FinalizerFailed}
	demandedBackup[Edge{finalizingPartially, PartiallyFailed}] = []Input{FinalizerSucceeded, FinalizerFailed}
	for _, to := range []Phase{waiting, waitingPartially, Finalizing, finalizingPartially} {
		releasedRestore[Edge{InProgress, to}] = []Input{PassEnded, RunUploadFailed}
	}
	releasedBackup := backupEdges()
	releasedBackup[Edge{Finalizing, Completed}] = []Input{FinalizerSucceeded, FinalUploadFailed}
	releasedBackup[Edge{finalizingPartially, PartiallyFailed}] = []Input{FinalizerSucceeded, FinalUploadFailed}
	releasedBackup[Edge{waiting, Finalizing}] = []Input{PassEnded, OperationsMissing}
	releasedBackup[Edge{InProgress, Deleting}] = []Input{DeletionRequested} // of one that a start failed to mark
	old, err := ForRelease("1.14.0")
	if err != nil {
		t.Fatal(err)
	}
	unqueued := map[Edge][]Input{{New, InProgress}: {Validated}, {New, FailedValidation}: {Rejected}}
	for edge, inputs := range releasedBackup {
		if edge.From != New && edge.From != Queued && edge.From != ReadyToStart && edge.To != Queued || edge == (Edge{New, Deleting}) {
			unqueued[edge] = inputs
		}
	}
	if diff := cmp.Diff(unqueued, old.Legal(Backup)); diff != "" {
		t.Errorf("edges without a queue (-want +got):\n%s", diff)
	}
	tests := []struct {
		reading string
		kind    Kind
		want    map[Edge][]Input
	}{
		{"demanded", Backup, demandedBackup},
		{"demanded", Restore, demandedRestore},
		{"v1.18", Backup, releasedBackup},
		{"v1.18", Restore, releasedRestore},
	}
	for _, test := range tests {
		t.Run(test.reading+" "+test.kind.String(), func(t *testing.T) {
			for _, rules := range readings(t) {
				if rules.Name != test.reading {
					continue
				}
				if diff := cmp.Diff(test.want, rules.Legal(test.kind)); diff != "" {
					t.Errorf("legal edges (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestLegalNeedsNoMoreOperations explores further than Legal does.
func TestLegalNeedsNoMoreOperations(t *testing.T) {
	for _, rules := range readings(t) {
		for _, kind := range []Kind{Backup, Restore} {
			legal := rules.Legal(kind)
			rules.explore(kind, legalOperations+2, func(before State, in Input, after State, _ Effects) {
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
		edge, ok := strings.CutPrefix(line, "//\t")
		from, rest, isEdge := strings.Cut(edge, " → ")
		if !ok || !isEdge {
			continue
		}
		to := strings.Fields(rest)[0]
		if from == "any phase but InProgress and Deleting" {
			for p := range phases {
				if p != InProgress && p != Deleting {
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
