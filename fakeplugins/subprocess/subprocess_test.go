package subprocess_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"

	"github.com/velosim/velosim/fakeplugins/subprocess"
	"github.com/velosim/velosim/sim/trace"
)

// how says, in a process of the plugin, how it behaves.
const how = "SUBPROCESS_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(how) {
	case "":
		os.Exit(m.Run())
	case "exits":
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(1)
	}
	framework.NewServer().BindFlags(pflag.NewFlagSet("plugin", pflag.ContinueOnError)).
		RegisterDeleteItemAction("example.io/cleaner", func(logrus.FieldLogger) (any, error) { return cleaner{}, nil }).
		RegisterItemBlockAction("example.io/blocks", func(logrus.FieldLogger) (any, error) { return nil, nil }).
		Serve()
	switch os.Getenv(how) {
	case "stays":
		select {}
	case "leaves":
		child := exec.Command("sleep", "20")   // by then the test has failed
		child.Stderr = os.NewFile(2, "stderr") // that of go-plugin is another by now
		if err := child.Start(); err != nil {
			panic(err)
		}
	}
}

type cleaner struct{}

func (cleaner) AppliesTo() (velero.ResourceSelector, error) {
	if os.Getenv(how) == "dies" {
		os.Exit(3)
	}
	return velero.ResourceSelector{IncludedResources: []string{"pods", "configmaps"}}, nil
}

func (cleaner) Execute(*velero.DeleteItemActionExecuteInput) error { return nil }

func start(t *testing.T, behaviour string) (*subprocess.Process, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return subprocess.Start(subprocess.Options{Path: self, Env: []string{how + "=" + behaviour}})
}

func TestProcess(t *testing.T) {
	for behaviour, byItself := range map[string]bool{"ends": true, "stays": false, "leaves": false} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			p, err := start(t, behaviour)
			if err != nil {
				t.Fatal(err)
			}
			registered, err := p.Registers()
			if err != nil || len(registered) != 2 || registered[0].Kind != common.PluginKindDeleteItemAction || registered[1].Name != "example.io/blocks" {
				t.Errorf("it registers %v, error %v", registered, err)
			}
			var selects string
			a, err := p.Plugin(common.PluginKindDeleteItemAction, "example.io/cleaner", func(string, trace.Call) func(trace.Return) {
				return func(r trace.Return) { selects = r.Selects }
			}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.(velero.DeleteItemAction).AppliesTo(); err != nil || selects != "configmaps,pods" {
				t.Errorf("AppliesTo selects %q, error %v", selects, err)
			}
			if p.Exited() {
				t.Error("it has exited before it was to")
			}
			if got := p.Stop(); got != byItself || !p.Exited() && behaviour != "leaves" {
				t.Errorf("it has ended by itself: %t, want %t; exited: %t", got, byItself, p.Exited())
			}
		})
	}
}

func TestDoesNotStart(t *testing.T) {
	_, err := start(t, "exits")
	if err == nil || !strings.HasSuffix(err.Error(), "\nits stderr says: no configuration") {
		t.Errorf("error %v", err)
	}
}

func TestDies(t *testing.T) {
	p, err := start(t, "dies")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	client, err := p.Client(common.PluginKindDeleteItemAction, "example.io/cleaner")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.(velero.DeleteItemAction).AppliesTo(); err == nil {
		t.Error("a call in which the process ends has no error")
	}
}
