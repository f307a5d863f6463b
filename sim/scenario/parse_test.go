package scenario_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestInvalidFiles compares every error of testdata/invalid/*.yaml with the golden text beside it.
func TestInvalidFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, errs := scenario.Parse(name, b)
			if s != nil || len(errs) == 0 {
				t.Fatalf("accepted as %+v, want errors", s)
			}
			got, golden := errs.Error()+"\n", strings.TrimSuffix(file, ".yaml")+".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; run with -update", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInvalidBytes is for the files that no editor should show.
func TestInvalidBytes(t *testing.T) {
	long := strings.Repeat("x", 500)
	tests := map[string]struct {
		file         string
		line, column int
		message      string
	}{
		"NUL":                     {"kind: Sce\x00nario\n", 1, 10, "NUL byte"},
		"invalid UTF-8":           {"kind: Scenario\nmetadata: é\xff\n", 2, 12, "byte 0xff is not UTF-8"},
		"tab as indentation":      {"metadata:\n\tname: x\n", 2, 1, "tab"},
		"tab before a comment":    {"kind: Scenario\t# kind\n", 1, 15, "tab"},
		"escape sequence":         {"# \x1b[31mred\n", 1, 3, "control character U+001B"},
		"lone carriage return":    {"kind: Scenario\rmetadata: {}\n", 1, 15, "control character U+000D"},
		"line separator":          {"kind: Scenario\u2028metadata: {}\n", 1, 15, "control character U+2028"},
		"too large":               {strings.Repeat("#\n", 1<<20), 1, 1, "more than 1 MiB"},
		"too many brackets":       {strings.Repeat("[", 1<<20), 1, 33, "nested deeper than 32"},
		"too many list markers":   {strings.Repeat("- ", 1<<19), 1, 65, "nested deeper than 32"},
		"too many question marks": {strings.Repeat("? ", 1<<19), 1, 1, `"?" keys`},
		"too many tags":           {strings.Repeat("!a ", 1<<18), 1, 1, "tags"},
		"a long field name":       {"{" + long + ": 1}", 1, 1, "is missing"},
		"an unclosed quote":       {`kind: "Scenario`, 1, 7, "not valid YAML"},
		"only white space":        {" \n \n", 1, 1, "empty"},
		"only a document marker":  {"---\n", 1, 1, "empty"},
		"only an end marker":      {"...\n", 1, 1, "empty"},
		"many fields":             {strings.Repeat("expect: 1\n", 100000), 101, 7, "more than 100 fields"},
		"many fields in brackets": {"{" + strings.Repeat("expect: 1, ", 90000) + "}", 1, 1108, "more than 100 fields"},
		"a long list":             {"items: [" + strings.Repeat("a,", 2000) + "]", 1, 1, "at most 1000"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, errs := scenario.Parse("x.yaml", []byte(test.file))
			if s != nil || len(errs) == 0 {
				t.Fatal("accepted, want errors")
			}
			checkPositions(t, test.file, errs)
			for _, e := range errs {
				if e.Line == test.line && e.Column == test.column && strings.Contains(e.Message, test.message) {
					return
				}
			}
			t.Errorf("no error %q at %d:%d in:\n%.2000v", test.message, test.line, test.column, errs)
		})
	}
}

func TestManyErrorsAreCut(t *testing.T) {
	_, errs := scenario.Parse("x.yaml", []byte("faults: ["+strings.Repeat("1, ", 1000)+"]\n"))
	if len(errs) != 101 || errs[100].Message != "more than 100 errors; the rest is not shown" {
		t.Errorf("%d errors, the last one %q", len(errs), errs[len(errs)-1].Message)
	}
}

// checkPositions requires that every error points into the file.
func checkPositions(t *testing.T, file string, errs scenario.Errors) {
	t.Helper()
	lines := strings.Split(strings.TrimPrefix(file, "\ufeff"), "\n")
	for _, e := range errs {
		if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len([]rune(lines[e.Line-1]))+1 {
			t.Errorf("position %d:%d outside of the file: %q", e.Line, e.Column, e.Message)
		}
		if e.Message == "" || e.File == "" {
			t.Errorf("error without a message or a file: %+v", e)
		}
	}
	for i := 1; i < len(errs); i++ {
		if a, b := errs[i-1], errs[i]; a.Line > b.Line || a.Line == b.Line && a.Column > b.Column {
			t.Errorf("errors are not in the order of the file: %d:%d, %d:%d", a.Line, a.Column, b.Line, b.Column)
		}
	}
}

func hours(h float64) scenario.Duration {
	return scenario.Duration{Duration: time.Duration(h * float64(time.Hour))}
}

// server is one without flags.
func server() scenario.Server {
	return scenario.Server{
		ConcurrentBackups: 1, ItemOperationSyncFrequency: seconds(10), ResourceTimeout: seconds(600),
		GarbageCollectionFrequency: hours(1), BackupSyncPeriod: seconds(60),
	}
}

// spec of a backup, with this timeout in hours.
func spec(timeout float64) scenario.BackupSpec {
	return scenario.BackupSpec{ItemOperationTimeout: hours(timeout), TTL: hours(720)}
}

func seconds(s int) scenario.Duration {
	return scenario.Duration{Duration: time.Duration(s) * time.Second}
}

func TestEveryField(t *testing.T) {
	s, errs := scenario.Parse("full.yaml", []byte(strings.ReplaceAll(full, "kind: Scenario\n", "kind: Scenario\r\n")))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := &scenario.Scenario{
		APIVersion:  "velosim.io/v1alpha1",
		Kind:        "Scenario",
		Metadata:    scenario.Metadata{Name: "full", Reports: []string{"velero#6490", "openebs/velero-plugin#78"}},
		Description: "First line.\n\n  Third line, indented.",
		Server:      server(),
		Store:       scenario.Store{Immutable: true},
		Backups:     []scenario.Backup{{Name: "b", BackupSpec: spec(1.5)}},
		Restores:    []scenario.Restore{{Name: "r", Backup: "b", ItemOperationTimeout: hours(1.5)}},
		Items:       []scenario.Item{"configmaps/app/settings", "secrets/app/token"},
		Plugins: []scenario.Plugin{{
			Name:      "example.io/backs-up",
			Action:    scenario.BackupItemAction,
			Version:   2,
			Resources: []string{"secrets"},
			Execute: scenario.Execute{
				Behaviour:       scenario.Behaviour{Delay: seconds(1), Error: "two\nlines", Nth: 2, Times: 1},
				AdditionalItems: []scenario.Item{"secrets/app/token"},
				ItemsToUpdate:   []scenario.Item{"configmaps/app/settings"},
			},
			Operation: &scenario.Operation{
				Progress: []scenario.Step{
					{Done: 1, Of: 10, Units: "Bytes", Description: "begins"},
					{At: seconds(60), Done: 5, Of: 10, Units: "Bytes", Description: "begins"},
					{At: seconds(120), Done: 10, Of: 20, Units: "Items", Description: "begins", Failed: "out of space"},
				},
				AfterCancel: scenario.Continues,
				Forgets:     true,
			},
			Progress: scenario.Behaviour{Panic: "oops", Nth: 1},
			Cancel:   scenario.Behaviour{Hang: true, Nth: 1},
		}, {
			Name:      "example.io/restores",
			Action:    scenario.RestoreItemAction,
			Version:   2,
			Resources: []string{"configmaps"},
			Operation: &scenario.Operation{AfterCancel: scenario.Fails, Unknown: true},
		}},
		Faults: []scenario.Fault{
			{
				ID: "fault-1",
				At: scenario.Point{Phase: "Queued", Object: "backup/b", Nth: 2, Delay: seconds(3)},
				Do: scenario.Do{Kill: &scenario.Kill{}},
			},
			{
				ID: "named",
				At: scenario.Point{Call: &scenario.Call{Plugin: "example.io/restores", Method: "Cancel"}, Nth: 1, After: true},
				Do: scenario.Do{Kill: &scenario.Kill{RestartAfter: seconds(10)}},
			},
			{
				ID: "fault-3",
				At: scenario.Point{Phase: "InProgress", Object: "restore/r", Nth: 1},
				Do: scenario.Do{Kill: &scenario.Kill{RestartAfter: seconds(10)}},
			},
			{
				ID: "fault-4",
				At: scenario.Point{Phase: "Finalizing", Object: "restore/r", Nth: 1},
				Do: scenario.Do{Pause: seconds(60)},
			},
			{
				ID: "fault-5",
				At: scenario.Point{Phase: "Finalizing", Object: "restore/r", Nth: 1},
				Do: scenario.Do{Rollout: &scenario.Rollout{Overlap: seconds(120)}},
			},
		},
		Expect: scenario.Expect{
			Object: "restore/r",
			Outcomes: scenario.Outcomes{Outcome: scenario.Outcome{
				Phase:      "PartiallyFailed",
				Path:       []string{"InProgress", "PartiallyFailed"},
				Operations: &scenario.Operations{Attempted: 1, Failed: 1},
				Cancelled:  &[]string{},
				Updated:    &[]scenario.Item{},
				Within:     hours(2),
			}, Manifests: []scenario.Manifest{{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "app"}, "data": map[string]any{"key": "value"},
			}}},
			Deviation: &scenario.Deviation{
				Rule:     "progress-error-is-final",
				Outcomes: scenario.Outcomes{Outcome: scenario.Outcome{Phase: "InProgress", Cancelled: &[]string{"example.io/restores"}}},
			},
		},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSeveralObjects(t *testing.T) {
	s, errs := scenario.Parse("many.yaml", []byte(many))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if want := "What a user does in a week."; s.Description != want {
		t.Errorf("description %q, want %q", s.Description, want)
	}
	daily := spec(1)
	first, elsewhere := spec(4), spec(4)
	first.TTL, first.IncludedNamespaces, elsewhere.StorageLocation = hours(24), []string{"web"}, "other"
	first.Spec = scenario.Spec{"csiSnapshotTimeout": "1m", "orderedResources": map[string]any{"pods": "web/web"}}
	type created struct {
		Backups   []scenario.Backup
		Restores  []scenario.Restore
		Schedules []scenario.Schedule
		Items     []scenario.Item
		Manifests []scenario.Manifest
		Versions  []int
	}
	want := created{
		Backups: []scenario.Backup{
			{Name: "backup-1", BackupSpec: first, Annotations: map[string]string{"example.io/quiesces.prebackup": "skip"}},
			{Name: "elsewhere", BackupSpec: elsewhere, At: &scenario.Point{Phase: "InProgress", Object: "backup/backup-1", Nth: 1}},
		},
		Restores: []scenario.Restore{
			{Name: "restore-1", Backup: "backup-1", ItemOperationTimeout: hours(4), Annotations: map[string]string{"example.io/quiesces.prerestore": "skip"}},
			{
				Name: "early", Backup: "daily-1", ItemOperationTimeout: hours(4),
				At: &scenario.Point{Store: &scenario.Access{Verb: "put", Key: "backups/backup-1/velero-backup.json"}, Nth: 1},
			},
			{
				Name: "latest", Backup: "daily-2", Schedule: "daily", ItemOperationTimeout: hours(4),
				Spec: scenario.Spec{"uploaderConfig": map[string]any{"parallelFilesDownload": int64(2)}, "namespaceMapping": map[string]any{"web": "copy"}},
			},
		},
		Schedules: []scenario.Schedule{{Name: "daily", Every: hours(24), Backups: 2, Template: daily}},
		Items:     []scenario.Item{"pods/web/web"},
		Manifests: []scenario.Manifest{{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"namespace": "web", "name": "web"},
			"spec": map[string]any{"priority": int64(1), "overhead": []any{0.5, int64(1000), true, nil, "x"}},
		}},
		Versions: []int{2, 1, 1, 2, 2, 2, 0},
	}
	got := created{s.Backups, s.Restores, s.Schedules, s.Items, s.Manifests, nil}
	for _, p := range s.Plugins {
		got.Versions = append(got.Versions, p.Version)
		if want := map[bool]time.Duration{true: 5 * time.Minute}[p.Action.Once()]; p.Deadline.Duration != want {
			t.Errorf("the deadline of %s is %s, want %s", p.Name, p.Deadline, want)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none, two := 0, 2
	expect := scenario.Expect{
		Object: "backup/backup-1",
		Outcomes: scenario.Outcomes{
			Outcome: scenario.Outcome{Phase: scenario.Deleted},
			Objects: map[string]scenario.Outcome{
				"backup/elsewhere": {
					Phase: "FailedValidation", Errors: &none, Warnings: &two,
					Actions: []scenario.ActionOutcome{{Plugin: "example.io/quiesces", Action: scenario.PreBackupAction, Phase: scenario.ActionSkipped, Calls: &none}},
				},
				"restore/restore-1": {Phase: "Completed", Operations: &scenario.Operations{Attempted: 1, Completed: 1}},
			},
			Must: []scenario.Point{{Phase: "Deleting", Object: "backup/backup-1", Nth: 1}},
		},
		Strikes: &[]string{"fault-1"},
	}
	if diff := cmp.Diff(expect, s.Expect); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	s, errs := scenario.Parse("minimal.yaml", []byte(minimal))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := &scenario.Scenario{
		APIVersion: "velosim.io/v1alpha1",
		Kind:       "Scenario",
		Metadata:   scenario.Metadata{Name: "minimal"},
		Server:     server(),
		Backups:    []scenario.Backup{{Name: "backup-1", BackupSpec: spec(4)}},
		Items:      []scenario.Item{"configmaps/app/settings"},
		Expect:     scenario.Expect{Object: "backup/backup-1", Outcomes: scenario.Outcomes{Outcome: scenario.Outcome{Phase: "Completed"}}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestJSON shows that a scenario reaches a world, which is sent JSON, as it was parsed.
func TestJSON(t *testing.T) {
	files := map[string]string{"full": full, "many": many, "unstarted": unstarted, "minimal": minimal}
	for _, name := range scenarios.Names() {
		b, err := scenarios.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	for name, file := range files {
		want, errs := scenario.Parse(name, []byte(file))
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := new(scenario.Scenario)
		if err := json.Unmarshal(b, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-parsed +through JSON):\n%s", name, diff)
		}
	}
}
