package property

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// Write writes the scenario of a run with a finding into the folder, which it makes if it must, and returns the file's path and the
// command that replays it.
func Write(folder string, r Run) (path, replay string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", "", fmt.Errorf("failed to make the folder of findings: %w", err)
	}
	f := *r.Finding
	written := r.written
	written.Metadata.Name = fmt.Sprintf("%s-%d", cmp.Or(strings.Trim(f.Oracle+"-"+kindOf(f.Object), "-"), "found"), r.Number)
	written.Expect = r.expect()
	b, err := text(written)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(folder, written.Metadata.Name+".yaml")
	replay = fmt.Sprintf("velosim run %s --seed %d", path, r.Number)
	about := []string{
		"Found by package property on Velero " + r.Trace.Header.Velero + ": " + Kind(f), "",
		"expected  " + f.Expected, "seen      " + f.Seen, "", fmt.Sprintf("It shows with --seed %d.", r.Number),
	}
	head := regexp.MustCompile(`(?m)^`).ReplaceAllString(strings.Join(about, "\n"), "# ")
	if err := os.WriteFile(path, append([]byte(head+"\n"), b...), 0o644); err != nil {
		return "", "", fmt.Errorf("failed to write the finding: %w", err)
	}
	return path, replay, nil
}

// expect is what a file says of the outcome: how the object should have ended or, if there are several ways, did.
func (r Run) expect() scenario.Expect {
	e := scenario.Expect{Object: r.Scenario.Expect.Object}
	e.Phase = phase.Completed.String()
	for _, p := range model.Predict(phase.Demanded(), r.Scenario) {
		if p.Object != e.Object || p.Unknown != "" {
			continue
		}
		ends := slices.DeleteFunc(p.Ends(), func(end phase.Phase) bool { return !end.Final() || end == phase.Deleting })
		ended := func(end phase.Phase) bool { return end.String() == r.Verdict.Phase }
		switch {
		case slices.ContainsFunc(ends, ended):
			e.Phase = r.Verdict.Phase
		case len(ends) > 0:
			e.Phase = ends[0].String()
		}
	}
	return e
}

func kindOf(object string) string {
	kind, _, _ := strings.Cut(object, "/")
	return kind
}
