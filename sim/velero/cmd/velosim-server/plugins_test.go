package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/actions"
)

func TestTimeouts(t *testing.T) {
	given := timeouts{}
	for _, s := range []string{"PreBackupAction:example.io/quiesce=1m", "PreBackupAction:example.io/other=2m", "PostBackupAction:example.io/quiesce=3m"} {
		if err := given.Set(s); err != nil {
			t.Error(err)
		}
	}
	want := timeouts{
		actions.PluginKindPreBackupAction:  {"example.io/quiesce": time.Minute, "example.io/other": 2 * time.Minute},
		actions.PluginKindPostBackupAction: {"example.io/quiesce": 3 * time.Minute},
	}
	if diff := cmp.Diff(want, given); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for s, want := range map[string]string{
		"example.io/quiesce=1m":       "is not KIND:NAME=DURATION",
		"PreBackupAction:=1m":         "is not KIND:NAME=DURATION",
		"PreBackupAction:a.io/b":      "is not KIND:NAME=DURATION",
		"PreBackupAction:a.io/b=soon": "invalid duration",
		"PreBackupAction:a.io/b=0s":   "needs some time",
		"BackupItemAction:a.io/b=1m":  "not a kind of pre- or post-action",
	} {
		if err := given.Set(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", s, err, want)
		}
	}
}
