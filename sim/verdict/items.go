package verdict

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// items compares objects of the cluster with what is expected of them.
func (r *run) items(expected []scenario.Manifest) []Finding {
	var found []Finding
	for _, want := range expected {
		item, _ := want.Item()
		is := r.item(item)
		if is == nil { // completeness says so
			continue
		}
		if len(is.Manifest) == 0 {
			found = append(found, r.atEnd("expectation", string(item), "it is in the cluster", absent))
			continue
		}
		var got map[string]any
		if err := kjson.Unmarshal(is.Manifest, &got); err != nil {
			found = append(found, r.atEnd("expectation", string(item), "a manifest", "it cannot be read: "+err.Error()))
			continue
		}
		if path, want, got := differs("", map[string]any(want), got); path != "" {
			found = append(found, r.atEnd("expectation", string(item), path+": "+want, got))
		}
	}
	return found
}

// item is the object of the cluster at rest; nil: the trace does not say.
func (r *run) item(item scenario.Item) *trace.Item {
	for _, e := range slices.Backward(r.events) {
		if e.Item != nil && e.Object == string(item) {
			return e.Item
		}
	}
	return nil
}

// absent is what is seen of what is not there.
const absent = "there is none"

// differs returns the first field, in the order of their names, that is not as wanted, and both in JSON; an empty path: there is none.
// Fields that are not wanted may be there.
func differs(path string, want, got any) (at, wanted, seen string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(w)) {
			field := strings.TrimPrefix(path+"."+name, ".")
			if strings.ContainsAny(name, "./") { // a label or an annotation
				field = path + "[" + name + "]"
			}
			is, there := g[name]
			if !there && w[name] != nil { // null is what is not there, as for the API server
				return field, inJSON(w[name]), absent
			}
			if at, wanted, seen = differs(field, w[name], is); at != "" {
				return at, wanted, seen
			}
		}
		return "", "", ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if at, wanted, seen = differs(fmt.Sprintf("%s[%d]", path, i), w[i], g[i]); at != "" {
				return at, wanted, seen
			}
		}
		return "", "", ""
	default:
		if want == got {
			return "", "", ""
		}
	}
	return path, inJSON(want), inJSON(got)
}

// inJSON is a value as messages show it.
func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
