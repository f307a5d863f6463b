package actions_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt/process"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/velosim/velosim/sim/actions"
)

// folder makes a folder of executables, at these paths.
func folder(t *testing.T, paths ...string) string {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	for _, path := range paths {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		link(t, path)
	}
	return dir
}

// One folder serves Velero and the actions: each finds its own.
func TestDiscover(t *testing.T) {
	dir := folder(t, "a/actions", "b/velero", "both")
	if err := os.WriteFile(filepath.Join(dir, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log, _ := logtest.NewNullLogger()
	got, err := actions.Discover(t.Context(), dir, log)
	if err != nil {
		t.Fatal(err)
	}
	a, both := filepath.Join(dir, "a/actions"), filepath.Join(dir, "both")
	want := []framework.PluginIdentifier{
		identifier(a, actions.PluginKindPostBackupAction, "example.io/audit"),
		identifier(a, actions.PluginKindPostBackupAction, "example.io/quiesce"),
		identifier(a, actions.PluginKindPostRestoreAction, "example.io/gate"),
		identifier(a, actions.PluginKindPreBackupAction, "example.io/fails"),
		identifier(both, actions.PluginKindPreBackupAction, "example.io/first"),
		identifier(a, actions.PluginKindPreBackupAction, "example.io/quiesce"),
		identifier(a, actions.PluginKindPreBackupAction, "example.io/wrong"),
		identifier(a, actions.PluginKindPreRestoreAction, "example.io/gate"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}

	// As velero server does. It starts its own executable, too, for the plugins that are part of it.
	args := os.Args
	defer func() { os.Args = args }()
	os.Args = []string{executable(t, "velero"), "server"}
	if err := os.Remove(filepath.Join(dir, "b/velero")); err != nil {
		t.Fatal(err)
	}
	registry := process.NewRegistry(dir, log, log.Level)
	if err := registry.DiscoverPlugins(); err != nil {
		t.Fatalf("velero server does not start: %v", err)
	}
	if _, err := registry.Get(common.PluginKindBackupItemActionV2, "example.io/mover"); err != nil {
		t.Error(err)
	}
	if children := children(t); len(children) > 0 {
		t.Errorf("processes are left: %q", children)
	}
}

func TestDiscoverFails(t *testing.T) {
	log, hook := logtest.NewNullLogger()
	log.Level = logrus.DebugLevel
	if plugins, err := actions.Discover(t.Context(), filepath.Join(t.TempDir(), "none"), log); err != nil || len(plugins) > 0 {
		t.Errorf("a folder that does not exist: %v, %v", plugins, err)
	}
	_, err := actions.Discover(t.Context(), folder(t, "a/actions", "b/actions"), log)
	contains(t, err, "both have a PostBackupAction example.io/audit: remove one")
	for name, want := range map[string]string{
		"exits":       "no configuration",
		"invalid":     `PreBackupAction "quiesce": plugin name must have exactly two parts separated by a`,
		"twice":       `PreBackupAction "example.io/a": it is registered twice`,
		"unskippable": `PreBackupAction "example.io/a b": the annotation example.io/a b.prebackup that skips it is not valid`,
	} {
		t.Run(name, func(t *testing.T) {
			hook.Reset()
			if _, err := actions.Discover(t.Context(), folder(t, "a/"+name), log); err == nil {
				t.Error("Discover succeeded")
			}
			log := ""
			for _, e := range hook.AllEntries() {
				log += e.Message + "\n"
			}
			contains(t, errorString(log), want)
		})
	}
}

type errorString string

func (e errorString) Error() string { return string(e) }

func TestSelect(t *testing.T) {
	plugins := []framework.PluginIdentifier{
		identifier("2", actions.PluginKindPreBackupAction, "example.io/quiesce"),
		identifier("1", actions.PluginKindPostBackupAction, "example.io/quiesce"),
		identifier("3", actions.PluginKindPreBackupAction, "example.io/dump"),
		identifier("3", actions.PluginKindPreBackupAction, "example.com/lock"),
		identifier("1", actions.PluginKindPreRestoreAction, "example.io/gate"),
		identifier("1", actions.PluginKindPostRestoreAction, "example.io/gate"),
	}
	for name, test := range map[string]struct {
		kind        common.PluginKind
		annotations map[string]string
		want        []string
	}{
		"in order of names": {actions.PluginKindPreBackupAction, nil, []string{"example.com/lock", "example.io/dump", "example.io/quiesce"}},
		"skipped":           {actions.PluginKindPreBackupAction, map[string]string{"example.io/dump.prebackup": "skip", "example.com/lock.postbackup": "skip"}, []string{"example.com/lock", "example.io/quiesce"}},
		"another value":     {actions.PluginKindPostBackupAction, map[string]string{"example.io/quiesce.postbackup": "no"}, []string{"example.io/quiesce"}},
		"post":              {actions.PluginKindPostBackupAction, map[string]string{"example.io/quiesce.postbackup": "skip"}, nil},
		"restores":          {actions.PluginKindPreRestoreAction, map[string]string{"example.io/gate.postrestore": "skip"}, []string{"example.io/gate"}},
		"after restores":    {actions.PluginKindPostRestoreAction, map[string]string{"example.io/gate.postrestore": "skip"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range actions.Select(plugins, test.kind, test.annotations) {
				got = append(got, p.Name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("plugins (-want +got):\n%s", diff)
			}
		})
	}
}

// The proposal's annotations are not valid, as Velero's names of plugins have a slash.
func TestSkipAnnotation(t *testing.T) {
	for annotation, valid := range map[string]bool{
		actions.SkipAnnotation(actions.PluginKindPreBackupAction, "example.io/quiesce"): true,
		"example.io/quiesce/prebackup": false,
	} {
		errs := validation.ValidateAnnotations(map[string]string{annotation: "skip"}, field.NewPath("annotations"))
		if (len(errs) == 0) != valid {
			t.Errorf("%s: %v", annotation, errs)
		}
	}
}
