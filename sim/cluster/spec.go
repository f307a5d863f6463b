package cluster

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/velosim/velosim/sim/scenario"
)

// overlay sets what else a spec says.
func (c Cluster) overlay(spec any, more scenario.Spec) error {
	b, err := json.Marshal(c.namespaced(more))
	if err == nil {
		err = json.Unmarshal(b, spec)
	}
	if err != nil {
		return fmt.Errorf("the API does not have this in a spec: %w", err)
	}
	return nil
}

// namespaced is the value with namespaces as the cluster has them, wherever it names some.
func (c Cluster) namespaced(value any) any {
	switch v := value.(type) {
	case scenario.Spec:
		return c.namespaced(map[string]any(v))
	case map[string]any:
		fields := map[string]any{}
		for name, field := range v {
			switch name {
			case "includedNamespaces", "excludedNamespaces":
				field = c.namespaces(field)
			case "namespaceMapping":
				field = c.mapping(field)
			default:
				field = c.namespaced(field)
			}
			fields[name] = field
		}
		return fields
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = c.namespaced(item)
		}
		return items
	}
	return value
}

// namespaces of a list as the cluster has them; what is none, such as "*", stays.
func (c Cluster) namespaces(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	inside := make([]any, len(list))
	for i, item := range list {
		inside[i] = c.namespace(item)
	}
	return inside
}

func (c Cluster) mapping(value any) any {
	fields, ok := value.(map[string]any)
	if !ok {
		return value
	}
	inside := map[string]any{}
	for from, to := range fields {
		inside[fmt.Sprint(c.namespace(from))] = c.namespace(to)
	}
	return inside
}

func (c Cluster) namespace(value any) any {
	name, ok := value.(string)
	if !ok || len(validation.IsDNS1123Label(name)) > 0 {
		return value
	}
	return c.inside(name)
}
