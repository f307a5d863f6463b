package apiserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	clientdiscovery "k8s.io/client-go/discovery"
)

// kubernetes is the release whose libraries the server is built from.
const kubernetes = "v1.33.13"

// discovery holds every discovery document, encoded: resources do not change after New.
type discovery struct {
	documents  map[string][]byte // by path
	aggregated map[string][]byte // by path: /api and /apis
}

func newDiscovery(resources []*resource) (discovery, error) {
	d := discovery{map[string][]byte{}, map[string][]byte{}}
	var err error
	add := func(documents map[string][]byte, path string, document any) {
		encoded, encodeErr := json.Marshal(document)
		documents[path] = encoded
		err = errors.Join(err, encodeErr)
	}
	groups := discoverGroups(resources)
	core, named := groups, groups
	core.Items, named.Items = groups.Items[:1], groups.Items[1:]
	add(d.aggregated, "/api", core)
	add(d.aggregated, "/apis", named)

	list, _, _ := clientdiscovery.SplitGroupsAndResources(named)
	list.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}
	add(d.documents, "/apis", list)
	for _, group := range list.Groups {
		group.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"}
		add(d.documents, "/apis/"+group.Name, group)
	}
	_, versions, _ := clientdiscovery.SplitGroupsAndResources(groups)
	for gv, list := range versions {
		list.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}
		path := "/apis/" + gv.String()
		if gv.Group == "" {
			path = "/api/" + gv.Version
		}
		add(d.documents, path, list)
	}
	add(d.documents, "/api", metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIVersions"}, Versions: []string{"v1"},
	})
	major, minor, _ := strings.Cut(strings.TrimPrefix(kubernetes, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	add(d.documents, "/version", apimachineryversion.Info{Major: major, Minor: minor, GitVersion: kubernetes})
	return d, err
}

// discoverGroups returns every group in aggregated form: the core group first, the others by name; their versions in
// order of preference, and the resources by name.
func discoverGroups(resources []*resource) apidiscoveryv2.APIGroupDiscoveryList {
	resources = slices.Clone(resources)
	slices.SortFunc(resources, func(a, b *resource) int {
		return cmp.Or(strings.Compare(a.gr.Group, b.gr.Group), strings.Compare(a.gr.Resource, b.gr.Resource))
	})
	list := apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{APIVersion: apidiscoveryv2.SchemeGroupVersion.String(), Kind: "APIGroupDiscoveryList"},
	}
	for _, r := range resources {
		if n := len(list.Items); n == 0 || list.Items[n-1].Name != r.gr.Group {
			list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: r.gr.Group}})
		}
		group := &list.Items[len(list.Items)-1]
		for _, v := range r.versions {
			i := slices.IndexFunc(group.Versions, func(d apidiscoveryv2.APIVersionDiscovery) bool { return d.Version == v.gvk.Version })
			if i < 0 {
				i = len(group.Versions)
				group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{
					Version: v.gvk.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
				})
			}
			group.Versions[i].Resources = append(group.Versions[i].Resources, v.discover())
		}
	}
	for _, group := range list.Items {
		slices.SortFunc(group.Versions, func(a, b apidiscoveryv2.APIVersionDiscovery) int {
			return -apimachineryversion.CompareKubeAwareVersionStrings(a.Version, b.Version)
		})
	}
	return list
}

func (v *version) discover() apidiscoveryv2.APIResourceDiscovery {
	kind := &metav1.GroupVersionKind{Group: v.gvk.Group, Version: v.gvk.Version, Kind: v.gvk.Kind}
	d := apidiscoveryv2.APIResourceDiscovery{
		Resource: v.gr.Resource, ResponseKind: kind, Scope: apidiscoveryv2.ScopeCluster, SingularResource: v.singular,
		// Also where they are not allowed: Velero leaves alone what cannot be created and deleted.
		Verbs:      []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		ShortNames: v.shortNames, Categories: v.categories,
	}
	if v.namespaced {
		d.Scope = apidiscoveryv2.ScopeNamespace
	}
	if v.status {
		d.Subresources = []apidiscoveryv2.APISubresourceDiscovery{
			{Subresource: "status", ResponseKind: kind, Verbs: []string{"get", "patch", "update"}},
		}
	}
	return d
}

// lookup returns the document that r asks for, and its content type; false if r asks for none.
func (d discovery) lookup(r *http.Request) (document []byte, contentType string, ok bool) {
	if r.Method != http.MethodGet {
		return nil, "", false
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	if strings.Contains(r.Header.Get("Accept"), clientdiscovery.AcceptV2) {
		if document, ok = d.aggregated[path]; ok {
			return document, clientdiscovery.AcceptV2, true
		}
	}
	document, ok = d.documents[path]
	return document, contentJSON, ok
}
