package virtual_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	logtest "github.com/sirupsen/logrus/hooks/test"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/velosim/velosim/examples/quiesce/action"
	"github.com/velosim/velosim/sim/plan"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/verdict"
)

// quiesced is a backup before which two workloads are stopped, and started again after it.
const quiesced = `apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: quiesced}
manifests:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: app}, spec: {replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: app}, spec: {replicas: 2, serviceName: db, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: db}]}}}}
plugins:
- {name: velosim.io/quiesce, action: PreBackupAction}
- {name: velosim.io/quiesce, action: PostBackupAction}
- {name: example.io/mover, resources: [deployments, statefulsets], operation: {progress: [{at: 0s, done: 1, of: 10}, {at: 1m, done: 10, completed: true}]}}
expect:
  phase: Completed
  operations: {attempted: 2, completed: 2, failed: 0}
  manifests:
  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: app}, spec: {replicas: 3}}
  - {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: app}, spec: {replicas: 2}}
`

// quiesce is the plugin of examples/quiesce.
func quiesce(ctx context.Context, c client.Client, script scenario.Plugin, object metav1.Object) error {
	log, _ := logtest.NewNullLogger()
	if script.Action == scenario.PreBackupAction {
		return action.NewQuiesce(c, log).Execute(ctx, object.(*velerov1.Backup))
	}
	return action.NewResume(c, log).Execute(ctx, object.(*velerov1.Backup))
}

// TestQuiesced: whatever write the server is killed at, the plugin's among them, and whatever write is refused once or has its reply lost, each
// workload has its replicas in the end.
func TestQuiesced(t *testing.T) {
	s := parse(t, "quiesced.yaml", quiesced)
	w := virtual.New()
	w.Act(quiesce)
	base := runOn(t, w, s, 1)
	if v := verdict.Judge(s, base); v.Result != verdict.Pass {
		t.Fatalf("without a fault: %s: %+v", v.Result, v.Findings)
	}
	if stopped := scaled(base, "deployments/app/web") + scaled(base, "statefulsets/app/db"); stopped != 4 {
		t.Fatalf("the workloads were scaled %d times, want each down and up", stopped)
	}
	plans, err := plan.Plans([]byte(quiesced), s, plan.Learn(s, base), []plan.Family{plan.Kill, plan.Refuse, plan.LoseReply})
	if err != nil {
		t.Fatal(err)
	}
	count, own := map[plan.Family]int{}, 0
	for _, p := range plans {
		if p.Pruned != "" {
			continue
		}
		count[p.Family]++
		if w := p.Step.At.Write; w != nil && s.Expect.Of(scenario.Item(w.Object)) {
			own++
		}
		tr := runOn(t, w, p.Scenario, 1)
		if v := verdict.Compare(p.Scenario, tr, base); v.Result != verdict.Pass && v.Result != verdict.KnownDeviation {
			t.Errorf("%s: %s: %+v", p.Name, v.Result, v.Findings)
		}
	}
	t.Logf("plans: %v, of which %d strike a write of the plugin", count, own)
	if own != 4*4 { // two workloads, down and up: killed before and after, refused, and with the reply lost
		t.Errorf("%d plans strike a write of the plugin, want 16", own)
	}
}

// TestQuiescedAtEveryWrite: so it is at the writes, too, at which nothing is planned, as no point names them: of leases, and of the location.
func TestQuiescedAtEveryWrite(t *testing.T) {
	w := virtual.New()
	w.Act(quiesce)
	writes := 0
	for _, e := range runOn(t, w, parse(t, "quiesced.yaml", quiesced), 1).Events {
		if e.Write != nil && e.Incarnation > 0 {
			writes++
		}
	}
	for n := range writes {
		for _, after := range []bool{false, true} {
			fault := fmt.Sprintf("faults: [{at: {write: {}, nth: %d, after: %t}, do: {kill: {}}}]\nexpect:\n  object: backup/backup-1\n", n+1, after)
			_, manifests, _ := strings.Cut(quiesced, "failed: 0}\n")
			s := parse(t, "quiesced.yaml", strings.Split(quiesced, "expect:")[0]+fault+manifests)
			if v := verdict.Judge(s, runOn(t, w, s, 1)); v.Result != verdict.Pass && v.Result != verdict.KnownDeviation {
				t.Errorf("killed at write %d, after it %t: %s: %+v", n+1, after, v.Result, v.Findings)
			}
		}
	}
	t.Logf("plans: %d, before and after each of %d writes", 2*writes, writes)
}

// scaled is how often something of the server's has written the item.
func scaled(tr trace.Trace, item string) (n int) {
	for _, e := range tr.Events {
		if e.Write != nil && e.Object == item && e.Incarnation > 0 {
			n++
		}
	}
	return n
}
