package trace_test

import (
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/trace"
)

// A trace may come from anywhere; what it holds must neither forge lines nor reach a terminal.
func TestControlCharactersAreNotPrinted(t *testing.T) {
	const text = "a\x1b[2J\nb\tc\u009bd"
	tr := trace.Trace{
		Header: trace.Header{Schema: trace.Schema, Scenario: text, World: text, Velero: text, Scale: 1},
		Events: []trace.Event{
			{Seq: 1, Object: text, Body: trace.Body{Created: &trace.Created{Backup: text}}},
			{Seq: 2, Object: text, Body: trace.Body{Call: &trace.Call{ID: 1, Plugin: text, Method: text, Item: text}}},
			{Seq: 3, Object: text, Body: trace.Body{Reconcile: &trace.Reconcile{Controller: text, Error: text}}},
		},
		End: trace.End{Reason: trace.Settled},
	}
	var described strings.Builder
	if _, err := trace.Describe(tr, 0).WriteTo(&described); err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{"description": described.String(), "timeline": timeline(t, tr, true)} {
		if strings.ContainsAny(got, "\x1b\t\u009b") || !strings.Contains(got, `a\u001b[2J`) || !strings.Contains(got, `b c\u009bd`) {
			t.Errorf("%s:\n%q", what, got)
		}
	}
	if got := timeline(t, tr, true); !strings.Contains(got, `a\u001b[2J b c\u009bd  created, from backup`) {
		t.Errorf("the object breaks its line:\n%q", got)
	}
}
