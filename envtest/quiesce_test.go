package envtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
	"github.com/velosim/velosim/sim/world/executable"
)

// killedAsItQuiesces is one plan of a sweep over a backup that the plugin of examples/quiesce quiesces and resumes: the server dies, and the
// plugin with it, when one workload is stopped and the other is not.
const killedAsItQuiesces = `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: killed-as-it-quiesces}
manifests:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: app}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: app}, spec: {replicas: 2, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: db}]}}}}
plugins:
- {name: example.io/mover, resources: [deployments, statefulsets], operation: {progress: [{at: 0s, done: 1, of: 10}, {at: 1m, done: 10, completed: true}]}}
faults:
- {at: {write: {object: deployments/app/web, verb: update}, after: true}, do: {kill: {}}}
expect:
  phase: Failed
  manifests:
  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: app}, spec: {replicas: 3}}
  - {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: app}, spec: {replicas: 2}}
`

// TestQuiesce: a real plugin quiesces a backup's workloads, and each has its replicas in the end, though the server is killed in between.
func TestQuiesce(t *testing.T) {
	if os.Getenv("VELOSIM_ENVTEST") == "" {
		t.Skip("the world of real processes is tested by make test, which builds what it needs: set VELOSIM_ENVTEST=1")
	}
	if version() != "1.18.3" {
		t.Skip("actions are called by the controllers of 1.18.3")
	}
	plugin := filepath.Join(t.TempDir(), "quiesce")
	if out, err := exec.Command("go", "build", "-o", plugin, "../examples/quiesce").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	finder, err := executable.FromEnvironment(os.Stderr, false)
	if err != nil {
		t.Fatal(err)
	}
	path, args, err := finder.Envtest(t.Context(), version(), true)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.Open(t.Context(), path, world.Options{Args: append(args, "--plugin", plugin)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s, errs := scenario.Parse("killed-as-it-quiesces.yaml", []byte(killedAsItQuiesces))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	scale := w.Info().Scale
	job := world.Job{ID: 1, Scenario: s.RealTime(), Seed: 1}
	job.Bound = verdict.RealBound(job.Scenario, scale)
	tr := trace.Trace{Header: trace.Header{Schema: trace.Schema, Scenario: s.Metadata.Name, World: "envtest", Velero: version(), Scale: scale}}
	if tr.End, err = w.Run(t.Context(), job, func(e trace.Event) error { tr.Events = append(tr.Events, e); return nil }); err != nil {
		t.Fatal(err)
	}
	if v := verdict.Judge(s, tr); v.Result != verdict.Pass {
		var text strings.Builder
		v.Print(&text) //nolint:errcheck // to a Builder
		t.Error(text.String())
	}
	stopped := func(e trace.Event) bool {
		return e.Write != nil && e.Object == "deployments/app/web" && e.Incarnation == 1
	}
	if !slices.ContainsFunc(tr.Events, stopped) {
		t.Error("the first server's plugin has stopped nothing")
	}
}
