// Package cluster is what the worlds with a Kubernetes API have in common: which objects a scenario puts into the cluster, and
// what is read of Velero's when a run has ended.
//
//	c := cluster.Cluster{Scenario: job.Scenario, Velero: "velero"}
//	objects, err := c.Objects(cluster.Location{Provider: "velosim.io/memory"})
//
// It imports sim/scenario, sim/trace and Velero's API types, never its controllers.
package cluster
