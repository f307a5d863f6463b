package scenarios_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// upstream are the reports that docs/reports.md has to account for.
const upstream = `
velero#6490 velero#6571 velero#7356 velero#9674 velero#10503 velero#7047 velero#7163 velero#8182 velero#7239
velero#3239 velero#7207 velero#6170 velero#8087 cozystack/cozystack#3726 velero#10169
velero#4503 velero#2877 velero#6727 velero#487 velero#7230 velero#9036 velero#9062 velero#8453 velero#8440
velero#6589 velero#6913 velero#8367 velero#8576 velero#6813 velero#8454 velero#6819 velero#8391
velero#6035 velero#9189 velero#9190 velero#3701 velero#9803 velero#9790
velero#9964 velero#8686 velero#8689 velero#9760 velero#9184 velero#8116 velero#7785
velero#9259 velero#2738 velero#2800 velero#6193 velero#4772 velero#10519
velero#7099
velero#4557 velero#6780 velero#4895 velero#7647 velero#2922 velero#4863 openshift/oadp-operator#703 velero-plugin-example#24
openebs/velero-plugin#78
`

// TestReports: the table of docs/reports.md has each report once, with the scenarios that name it and their verdict, or with the
// reason why there is none.
func TestReports(t *testing.T) {
	page, err := os.ReadFile("../docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	scripted := map[string][]string{}
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != 8 || !strings.Contains(cells[1], "#") {
			continue
		}
		report, by, says, why := cells[1], codes(cells[2]), cells[3], cells[6]
		named = append(named, report)
		if len(by) == 0 && why == "" {
			t.Errorf("%s has neither a scenario nor a reason", report)
		}
		var verdicts []string
		for _, name := range by {
			scripted[report] = append(scripted[report], name)
			verdicts = append(verdicts, verdict(t, name))
		}
		slices.Sort(verdicts)
		if want := strings.Join(slices.Compact(verdicts), ", "); len(by) > 0 && says != want {
			t.Errorf("%s: the table says %q of Velero 1.18.3, its scenarios say %q", report, says, want)
		}
	}
	want := strings.Fields(upstream)
	slices.Sort(want)
	slices.Sort(named)
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("reports of the table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(reproduced(t), scripted); diff != "" {
		t.Errorf("scenarios of the reports (-metadata.reports +docs/reports.md):\n%s", diff)
	}
	for _, name := range codes(string(page)) {
		if strings.HasPrefix(name, "backup-") || strings.HasPrefix(name, "restore-") {
			if _, err := scenarios.Read(name); err != nil {
				t.Errorf("docs/reports.md: %v", err)
			}
		}
	}
}

// A report that shows a rule is named by it, so that `velosim deviations` tells what is known of it.
func TestRulesNameReports(t *testing.T) {
	for report, names := range reproduced(t) {
		for _, name := range names {
			if d := parsed(t, name).Expect.Deviation; d != nil && !slices.Contains(phase.Named(d.Rule).Reports, report) {
				t.Errorf("%s of %s shows rule %s, which does not name it", report, name, d.Rule)
			}
		}
	}
}

// reproduced are the scenarios of each report, by metadata.reports.
func reproduced(t *testing.T) map[string][]string {
	t.Helper()
	by := map[string][]string{}
	for _, name := range scenarios.Names() {
		for _, report := range parsed(t, name).Metadata.Reports {
			by[report] = append(by[report], name)
		}
	}
	for _, report := range slices.Collect(maps.Keys(by)) {
		slices.Sort(by[report])
	}
	return by
}

// verdict is how a scenario of the catalogue ends on Velero 1.18.3.
func verdict(t *testing.T, name string) string {
	t.Helper()
	if d := parsed(t, name).Expect.Deviation; d != nil {
		return "`" + d.Rule + "`"
	}
	return "pass"
}

func parsed(t *testing.T, name string) *scenario.Scenario {
	t.Helper()
	b, err := scenarios.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, errs := scenario.Parse(name, b)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

// codes are what a text has between backquotes.
func codes(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}
