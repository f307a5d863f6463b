package scenario

// BreakWatches ends every watch that the server has, as an API server does that restarts, or a load balancer that closes what is idle. The
// server's informers watch again from where they were.
type BreakWatches struct{}

// CRDs are what Velero's own CustomResourceDefinitions are like, such as after an upgrade of the server without that of its CRDs
// (velero install --crds-only).
type CRDs struct {
	// Backup is that of backups.
	Backup CRD `json:"backup,omitzero"`
	// Restore is that of restores.
	Restore CRD `json:"restore,omitzero"`
}

// Lack tells whether one of them lacks something.
func (c CRDs) Lack() bool { return len(c.Backup.Lacks)+len(c.Restore.Lacks) > 0 }

// CRD is a CustomResourceDefinition.
type CRD struct {
	// Lacks are the phases that it does not have: the API server refuses them as Invalid.
	Lacks []string `json:"lacks,omitempty"`
}
