package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/scenario"
)

// TestStorePoints tries every access to every object. Those wanted are the ones in the virtual world's traces.
func TestStorePoints(t *testing.T) {
	const (
		operation = "plugins: [{name: example.io/mover, operation: {}}]\n"
		elsewhere = "plugins: [{name: example.io/mover, resources: [secrets], operation: {}}]\n"
		posts     = "plugins: [{name: example.io/resume, action: PostBackupAction}, {name: example.io/resume, action: PostRestoreAction}]\n"
		ofRestore = "plugins: [{name: example.io/mover, action: RestoreItemAction, operation: {}}]\n"
		plain     = `
put exists delete     backups/b/velero-backup.json
put delete            backups/b/b.tar.gz
put exists get        backups/b/b-itemoperations.json.gz
put                   backups/b/b-volumeinfo.json.gz
put                   backups/b/b-volumesnapshots.json.gz
put                   backups/b/b-podvolumebackups.json.gz
put                   backups/b/b-resource-list.json.gz
put                   backups/b/b-results.gz
put                   backups/b/b-logs.gz`
		operations = plain + `
get                   backups/b/b.tar.gz
exists get            backups/b/b-volumeinfo.json.gz`
		restored = operations + `
exists get            backups/b/b-volumesnapshots.json.gz
exists                backups/b/b-csi-volumesnapshots.json.gz
put exists get        restores/r/restore-r-itemoperations.json.gz
put exists get        restores/r/restore-r-resource-list.json.gz
put                   restores/r/restore-r-results.gz
put                   restores/r/restore-r-logs.gz
put                   restores/r/r-volumeinfo.json.gz`
		logged = restored + `
put                   backups/b/b-post-actions-logs.gz
put                   restores/r/restore-r-post-actions-logs.gz`
	)
	pairs := func(table string) (pairs []string) {
		for line := range strings.Lines(table) {
			if fields := strings.Fields(line); len(fields) > 0 {
				for _, verb := range fields[:len(fields)-1] {
					pairs = append(pairs, verb+" "+fields[len(fields)-1])
				}
			}
		}
		return pairs
	}
	for _, test := range []struct{ name, with, want string }{
		{"plain", "", plain},
		{"an operation", operation, operations},
		{"a plugin that is not called", elsewhere, plain},
		{"a restore", "restore: {name: r}\n", restored},
		{"a restore's operation", "restore: {name: r}\n" + ofRestore, restored},
		{"post-actions", "restore: {name: r}\n" + posts, logged},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := pairs(test.want)
			for line := range strings.Lines(logged) {
				fields := strings.Fields(line)
				if len(fields) == 0 {
					continue
				}
				for _, verb := range []string{"put", "exists", "get", "delete", "list"} {
					key := fields[len(fields)-1]
					_, errs := scenario.Parse("x.yaml", []byte(minimal+"backup: {name: b}\n"+test.with+"faults:\n"+
						"- {at: {store: {verb: put, key: backups/b/b-results.gz}}, do: {fail: access denied}}\n"+
						"- {at: {store: {verb: "+verb+", key: "+key+"}, after: true}, do: {kill: {}}}\n"))
					if accepted := len(errs) == 0; accepted != slices.Contains(want, verb+" "+key) {
						t.Errorf("%s %s: accepted is %t: %v", verb, key, accepted, errs)
					}
				}
			}
		})
	}
}

// TestOneCauseOneError: what Velero does is not known of a scenario that is wrong elsewhere.
func TestOneCauseOneError(t *testing.T) {
	for _, wrong := range []string{
		"backup: {name: Daily}",
		"restore: {name: Again}",
		"items: [configmaps/app/settings, pods/app/web]",
		"plugins: [{name: example.io/mover, operation: {afterCancel: Never}}]",
		"restor: {}",
	} {
		_, errs := scenario.Parse("x.yaml", []byte(minimal+wrong+`
faults:
- {at: {phase: WaitingForPluginOperations}, do: {kill: {}}}
- {at: {store: {verb: put, key: restores/again/restore-again-logs.gz}}, do: {kill: {}}}
- {at: {store: {verb: get, key: backups/backup-1/backup-1.tar.gz}}, do: {lose: {}}}
`))
		if len(errs) != 1 || strings.HasPrefix(errs[0].Field, "faults") {
			t.Errorf("%s: want one error, which says so, not:\n%v", wrong, errs)
		}
	}
}
