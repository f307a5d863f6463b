package verdict

import (
	"fmt"
	"strings"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// musts finds the points that the run should have passed, and has not, or not so often.
func (r *run) musts(points []scenario.Point) []Finding {
	var found []Finding
	for _, p := range points {
		n := r.passed(p)
		if n >= max(p.Nth, 1) {
			continue
		}
		object := p.Object
		if object == "" {
			object = r.scenario.Object()
		}
		seen := "it never was"
		if n > 0 {
			seen = "it was, " + times(n)
		}
		found = append(found, r.atEnd("expectation", object, fmt.Sprintf("%s is passed, %s or more", point(p), times(max(p.Nth, 1))), seen))
	}
	return found
}

// passed counts how often the run has passed the point, as the worlds count (cluster.Points).
func (r *run) passed(p scenario.Point) (n int) {
	for i, e := range r.events {
		switch {
		case p.Phase == "New":
			if e.Created != nil && e.Object == p.Object {
				n++
			}
		case p.Phase != "":
			if e.Phase != nil && e.Object == p.Object && e.Phase.To == p.Phase {
				n++
			}
		case p.Call != nil:
			if c := r.calls[i]; c != nil && (e.Return != nil) == p.After && c.Plugin == p.Call.Plugin && c.Method == p.Call.Method && (p.Call.Phase == "" || p.Call.Phase == c.Phase) {
				n++
			}
		case p.Store != nil:
			if e.Store != nil && e.Store.Verb == p.Store.Verb && r.key(e.Store) == p.Store.Key {
				n++
			}
		}
	}
	return n
}

// key is that of an access, without the bucket, and with the scenario's name of a schedule's backup.
func (r *run) key(s *trace.Store) string {
	_, key, _ := strings.Cut(s.Key, "/")
	for _, o := range r.objects {
		_, name, _ := strings.Cut(o.name, "/")
		if file, ok := strings.CutPrefix(key, "backups/"+o.id()+"/"); ok && o.id() != name {
			return "backups/" + name + "/" + strings.Replace(file, o.id(), name, 1)
		}
	}
	return key
}

// point tells a point in words.
func point(p scenario.Point) string {
	switch {
	case p.Call != nil:
		return strings.TrimSuffix(fmt.Sprintf("a call of %s %s in %s", p.Call.Plugin, p.Call.Method, p.Call.Phase), " in ")
	case p.Store != nil:
		return fmt.Sprintf("store %s %s", p.Store.Verb, p.Store.Key)
	}
	return fmt.Sprintf("phase %s of %s", p.Phase, p.Object)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
