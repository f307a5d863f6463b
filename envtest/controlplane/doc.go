// Package controlplane runs one Kubernetes control plane, etcd and kube-apiserver, with controller-runtime's envtest, in a
// process of its own that a supervisor (package supervise) ends together with all that it started and wrote.
//
//	func main() {
//		controlplane.Main() // first: it does not return in a process of a control plane
//		c, err := controlplane.Start(ctx, controlplane.Options{Assets: dir, CRDs: velerocrds.All()})
//		…
//		defer c.Stop()
//		clients, err := kubernetes.NewForConfig(c.Config())
//		…
//	}
//
// There are no controllers and no nodes: nothing collects garbage, fills in service accounts or runs pods. kube-apiserver
// holds the creation of a custom resource for 2 s while the CRD is younger than that.
//
// Everything listens on 127.0.0.1 only. kube-apiserver accepts nobody but the administrator of Config; etcd, which knows
// only plain HTTP here, lets every user of this machine in who finds its port.
//
// The package imports supervise and envtest, nothing of Velero.
package controlplane
