// Package apiserver is a Kubernetes API server in memory, reached as an http.RoundTripper.
//
// Every real client works against it unchanged: client-go's typed, dynamic and discovery clients, reflectors and
// informers, controller-runtime's client and cache. It behaves as the real one where Velero can tell the difference:
// pruning, defaulting and validation of custom resources by apiextensions-apiserver's own packages, resource versions,
// no-op writes, merge, JSON and strategic merge patches, preconditions, generations, finalizers, status subresources,
// watches with replay and 410 Gone. Its smallest use:
//
//	server, err := apiserver.New(apiserver.Options{CRDs: crds.CRDs})
//	config := &rest.Config{
//		Host:          "http://apiserver",
//		Transport:     server.Transport(nil),
//		QPS:           -1,
//		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
//	}
//	clients, err := kubernetes.NewForConfig(config)
//
// A [Gate] sees every request before it is applied, its reply, and every watch event before the watcher does; it may
// delay each of them or put an error in its place. Observers ([Server.OnWrite]) see what became of every write.
//
// The package is made for [testing/synctest]: it starts no goroutine, all its waiting is on channels made by the request
// that waits, and it holds no mutex while it waits or while it calls a Gate or an observer. Time is time.Now. (Give informers a
// resync period there: without one, client-go's reflectors wait on a channel of no bubble, so that the bubble never rests.)
//
// What differs from the real server, on purpose:
//   - JSON only; no OpenAPI, tables, server-side apply, dry run, bookmarks or chunked lists; admission is only the check that
//     an object's namespace exists.
//   - Built-in types are decoded into their Go structs, so that unknown fields are pruned, but not otherwise defaulted or
//     validated beyond their metadata.
//   - No controllers: a deleted namespace is gone at once and leaves its objects behind, owners are not collected, and a
//     propagation policy is ignored. Nothing waits for a grace period.
//   - CustomResourceDefinitions are fixed by [Options] and cannot be written.
//   - timeoutSeconds is ignored: reflectors choose it at random, and a watch that ended by itself would make a run depend on it.
//     A watch lasts until its client or the Gate ends it.
//   - No namespace exists at first, not even default.
//
// It imports Kubernetes' libraries and nothing of velosim.
package apiserver
