package cluster

import (
	"fmt"

	"github.com/velosim/velosim/sim/scenario"
)

// The errors that Velero sees of what strikes the object store and plugins.
const (
	OutageError    = "the object store is out of reach"
	ImmutableError = "the object is immutable: it can be neither overwritten nor deleted"
	// CrashError is what gRPC makes of a reply that never comes as the process has ended.
	CrashError = "rpc error: code = Unavailable desc = error reading from server: EOF"
)

// Torn says in words, for the trace, that half of what is put at the key is stored.
func Torn(key string, t scenario.Tear) string {
	if t.Error == "" {
		return "half of " + key + " is stored, as if it were all"
	}
	return fmt.Sprintf("half of %s is stored, and the put fails: %s", key, t.Error)
}

// Crashed says in words that a plugin's process ends.
func Crashed(whose, what string, after bool) string {
	if after {
		return fmt.Sprintf("%s process ends after its %s, before the reply", whose, what)
	}
	return fmt.Sprintf("%s process ends before its %s", whose, what)
}

// Slow says in words that an access to the object store takes longer, or its reply.
func Slow(a scenario.Access, f scenario.Fault) string {
	what := "the %s of %s is held up for %s%s"
	if f.At.After {
		what = "the reply to the %s of %s is held up for %s%s"
	}
	return fmt.Sprintf(what, a.Verb, a.Key, f.Do.Latency, often(f))
}

// Severed says in words what a fault does to the server's way to the API server.
func Severed(d scenario.Do) string {
	switch {
	case d.StaleCache.Duration > 0:
		return fmt.Sprintf("nothing that changes comes to the server's caches for %s", d.StaleCache)
	case d.APIOutage.Duration > 0:
		return fmt.Sprintf("the API server is out of the server's reach for %s", d.APIOutage)
	}
	return "every watch of the server ends"
}

// OnServer says in words what a fault does to the server.
func OnServer(d scenario.Do) string {
	switch {
	case d.Kill != nil:
		return fmt.Sprintf("the server is killed, and restarted after %s", d.Kill.RestartAfter)
	case d.Rollout != nil:
		return fmt.Sprintf("another server starts, and the one that runs is killed after %s", d.Rollout.Overlap)
	}
	return fmt.Sprintf("the server is paused for %s", d.Pause)
}

// Down is why a fault does nothing to a server that does not run.
const Down = "the server was down"
