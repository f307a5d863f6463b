package cluster_test

import (
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
)

// TestItems: several scenarios find room in one cluster, however long their namespaces are, and what the cluster has is found again.
func TestItems(t *testing.T) {
	long := strings.Repeat("a", 62)
	items := []scenario.Item{"configmaps/app/settings", scenario.Item("secrets/" + long + "b/token"), scenario.Item("secrets/" + long + "c/token")}
	inside := map[scenario.Item]bool{}
	for _, suffix := range []string{"", "-j1", "-j12345"} {
		c := cluster.Cluster{Scenario: &scenario.Scenario{Items: items}, Suffix: suffix}
		for _, item := range items {
			in := c.Inside(item)
			if n := len(in.Namespace()); n > 63 || !strings.HasSuffix(in.Namespace(), suffix) {
				t.Errorf("%s is %s in the cluster: %d characters", item, in, n)
			}
			if out := c.Outside(string(in)); out != string(item) {
				t.Errorf("%s is %s in the cluster, and comes back as %s", item, in, out)
			}
			inside[in] = true
		}
	}
	if len(inside) != 9 {
		t.Errorf("%d items in the cluster, want 9: %v", len(inside), inside)
	}
}
