package scenario

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// manifests checks what velosim needs to know of an object, and what no API server accepts; the rest the API server checks itself.
func (l *linter) manifests() {
	for i, m := range l.scenario.Manifests {
		if path := fmt.Sprintf("manifests[%d]", i); l.decoded(path) {
			l.manifest(i, path, m)
		}
	}
}

func (l *linter) manifest(i int, path string, m Manifest) {
	apiVersion, kind := l.needed(path+".apiVersion", m["apiVersion"]), l.needed(path+".kind", m["kind"])
	if apiVersion != "" && kind != "" {
		var kinds []string
		for _, k := range objectKinds() {
			kinds = append(kinds, k.apiVersion+" "+k.kind)
		}
		l.oneOf(path+".kind", apiVersion+" "+kind, "a kind of object that the worlds have", kinds)
	}
	metadata, ok := m["metadata"].(map[string]any)
	if !ok {
		l.complain(path+".metadata", "is missing or no mapping; write metadata: {namespace: app, name: web}")
		return
	}
	namespace, name := l.needed(path+".metadata.namespace", metadata["namespace"]), l.needed(path+".metadata.name", metadata["name"])
	l.valid(path+".metadata.namespace", namespace, "a namespace", validation.IsDNS1123Label(namespace))
	l.valid(path+".metadata.name", name, "a name", validation.IsDNS1123Subdomain(name))
	for _, field := range []string{"uid", "resourceVersion"} {
		if l.has(path + ".metadata." + field) {
			l.complain(path+".metadata."+field, "is set by the API server, which takes no object that has it; remove it")
		}
	}
	if kind == "VolumeSnapshotLocation" && namespace != "" && namespace != VeleroNamespace {
		l.complain(path+".metadata.namespace", "Velero looks for its locations in its own namespace; write %s", VeleroNamespace)
	}
	item, ok := m.Item()
	same := func(other Manifest) bool { of, _ := other.Item(); return of == item }
	switch {
	case !ok:
	case l.has(fmt.Sprintf("items[%d]", slices.Index(l.scenario.Items, item))):
		l.complain(path, "%s is listed under items too; remove it there", quote(string(item)))
	case slices.ContainsFunc(l.scenario.Manifests[:i], same):
		l.complain(path, "%s is there twice; remove one", quote(string(item)))
	}
}

// needed is the string that a manifest must have at the path.
func (l *linter) needed(path string, value any) string {
	s, ok := value.(string)
	switch {
	case value == nil || ok && s == "":
		l.complain(path, "is missing or empty; a manifest has apiVersion, kind, metadata.namespace and metadata.name")
	case !ok:
		l.complain(path, "want a string; put it in quotes")
	}
	return s
}
