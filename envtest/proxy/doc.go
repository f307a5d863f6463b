// Package proxy stands between one velero server, with its plugin processes, and the kube-apiserver: it sees every
// request, tells of every write, and lets its user hold, refuse or lose requests and replies.
//
// Clients reach it with the kubeconfig that it writes: TLS on 127.0.0.1 with a certificate and a bearer token of the
// proxy's own, so that client-go speaks HTTP/2 and nobody else can use it. Its smallest use:
//
//	p, err := proxy.Start(proxy.Options{Upstream: config, Hooks: hooks})
//	defer p.Close()
//	err = p.WriteKubeconfig(path) // then start the server with KUBECONFIG=path
//
// Requests and replies go through unchanged, watches event by event. What differs from talking to the kube-apiserver:
//   - the client's own credentials are replaced by those of Options.Upstream;
//   - upgrades (exec, attach, port-forward) are refused with 501;
//   - a write is read whole before it is passed on, and so is its answer before the client gets it;
//   - a write that was passed on is not cancelled when its client goes away: what became of it is always told;
//   - a kube-apiserver that does not answer is a 503 that says so.
//
// # Order
//
// [Hooks.After] is called for the writes to one object one at a time, in the order of their resourceVersions, as far as that is known: of the
// writes that are answered when it is free, the one with the smallest comes first, and the answer to a write waits up to a second for those
// to writes that were passed on before it, as a client may have seen one by a watch, and have written again, before it is answered. The proxy
// does not keep writes to one object apart. So the answer to an earlier write may still come after that to a later one, if both were
// under way at once; then [Response.Late] is set. A write that was passed on after the answers to all others were told is never Late.
// Nothing is promised about the order of different objects.
//
// The package imports Kubernetes' client libraries and, for [Write], sim/trace.
package proxy
