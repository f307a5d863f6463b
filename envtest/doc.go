// Package envtest is the world of real processes: the unmodified `velero server` executable on a real kube-apiserver and etcd,
// with scripted plugins that are subprocesses of the server, as a user's are.
//
// One control plane serves all jobs of a run, several at a time. Each job has a namespace for Velero and one for each of its
// scenario's, a folder for the object store, and a server process whose requests go through a proxy of its own: there the trace
// sees every write, and there the server is killed when an object was just written. Plugins ask the world what to do over a socket
// (fakeplugins/host), so that nothing is lost when a process dies. All processes are supervised, and end with the world.
//
// A plugin executable of the user's is started by one of ours that lies in its place, registers the same, passes every call on and records it
// (fakeplugins/cmd/velosim-plugins), unless it has pre- or post-actions. A job may have it called without a server, too (package direct).
//
// A scenario with pre- and post-actions is run by velosim-server instead (sim/velero/cmd): the same controllers, which call these. The CRDs have
// what it adds to them for all servers, as they share a control plane.
//
// Time is real: the CLI sends scenarios whose durations are shortened (scenario.Scaled), and the server polls more often.
//
// What differs from a cluster: there is no kube-controller-manager, so that nothing but Velero acts on objects; the server has the
// rights of an administrator; it runs outside the cluster.
//
//	w := envtest.New(envtest.Options{Assets: assets, Server: velero, Plugins: plugins, ActionsServer: server, Velero: "1.18.3"})
//	defer w.Close()
//	err := world.Serve(ctx, w, os.Stdin, os.Stdout)
//
// It imports sim/world, sim/cluster, sim/scenario, sim/trace, sim/phase, sim/actions, fakeplugins and Velero's API types; never a verdict.
package envtest
