package fakeplugins_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vmware-tanzu/velero/pkg/plugin/velero"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/trace"
)

// The item that Execute returns is told if it is another than the one that it was given.
func TestRecordedItem(t *testing.T) {
	like := func(change func(*unstructured.Unstructured)) runtime.Unstructured {
		u := settings()
		change(u)
		return u
	}
	for name, tt := range map[string]struct {
		plugin plugin
		want   string
		skips  bool // only a restore can
	}{
		"the same":          {plugin: plugin{item: settings()}},
		"changed":           {plugin: plugin{item: like(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) })}},
		"another name":      {plugin: plugin{item: like(func(u *unstructured.Unstructured) { u.SetName("x") })}, want: "configmaps/app/x"},
		"another namespace": {plugin: plugin{item: like(func(u *unstructured.Unstructured) { u.SetNamespace("x") })}, want: "configmaps/x/settings"},
		"no namespace":      {plugin: plugin{item: like(func(u *unstructured.Unstructured) { u.SetNamespace("") })}, want: "configmaps/settings"},
		"another kind":      {plugin: plugin{item: like(func(u *unstructured.Unstructured) { u.SetKind("Secret") })}, want: "secrets/app/settings"},
		"another group": {
			plugin: plugin{item: like(func(u *unstructured.Unstructured) { u.SetAPIVersion("example.io/v1") })}, want: "configmaps.example.io/app/settings",
		},
		"none":                    {want: "none"},
		"an empty one":            {plugin: plugin{item: new(unstructured.Unstructured)}, want: "none"},
		"none, as it is skipped":  {plugin: plugin{skip: true}, skips: true},
		"other, as it is skipped": {plugin: plugin{skip: true, item: like(func(u *unstructured.Unstructured) { u.SetName("x") })}, skips: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.plugin.record(t, time.Time{}, func(string, answers, []error) {})
			for kind, calls := range got {
				for _, c := range calls {
					want := tt.want
					if c.Call.Method != "Execute" || kind == "DeleteItemAction" { // it returns none
						want = ""
					}
					if tt.skips && kind[0] == 'B' {
						continue
					}
					if c.Return.Item != want {
						t.Errorf("%s, %s: item %q, want %q", kind, c.Call.Method, c.Return.Item, want)
					}
				}
			}
		})
	}
}

// Times are the trace's, from its epoch; those that the plugin has not set are not told, in whatever way they come over the wire.
func TestRecordedTimes(t *testing.T) {
	epoch := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tt := range map[string]struct {
		at   time.Time
		want trace.Time
	}{
		"after the epoch":        {epoch.Add(time.Hour), trace.Time(time.Hour)},
		"before the epoch":       {epoch.Add(-time.Minute), -trace.Time(time.Minute)},
		"in another time zone":   {epoch.Add(time.Second).In(time.FixedZone("", 3600)), trace.Time(time.Second)},
		"not set":                {time.Time{}, 0},
		"1970, as of protobuf":   {time.Unix(0, 0), 0},
		"as a zero time is sent": {time.Unix(time.Time{}.Unix(), 0), 0},
	} {
		t.Run(name, func(t *testing.T) {
			started := plugin{progress: velero.OperationProgress{Started: tt.at}}
			updated := plugin{progress: velero.OperationProgress{Updated: tt.at}}
			for _, kind := range []string{"BackupItemActionV2", "RestoreItemActionV2"} {
				of := func(p plugin) trace.Progress {
					return *p.record(t, epoch, func(string, answers, []error) {})[kind][2].Return.Progress
				}
				if diff := cmp.Diff(trace.Progress{Started: tt.want}, of(started)); diff != "" {
					t.Errorf("%s, Started (-want +got):\n%s", kind, diff)
				}
				if diff := cmp.Diff(trace.Progress{Updated: tt.want}, of(updated)); diff != "" {
					t.Errorf("%s, Updated (-want +got):\n%s", kind, diff)
				}
			}
		})
	}
}

func TestSelects(t *testing.T) {
	for want, selector := range map[string]velero.ResourceSelector{
		"":                                {},
		"configmaps":                      {IncludedResources: []string{"configmaps"}},
		"configmaps,secrets":              {IncludedResources: []string{"secrets", "configmaps"}},
		"not pods":                        {ExcludedResources: []string{"pods"}},
		"in app,web":                      {IncludedNamespaces: []string{"web", "app"}},
		"not in kube-system":              {ExcludedNamespaces: []string{"kube-system"}},
		"labelled app=web":                {LabelSelector: "app=web"},
		"pods in app labelled app in (a)": {IncludedResources: []string{"pods"}, IncludedNamespaces: []string{"app"}, LabelSelector: "app in (a)"},
		"pods not secrets in app not in web labelled a=b": {
			IncludedResources: []string{"pods"}, ExcludedResources: []string{"secrets"},
			IncludedNamespaces: []string{"app"}, ExcludedNamespaces: []string{"web"}, LabelSelector: "a=b",
		},
	} {
		if got := fakeplugins.Selects(selector); got != want {
			t.Errorf("%+v: %q, want %q", selector, got, want)
		}
	}
	order := []string{"secrets", "configmaps"}
	if fakeplugins.Selects(velero.ResourceSelector{IncludedResources: order}); order[0] != "secrets" {
		t.Error("the plugin's own list was sorted")
	}
}
