package scenario

// Kill ends the server at once, as SIGKILL does, and its plugin processes with it.
type Kill struct {
	// RestartAfter is how long the server stays down. Default: 10s.
	RestartAfter Duration `json:"restartAfter,omitzero"`
}

// Rollout starts another server while the one that runs goes on, and kills that one later. Velero has no leader election, so that both act
// meanwhile. Velero's Deployment says neither how it is updated nor how long its pod may take to end (pkg/install/deployment.go): by
// Kubernetes' defaults, the next pod starts first, and the old one has 30 s.
type Rollout struct {
	// Overlap is how long both run. Default: 30s.
	Overlap Duration `json:"overlap,omitzero"`
}

// OnServer tells whether it is done to the server's process.
func (d Do) OnServer() bool { return d.lasting() != nil }

// lasting is how long what the fault does to the server goes on, counted from its delay; nil: it does nothing to that.
func (d *Do) lasting() *Duration {
	switch {
	case d.Kill != nil:
		return &d.Kill.RestartAfter
	case d.Rollout != nil:
		return &d.Rollout.Overlap
	case d.Pause.Duration > 0:
		return &d.Pause
	}
	return nil
}
