package property

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/scenario"
)

// intents draws what strikes and what the user does, but for where.
func (d *drawing) intents() {
	objects := d.named("")
	backups := d.named("backup/")
	for range one(d, "faults", 1, 0, 1, 0, 2, 3) {
		var do scenario.Do
		switch one(d, "fault",
			"kill", "kill", "kill", "kill", "kill", "fail", "fail", "fail", "lose", "delete", "describe", "remove", "refuse", "refuse", "lose reply", "latency",
			"crash", "crash", "tear", "hang", "outage", "location", "pause", "pause", "rollout",
			"watches", "stale", "stale", "api outage",
		) {
		case "kill":
			do.Kill = &scenario.Kill{RestartAfter: one(d, "restart after", lengths("0s", "1s", "1m", "1h")...)}
		case "watches":
			do.BreakWatches = &scenario.BreakWatches{}
		case "stale":
			do.StaleCache = one(d, "stale", lengths("30s", "1s", "5m")...)
		case "api outage":
			do.APIOutage = one(d, "api outage", lengths("10s", "1s", "1m", "1h")...)
		case "pause":
			do.Pause = one(d, "pause", lengths("10s", "1m", "1h", "10h")...)
		case "rollout":
			do.Rollout = &scenario.Rollout{Overlap: one(d, "overlap", lengths("10s", "1m", "1h")...)}
		case "fail":
			do.Fail = "no route to host"
		case "lose":
			do.Lose = &scenario.Lose{}
		case "refuse":
			do.Refuse = one(d, "reason", "Conflict", "ServiceUnavailable", "InternalError", "TooManyRequests")
		case "lose reply":
			do.LoseReply = true
		case "latency":
			do.Latency = one(d, "latency", lengths("1s", "10s", "1m")...)
		case "crash":
			do.Crash = &scenario.Crash{}
		case "tear":
			do.Tear = &scenario.Tear{Error: one(d, "error of the put", "connection reset", "")}
		case "hang":
			do.Hang = &scenario.Hang{}
		case "outage":
			do.Outage = one(d, "outage", lengths("10s", "1m", "10m", "1h")...)
		case "location":
			do.Location = one(d, "location", scenario.ReadOnly, scenario.Removed)
			if d.rarely("location for a time", 2) {
				undone := map[scenario.LocationChange]scenario.LocationChange{scenario.ReadOnly: scenario.ReadWrite, scenario.Removed: scenario.Created}
				d.intends = append(d.intends, scenario.Do{Location: undone[do.Location]})
			}
		case "delete":
			do.Delete = one(d, "delete", objects...)
		case "describe":
			do.Describe = one(d, "describe", objects...)
		case "remove":
			do.Remove = one(d, "remove", backups...)
		}
		d.intends = append(d.intends, do)
	}
}

// faults draws where they strike.
func (d *drawing) faults() {
	for i, do := range d.intends {
		f := scenario.Fault{Do: do}
		if d.rarely("named fault", 10) {
			f.ID = fmt.Sprintf("strike-%d", i+1)
		}
		switch object := do.Delete + do.Describe + do.Remove; {
		case object != "":
			f.At = d.phasePoint(object)
			f.At.Delay = d.after("user's delay")
		case do.Location != "":
			f.At = d.phasePoint(one(d, "object", d.named("")...))
			f.At.Delay = d.after("user's delay")
		case do.Latency.Duration > 0 && d.rarely("slow store", 2):
			if f.At = d.storePoint(d.named(""), false); f.At.Store == nil {
				continue
			}
			f.At.After = d.rarely("reply", 2)
		case do.Refuse != "" || do.LoseReply || do.Latency.Duration > 0:
			if f.At = d.writePoint(do); f.At.Write == nil {
				continue
			}
			if do.Refuse != "" {
				if f.Times = one(d, "times", 0, 0, 3, 8); f.Times == 0 && d.rarely("for a time", 4) {
					f.For = one(d, "for", lengths("10s", "1m", "10m")...)
				}
			}
		case do.Crash != nil:
			if f.At = d.killPoint(); f.At.Phase != "" {
				continue
			}
			f.At.Delay = scenario.Duration{}
		case !do.OnServer() && !do.Severs() && do.Outage.Duration == 0:
			if f.At = d.storePoint(d.named(""), do.Lose != nil); f.At.Store == nil || do.Tear != nil && f.At.Store.Verb != "put" {
				continue
			}
		default:
			f.At = d.killPoint()
		}
		if do.APIOutage.Duration > 0 && d.starts() {
			continue
		}
		same := func(other scenario.Fault) bool { return reflect.DeepEqual(other.At, f.At) }
		if !slices.ContainsFunc(d.s.Faults, same) {
			d.s.Faults = append(d.s.Faults, f)
		}
	}
}

// starts tells whether a server may start when others run already: it ends at once if that meets an outage of the API server.
func (d *drawing) starts() bool {
	return slices.ContainsFunc(d.intends, func(do scenario.Do) bool { return do.Kill != nil || do.Rollout != nil })
}

// writePoint draws the patch that brings one of the objects to a phase; none, if nobody patches it to that. Of replies only those of the
// queue are lost: the model does not know that Velero forgets a run whose first patch it takes for lost, and repeats the last blindly.
func (d *drawing) writePoint(do scenario.Do) (p scenario.Point) {
	at := d.phasePoint(one(d, "object", d.named("")...))
	if at.Phase == "New" || do.LoseReply && at.Phase != "Queued" && at.Phase != "ReadyToStart" {
		return p
	}
	p.Write = &scenario.Write{Object: at.Object, Verb: "patch", Phase: at.Phase}
	p.After = do.Latency.Duration > 0 && d.rarely("reply", 2)
	return p
}

func (d *drawing) killPoint() scenario.Point {
	kinds := []string{"phase", "store"}
	calls := d.calls(
		scenario.BackupItemAction, scenario.RestoreItemAction,
		scenario.PreBackupAction, scenario.PostBackupAction, scenario.PreRestoreAction, scenario.PostRestoreAction,
	)
	if len(calls) > 0 {
		kinds = append(kinds, "call", "call")
	}
	var p scenario.Point
	switch one(d, "point", kinds...) {
	case "call":
		p.Call = d.callOf(calls)
		p.Nth, p.After = d.nth(p.Call), d.rarely("after the reply", 3)
	case "store":
		if p = d.storePoint(d.named(""), false); p.Store != nil {
			p.After = d.rarely("after the access", 2)
		}
	default:
		p = d.phasePoint(one(d, "object", d.named("")...))
	}
	p.Delay = d.after("delay")
	return p
}

// storePoint draws an access to what is stored of one of the objects, of what is read if it is to be lost; a phase, if a scenario cannot
// name what is stored of it.
func (d *drawing) storePoint(of []string, read bool) scenario.Point {
	object := one(d, "object", of...)
	if strings.HasPrefix(object, "backup/daily-") || d.rejected(object) { // a schedule's backups have the time in their names
		return d.phasePoint(object)
	}
	kind, name, _ := strings.Cut(object, "/")
	type access struct{ verb, key string }
	accesses := []access{{"put", "restore-%s-itemoperations.json.gz"}, {"put", "restore-%s-results.gz"}, {"put", "restore-%s-logs.gz"}}
	switch {
	case kind == "restore" && (read || d.waits(object)):
		accesses = []access{{"get", "restore-%s-itemoperations.json.gz"}, {"exists", "restore-%s-itemoperations.json.gz"}}
	case kind == "backup" && (read || d.rarely("read", 3)):
		accesses = []access{{"get", "%s-itemoperations.json.gz"}, {"exists", "%s-itemoperations.json.gz"}}
	case kind == "backup":
		accesses = []access{
			{"put", "velero-backup.json"},
			{"put", "%s-itemoperations.json.gz"},
			{"put", "%s-results.gz"},
			{"put", "%s.tar.gz"},
			{"put", "%s-logs.gz"},
			{"exists", "velero-backup.json"},
			{"put", "%s-resource-list.json.gz"},
		}
	}
	a := one(d, "access", accesses...)
	key := kind + "s/" + name + "/" + strings.ReplaceAll(a.key, "%s", name)
	return scenario.Point{Store: &scenario.Access{Verb: a.verb, Key: key}, Nth: one(d, "nth", 0, 0, 0, 0, 2)}
}

// phasePoint draws a phase that the object likely comes to.
func (d *drawing) phasePoint(object string) scenario.Point {
	phases := []string{"New"}
	if strings.HasPrefix(object, "backup/") {
		phases = append(phases, "ReadyToStart", "Queued")
	}
	if d.rejected(object) {
		return scenario.Point{Object: object, Phase: one(d, "phase", append(phases, "FailedValidation")...)}
	}
	phases = append(phases, "InProgress", "InProgress")
	poor := ""
	if d.fails(object) {
		poor = "PartiallyFailed"
	}
	if d.waits(object) {
		phases = append(phases, "WaitingForPluginOperations"+poor, "WaitingForPluginOperations"+poor)
	}
	if poor == "" && !d.fares(object) {
		poor = "PartiallyFailed"
	}
	phases = append(phases, "Finalizing"+poor, map[string]string{"": "Completed", "PartiallyFailed": "PartiallyFailed"}[poor])
	return scenario.Point{Object: object, Phase: one(d, "phase", phases...)}
}

// rejected tells whether the object fails validation: its backup is not there, or stored where nothing is.
func (d *drawing) rejected(object string) bool {
	kind, name, _ := strings.Cut(object, "/")
	if kind == "restore" {
		name = d.s.RestoreNamed(name).Backup
	}
	spec := d.spec(name)
	return spec == nil || spec.StorageLocation != ""
}

// acting are the plugins that are called for the object.
func (d *drawing) acting(object string) []scenario.Plugin {
	action := scenario.BackupItemAction
	if strings.HasPrefix(object, "restore/") {
		action = scenario.RestoreItemAction
	}
	return slices.DeleteFunc(slices.Clone(d.s.Plugins), func(p scenario.Plugin) bool { return p.Action != action })
}

// fails tells whether some Execute likely fails.
func (d *drawing) fails(object string) bool {
	return slices.ContainsFunc(d.acting(object), func(p scenario.Plugin) bool {
		return p.Execute.Error+p.Execute.Panic != "" && p.Execute.Nth < 2
	})
}

// waits tells whether some operation likely goes on when the object's items are done.
func (d *drawing) waits(object string) bool {
	return slices.ContainsFunc(d.acting(object), func(p scenario.Plugin) bool {
		steps := 0
		if p.Operation != nil {
			steps = len(p.Operation.Progress)
		}
		return steps > 0 && p.Operation.Progress[steps-1].At.Duration >= lengths("10s")[0].Duration
	})
}

// fares tells whether all operations likely end well.
func (d *drawing) fares(object string) bool {
	return !slices.ContainsFunc(d.acting(object), func(p scenario.Plugin) bool { return p.Operation != nil && !d.ends(p) })
}
