package envtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"

	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/world"
)

// TestMain makes the test binary a plugin if it is started as one.
func TestMain(m *testing.M) {
	Main()
	none := func(logrus.FieldLogger) (any, error) { return nil, errors.New("nobody asks for it") }
	if filepath.Base(os.Args[0]) == "actions" {
		actions.NewServer().RegisterPreBackupAction("example.io/quiesce", none).Serve()
		os.Exit(0)
	}
	if filepath.Base(os.Args[0]) == "a-plugin" {
		framework.NewServer().BindFlags(pflag.CommandLine).
			RegisterBackupItemAction("example.io/mover", none).RegisterRestoreItemActionV2("example.io/mover", none).Serve()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// aPlugin is a file that is one of the user's.
func aPlugin(t *testing.T) string { return aPluginOf(t, "a-plugin") }

func aPluginOf(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestActionsOfTheUser: plugins with actions alone are plugins, too, and need a server that calls them.
func TestActionsOfTheUser(t *testing.T) {
	path := aPluginOf(t, "actions")
	folder, err := os.MkdirTemp("", "probe-") // shorter than t.TempDir, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	registered, err := Options{Extra: []string{path}}.probe(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if found, r, ok := registered.acting(); found != path || r.String() != "the PreBackupAction example.io/quiesce" || !ok {
		t.Errorf("%s registers %s, %t", found, r, ok)
	}
	if err := registered.clash([]scenario.Plugin{{Name: "example.io/quiesce", Action: scenario.PreBackupAction}}); err == nil {
		t.Error("the scenario may have another of that name")
	}
	none := &scenario.Scenario{}
	r := &run{world: &World{options: Options{Server: "velero"}, taken: registered}, job: world.Job{Scenario: none}, cluster: cluster.Cluster{Scenario: none}}
	if err := r.startPlugins(); err == nil || !strings.Contains(err.Error(), "leave out --velero") {
		t.Errorf("without a server for them: %v", err)
	}
	r.world.options.ActionsServer = "velosim-server"
	if got := r.executable(); got != "velosim-server" {
		t.Errorf("they are run by %s", got)
	}
}

// TestTwoOfOneName: the user's plugins must not register what another one does, nor what the scenario's do.
func TestTwoOfOneName(t *testing.T) {
	folder, err := os.MkdirTemp("", "probe-") // shorter than t.TempDir, for sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	one, other := aPlugin(t), aPlugin(t)
	says := func(err error, words ...string) {
		t.Helper()
		for _, w := range words {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("error %v, want one that says %q", err, w)
			}
		}
	}
	_, err = Options{Extra: []string{one, other}}.probe(t.Context(), folder)
	says(err, one+" and "+other+" both register the BackupItemAction example.io/mover,", "both register the RestoreItemAction example.io/mover,")
	registered, err := Options{Extra: []string{one}}.probe(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	scripted := []scenario.Plugin{{Name: "example.io/other", Action: scenario.BackupItemAction}}
	if err := registered.clash(scripted); err != nil {
		t.Errorf("another name: %v", err)
	}
	scripted[0].Name = "example.io/mover"
	says(registered.clash(scripted), "the plugin "+one+" registers the BackupItemAction example.io/mover, and the scenario has", "rename that of the scenario")
	scripted[0].Action = scenario.RestoreItemAction // of version 2, as that of the plugin
	says(registered.clash(scripted), "registers the RestoreItemAction example.io/mover")
}

// TestProbe: a plugin that does not start is told with what it has said.
func TestProbe(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"exits", "echo no licence found >&2\nexit 3", "its stderr says: no licence found"},
		{"prints something else", "echo hello\nsleep 60", "Unrecognized remote plugin message: hello"},
		{"speaks another version", "echo '1|99|tcp|127.0.0.1:1|grpc'\nsleep 60", "incompatible API version"},
		{"hangs", "exec sleep 60", "deadline"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plugin")
			if err := os.WriteFile(path, []byte("#!/bin/sh\n"+test.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err := probe(ctx, path, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}
