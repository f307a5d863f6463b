package virtual

import (
	"errors"
	"fmt"
	"time"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
)

// damage is what faults do to an access to the object store.
type damage struct {
	err error // that it fails with
	// latency is how much longer it takes.
	latency time.Duration
	// torn: it is a put, and stores only half. hangs: it never returns. crashes: the plugin's process ends, so that there is no reply.
	torn, hangs, crashes bool
}

var (
	errOutage  = errors.New(cluster.OutageError)
	errCrashed = errors.New(cluster.CrashError)
)

// access lets the faults strike whose point is this access to the object at path, before or after it.
func (f *faults) access(verb, path string, after bool) (d damage) {
	for _, x := range f.points.Access(verb, path, after) {
		switch key := x.At.Store.Key; {
		case x.Do.Fail != "":
			f.struck(x, "the access fails: "+x.Do.Fail)
			d.err = errors.Join(d.err, errors.New(x.Do.Fail))
		case x.Do.Lose != nil:
			f.struck(x, key+" is gone")
			delete(f.run.objects, cluster.Bucket+"/"+key)
		case x.Do.Tear != nil:
			f.struck(x, cluster.Torn(key, *x.Do.Tear))
			d.torn = true
			if x.Do.Tear.Error != "" {
				d.err = errors.Join(d.err, errors.New(x.Do.Tear.Error))
			}
		case x.Do.Hang != nil:
			f.struck(x, fmt.Sprintf("the %s of %s hangs", verb, key))
			d.hangs = true
		case x.Do.Latency.Duration > 0:
			f.struck(x, cluster.Slow(*x.At.Store, x))
			d.latency += x.Do.Latency.Duration
		case x.Do.Crash != nil:
			f.struck(x, cluster.Crashed("the object store's", verb+" of "+key, after))
			d.crashes = true
		default:
			f.strike(x)
		}
	}
	if f.outages > 0 && !after {
		d.err = errors.Join(d.err, errOutage)
	}
	return d
}

// outage has the object store fail every access for a while.
func (f *faults) outage(x scenario.Fault) {
	f.struck(x, fmt.Sprintf("the object store is out of reach for %s", x.Do.Outage))
	f.outages++
	f.run.after(x.Do.Outage.Duration, func() { f.outages-- })
}
