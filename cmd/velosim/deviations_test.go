package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDeviationsPage keeps the page of deviations in step with the rules.
func TestDeviationsPage(t *testing.T) {
	const file = "../../docs/deviations.md"
	var want bytes.Buffer
	deviationsPage(&want)
	if *update {
		if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("%s is not current (go test ./cmd/velosim -run DeviationsPage -update; -want +got):\n%s", file, diff)
	}
}
