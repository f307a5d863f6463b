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
	l.identified(path, m)
	for _, field := range []string{"uid", "resourceVersion"} {
		if l.has(path + ".metadata." + field) {
			l.complain(path+".metadata."+field, "is set by the API server, which takes no object that has it; remove it")
		}
	}
	item, ok := m.Item()
	if ok && item.Resource() == "volumesnapshotlocations" && item.Namespace() != VeleroNamespace {
		l.complain(path+".metadata.namespace", "Velero looks for its locations in its own namespace; write %s", VeleroNamespace)
	}
	switch {
	case !ok:
	case l.has(fmt.Sprintf("items[%d]", slices.Index(l.scenario.Items, item))):
		l.complain(path, "%s is listed under items too; remove it there", quote(string(item)))
	default:
		l.twice(path, i, l.scenario.Manifests)
	}
}

// expected checks what is said of objects of the cluster: of some that the scenario has, or that a plugin or a restore may make.
func (l *linter) expected(path string, manifests []Manifest) {
	l.filled(path, len(manifests), "a part of an object")
	for i, m := range manifests {
		if at := fmt.Sprintf("%s[%d]", path, i); l.decoded(at) {
			l.identified(at, m)
			l.twice(at, i, manifests)
		}
	}
}

// twice reports a manifest whose object one of those before it has, too.
func (l *linter) twice(path string, i int, manifests []Manifest) {
	item, ok := manifests[i].Item()
	if ok && slices.ContainsFunc(manifests[:i], func(m Manifest) bool { of, _ := m.Item(); return of == item }) {
		l.complain(path, "%s is there twice; remove one", quote(string(item)))
	}
}

// identified checks that a manifest says which object it is of.
func (l *linter) identified(path string, m Manifest) {
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
