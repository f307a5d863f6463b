package model

import (
	"slices"

	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// The starts of a plugin's process, as [scenario.Start] counts them, where nobody else has it started before: that of the run follows the
// server's own, and those of the passes after it follow that.
const runStart = 2

// starts takes in that processes of the plugins may not start: a run fails as a whole, before its items (GetBackupItemActionsV2 in
// runBackup, pkg/controller/backup_controller.go, and GetRestoreItemActionsV2 in restore_controller.go), and a backup's finalizer is
// called again, as often as that takes (backup_finalizer_controller.go).
func (c *casting) starts(plugins []scenario.Plugin) {
	for _, p := range plugins {
		s := c.StartOf(p.Name)
		if !s.Fails() {
			continue
		}
		if s.Times == 0 && p.Action == scenario.BackupItemAction && c.kind == phase.Backup {
			for i := range c.casts {
				c.casts[i].barred = c.casts[i].barred || len(c.casts[i].roles) > 0
			}
		}
		switch exact := c.counted && !c.shared(p); {
		case exact && s.Nth > runStart: // its run has a process
			continue
		case s.Nth == runStart && (exact || s.Times == 0):
			c.casts = nil
		}
		doomed := c.blank(plugins)
		doomed.doomed, doomed.early = true, true
		c.add(doomed)
	}
}

// shared reports whether several plugins have the process.
func (c *casting) shared(p scenario.Plugin) bool {
	return slices.ContainsFunc(c.Plugins, func(other scenario.Plugin) bool { return other.Name == p.Name && other.Action != p.Action })
}

// unserved takes in that a pass may find no process of the plugin that the operation needs, which is as an error of Progress. The first
// call of Progress is made to the process of the run.
func (c *casting) unserved(r *role, p scenario.Plugin) {
	s := c.StartOf(p.Name)
	if !s.Fails() {
		return
	}
	alone := c.counted && len(c.others()) == 0 && len(c.called(p)) == 1 && !c.shared(p)
	if alone && s.Nth > runStart && r.errors.from == 0 && r.hangs.from == 0 && r.forgotten.from == 0 {
		r.errors = misbehaviour{from: s.Nth - 1, times: s.Times}
		return
	}
	r.unserved = true
}
