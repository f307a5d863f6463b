package scenario

import "slices"

// Family is one of the families of faults, as docs/faults.md has them.
type Family string

// The families.
const (
	PluginFault Family = "plugin"
	ServerFault Family = "server"
	APIFault    Family = "api"
	StoreFault  Family = "store"
	UserAction  Family = "user"
)

// Families are all of them.
func Families() []Family {
	return []Family{PluginFault, ServerFault, APIFault, StoreFault, UserAction}
}

// FaultFamilies are those of what goes wrong in the scenario, or the user does meanwhile: to delete, to describe, to back up something else, or to
// have set a time after which a backup expires.
func (s *Scenario) FaultFamilies() []Family {
	var has []Family
	if slices.ContainsFunc(s.Plugins, Plugin.misbehaves) {
		has = append(has, PluginFault)
	}
	if s.CRDs.Lack() {
		has = append(has, APIFault)
	}
	if s.Store.Immutable {
		has = append(has, StoreFault)
	}
	if _, expires := s.Expires(); expires || len(s.Backups) > 1 {
		has = append(has, UserAction)
	}
	for _, f := range s.Faults {
		has = append(has, f.Family())
	}
	return slices.DeleteFunc(Families(), func(f Family) bool { return !slices.Contains(has, f) })
}

// Family of the fault.
func (f Fault) Family() Family {
	switch d := f.Do; {
	case d.Kill != nil || d.Pause.Duration > 0 || d.Rollout != nil:
		return ServerFault
	case d.Severs() || f.At.Write != nil && (d.Refuse != "" || d.LoseReply || d.Latency.Duration > 0):
		return APIFault
	case d.Delete != "" || d.Remove != "" || d.Describe != "":
		return UserAction
	case f.At.Call != nil && d.Crash != nil:
		return PluginFault
	}
	return StoreFault
}

// misbehaves tells whether something is wrong with the plugin, or an operation of its.
func (p Plugin) misbehaves() bool {
	if o := p.Operation; o != nil && (o.Unknown || o.Forgets || o.AfterCancel != "" && o.AfterCancel != Fails || o.fails()) {
		return true
	}
	return p.Start.Fails() || p.Start.Delay.Duration > 0 || p.Execute.TooLarge || p.AreAdditionalItemsReady.Never ||
		p.AppliesTo.strikes() || p.Execute.strikes() || p.Progress.strikes() || p.Cancel.strikes() || p.AreAdditionalItemsReady.strikes()
}

func (b Behaviour) strikes() bool {
	return b.Delay.Duration > 0 || b.Error != "" || b.Hang || b.Panic != ""
}

// fails tells whether the operation does not end well, or reports less than before.
func (o *Operation) fails() bool {
	done, completed := int64(0), false
	for _, step := range o.Progress {
		if step.Failed != "" || step.Done < done && !step.Completed {
			return true
		}
		done, completed = step.Done, step.Completed
	}
	return !completed
}
