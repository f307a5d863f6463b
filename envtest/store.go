package envtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// access records an access to the object store, and says what becomes of it.
func (r *run) access(p host.Process, a trace.Store) (fault host.StoreFault, done func(trace.Store)) {
	s := r.serverOf(p)
	if s == nil {
		<-r.ctx.Done()
		return fault, func(trace.Store) {}
	}
	var failures error
	torn, key := false, strings.TrimPrefix(a.Key, cluster.Bucket+"/")
	for _, x := range r.points.Access(a.Verb, a.Key, false) {
		switch {
		case x.Do.Fail != "":
			r.struck(x, "the access fails: "+x.Do.Fail)
			failures = errors.Join(failures, errors.New(x.Do.Fail))
		case x.Do.Lose != nil:
			r.struck(x, key+" is gone")
			fault.Lose = true
		case x.Do.Tear != nil:
			r.struck(x, cluster.Torn(key, *x.Do.Tear))
			torn, fault.Late = true, x.Do.Tear.Error
		case x.Do.Hang != nil:
			r.struck(x, fmt.Sprintf("the %s of %s hangs", a.Verb, key))
			<-r.ctx.Done()
		case x.Do.Latency.Duration > 0:
			r.struck(x, cluster.Slow(*x.At.Store, x))
			r.sleep(x.Do.Latency.Duration)
		case x.Do.Crash != nil:
			cut := a
			cut.Error = cluster.CrashError
			r.crash(p, x, cluster.Crashed("the object store's", a.Verb+" of "+key, false), s.incarnation, "", trace.Body{Store: &cut})
		default:
			r.strikeAt(s, []scenario.Fault{x})
		}
	}
	switch {
	case r.outOfReach():
		failures = errors.Join(failures, errors.New(cluster.OutageError))
	case r.job.Scenario.Store.Immutable && (a.Verb == "put" || a.Verb == "delete") && r.has(a.Key):
		failures = errors.Join(failures, errors.New(cluster.ImmutableError))
	}
	if failures != nil {
		fault.Fail = failures.Error()
	}
	return fault, func(outcome trace.Store) {
		if fault.Fail == "" && full(outcome.Error) {
			r.fail(fmt.Errorf("the folder of the object store, %s: %s", r.kept, outcome.Error))
		}
		if torn && outcome.Error == "" {
			outcome.Size /= 2
			if err := os.Truncate(r.file(a.Key), int64(outcome.Size)); err != nil {
				r.fail(fmt.Errorf("failed to tear %s: %w", a.Key, err))
			}
			outcome.Error = fault.Late
		}
		r.rec.add(s.incarnation, "", trace.Body{Store: &outcome})
		for _, x := range r.points.Access(a.Verb, a.Key, true) {
			switch {
			case x.Do.Latency.Duration > 0:
				r.struck(x, cluster.Slow(*x.At.Store, x))
				r.sleep(x.Do.Latency.Duration)
			case x.Do.Crash != nil:
				r.crash(p, x, cluster.Crashed("the object store's", a.Verb+" of "+key, true), s.incarnation, "")
			default:
				r.strikeAt(s, []scenario.Fault{x})
			}
		}
	}
}

// struck records that a fault strikes: once, if it goes on to.
func (r *run) struck(x scenario.Fault, what string) {
	r.mu.Lock()
	again := r.fired[x.ID]
	r.fired[x.ID] = true
	r.mu.Unlock()
	if again {
		return
	}
	r.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, What: what}})
}

func crashes(x scenario.Fault) bool { return x.Do.Crash != nil }

// crash ends a plugin's process, and records how what it was asked for ends. It does not return: there is nobody to return to.
func (r *run) crash(p host.Process, x scenario.Fault, what string, incarnation int, object string, cut ...trace.Body) {
	r.struck(x, what)
	r.rec.add(incarnation, object, cut...)
	if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
		r.fail(fmt.Errorf("failed to end the plugin process %s: %w", p.Executable, err))
	}
	<-r.ctx.Done()
}

// outage has the object store fail every access for a while, after the fault's delay.
func (r *run) outage(x scenario.Fault) {
	begin := func() {
		r.struck(x, fmt.Sprintf("the object store is out of reach for %s", x.Do.Outage))
		r.change(func() { r.outages++ })
		r.after(x.Do.Outage.Duration, func() { r.change(func() { r.outages-- }) })
	}
	if x.At.Delay.Duration > 0 {
		r.after(x.At.Delay.Duration, begin)
		return
	}
	begin()
}

// outOfReach reports whether an outage of the object store goes on.
func (r *run) outOfReach() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outages > 0
}

// file is where an object of the object store is, by bucket/key.
func (r *run) file(key string) string { return filepath.Join(r.kept, "store", filepath.FromSlash(key)) }

// has reports whether the object store has the object.
func (r *run) has(key string) bool {
	_, err := os.Stat(r.file(key))
	return err == nil
}

// stored reads an object of the object store.
func (r *run) stored(key string) ([]byte, bool) {
	data, err := os.ReadFile(r.file(key))
	return data, err == nil
}

// full reports whether an error is the machine's, and says nothing of Velero.
func full(err string) bool {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		if strings.Contains(err, e.Error()) {
			return true
		}
	}
	return false
}
