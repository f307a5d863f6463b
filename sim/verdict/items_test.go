package verdict

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// expects is a manifest with these fields more.
func expects(t *testing.T, fields string) scenario.Manifest {
	t.Helper()
	var m scenario.Manifest
	if err := json.Unmarshal([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"app","name":"web"},`+fields+`}`), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (s *script) restsAs(item, manifest string) *script {
	return s.add(item, trace.Body{Item: &trace.Item{Manifest: json.RawMessage(manifest)}})
}

const (
	web   = "deployments/app/web"
	webIs = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"app","uid":"1"},
		"spec":{"replicas":3,"paused":true,"template":{"spec":{"containers":[{"name":"web","image":"a"},{"name":"db"}]}}}}`
)

// TestItems: an object of the cluster is judged by the fields that are expected, and the first that is not so is named.
func TestItems(t *testing.T) {
	found := func(expected, seen string) []brief { return []brief{{"expectation", expected, seen}} }
	for _, test := range []struct {
		name, fields string
		is           string
		want         []brief
	}{
		{name: "some of its fields", fields: `"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"a"},{}]}}}`, is: webIs},
		{name: "another value", fields: `"spec":{"replicas":2,"paused":false}`, is: webIs, want: found("spec.paused: false", "true")},
		{
			name: "a value deep inside", fields: `"spec":{"template":{"spec":{"containers":[{},{"name":"cache"}]}}}`, is: webIs,
			want: found(`spec.template.spec.containers[1].name: "cache"`, `"db"`),
		},
		{
			name: "a list of another length", fields: `"spec":{"template":{"spec":{"containers":[{"name":"web"}]}}}`, is: webIs,
			want: found(`spec.template.spec.containers: [{"name":"web"}]`, `[{"image":"a","name":"web"},{"name":"db"}]`),
		},
		{name: "a field that is missing", fields: `"status":{"replicas":3}`, is: webIs, want: found(`status: {"replicas":3}`, "there is none")},
		{name: "a field that must not be there", fields: `"spec":{"paused":null,"other":null}`, is: webIs, want: found("spec.paused: null", "true")},
		{name: "another type", fields: `"spec":{"replicas":"3"}`, is: webIs, want: found(`spec.replicas: "3"`, "3")},
		{name: "a mapping for a value", fields: `"spec":{"replicas":{}}`, is: webIs, want: found("spec.replicas: {}", "3")},
		{
			name: "an annotation", fields: `"metadata":{"namespace":"app","name":"web","annotations":{"example.io/a":"1"}}`,
			is:   `{"metadata":{"namespace":"app","name":"web","annotations":{"example.io/a":"2"}},"apiVersion":"apps/v1","kind":"Deployment"}`,
			want: found(`metadata.annotations[example.io/a]: "1"`, `"2"`),
		},
		{name: "no object", fields: `"spec":{}`, want: found("it is in the cluster", "there is none")},
	} {
		result := Pass
		if test.want != nil {
			result = Fail
		}
		judged{
			name: test.name, change: func(s *scenario.Scenario) { s.Expect.Manifests = []scenario.Manifest{expects(t, test.fields)} },
			trace: healthy().rests(1, 0).restsAs(web, test.is).settles(), result: result, found: test.want,
		}.run(t)
	}
}

// TestItemsOfADeviation: a deviation has its own.
func TestItemsOfADeviation(t *testing.T) {
	s := scenario.Scenario{Expect: scenario.Expect{
		Outcomes:  scenario.Outcomes{Manifests: []scenario.Manifest{expects(t, `"spec":{"replicas":3}`)}},
		Deviation: &scenario.Deviation{Outcomes: scenario.Outcomes{Manifests: []scenario.Manifest{expects(t, `"spec":{"replicas":0}`)}}},
	}}
	tr := begin().restsAs(web, `{"spec":{"replicas":0},"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"app","name":"web"}}`).settles()
	r := fold(&s, tr)
	if found := r.items(s.Expect.Manifests); len(found) != 1 || found[0].Object != web {
		t.Errorf("as users need it: %+v", found)
	}
	if found := r.items(s.Expect.Deviation.Manifests); len(found) != 0 {
		t.Errorf("as the release does: %+v", found)
	}
	if diff := cmp.Diff(1, len(s.Expect.Items())); diff != "" {
		t.Errorf("objects that are looked at (-want +got):\n%s", diff)
	}
}

// TestItemsAreMissing: a trace that does not say what became of the object shows too little.
func TestItemsAreMissing(t *testing.T) {
	judged{
		name: "an old trace", change: func(s *scenario.Scenario) { s.Expect.Manifests = []scenario.Manifest{expects(t, `"spec":{}`)} },
		trace: healthy().rests(1, 0).settles(), result: Inconclusive, found: []brief{{"completeness", "its manifest at rest", "the trace has none"}},
	}.run(t)
}
