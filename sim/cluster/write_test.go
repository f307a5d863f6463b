package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/velosim/velosim/sim/cluster"
	"github.com/velosim/velosim/sim/scenario"
)

// TestNewWrite: a write is named as points name it, whatever the cluster calls what is written.
func TestNewWrite(t *testing.T) {
	names := scenario.NewNaming(&scenario.Scenario{Schedules: []scenario.Schedule{{Name: "daily", Backups: 2}}})
	for name, test := range map[string]struct {
		verb, object, from, body string
		want                     cluster.Write
	}{
		"a patch of the phase": {
			"patch", "backup/b", "InProgress", `{"status":{"phase":"Finalizing"}}`,
			cluster.Write{Object: "backup/b", Verb: "patch", From: "InProgress", Phase: "Finalizing"},
		},
		"the first one":                 {"patch", "backup/b", "", `{"status":{"phase":"Queued"}}`, cluster.Write{Object: "backup/b", Verb: "patch", From: "New", Phase: "Queued"}},
		"a patch of something else":     {"patch", "restore/r", "InProgress", `{"status":{"progress":{}}}`, cluster.Write{Object: "restore/r", Verb: "patch", From: "InProgress"}},
		"an update that leaves it":      {"update", "backup/b", "Completed", `{"status":{"phase":"Completed"}}`, cluster.Write{Object: "backup/b", Verb: "update", From: "Completed"}},
		"a deletion":                    {"delete", "backup/b", "Deleting", `{"kind":"DeleteOptions"}`, cluster.Write{Object: "backup/b", Verb: "delete", From: "Deleting"}},
		"a schedule's backup":           {"create", "backup/daily-20000101000000", "", `{"status":{}}`, cluster.Write{Object: "backup/daily-1", Verb: "create", Phase: "New"}},
		"a backup that comes back":      {"create", "backup/b", scenario.Deleted, `{"status":{"phase":"Completed"}}`, cluster.Write{Object: "backup/b", Verb: "create", Phase: "Completed"}},
		"a request to delete":           {"patch", "deletebackuprequest/b-x-vw2kd", "", `{"status":{"phase":"InProgress"}}`, cluster.Write{Object: "deletion/b-x", Verb: "patch", From: "New", Phase: "InProgress"}},
		"the location":                  {"patch", "backupstoragelocation/default", "", `{"status":{"phase":"Available"}}`, cluster.Write{Object: "location/default", Verb: "patch", From: "New", Phase: "Available"}},
		"an item, whatever is in it":    {"create", "pods/app/web", "", `{"status":{"phase":"Running"}}`, cluster.Write{Object: "pods/app/web", Verb: "create"}},
		"a body that cannot be decoded": {"patch", "backup/b", "New", `[`, cluster.Write{Object: "backup/b", Verb: "patch", From: "New"}},
		"a request with no name yet":    {"create", "deletebackuprequest/", "", `{}`, cluster.Write{Object: "deletion/", Verb: "create", Phase: "New"}},
	} {
		if diff := cmp.Diff(test.want, cluster.NewWrite(names, test.verb, test.object, test.from, []byte(test.body))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := names.Of("backup/daily-20000101000500"); got != "backup/daily-1" {
		t.Errorf("a backup that was not created has taken the name of %s", got)
	}
}

// TestPointsOfWrites: a fault strikes the writes that its point names, from the nth on, so often or so long as it says.
func TestPointsOfWrites(t *testing.T) {
	d := func(d time.Duration) scenario.Duration { return scenario.Duration{Duration: d} }
	at := scenario.Write{Object: "backup/b", From: "InProgress"}
	patch := cluster.Write{Object: "backup/b", Verb: "patch", From: "InProgress", Phase: "Finalizing"}
	for name, test := range map[string]struct {
		fault scenario.Fault
		write cluster.Write
		after bool
		want  string // of writes, a second apart
	}{
		"once":                        {scenario.Fault{At: scenario.Point{Write: &at}}, patch, false, "x....."},
		"the third and fourth":        {scenario.Fault{At: scenario.Point{Write: &at, Nth: 3}, Times: 2}, patch, false, "..xx.."},
		"for three seconds":           {scenario.Fault{At: scenario.Point{Write: &at, Nth: 2}, For: d(3 * time.Second)}, patch, false, ".xxx.."},
		"any write":                   {scenario.Fault{At: scenario.Point{Write: &scenario.Write{}}}, patch, false, "x....."},
		"of another verb":             {scenario.Fault{At: scenario.Point{Write: &scenario.Write{Verb: "update"}}}, patch, false, "......"},
		"of another object":           {scenario.Fault{At: scenario.Point{Write: &scenario.Write{Object: "backup/c"}}}, patch, false, "......"},
		"to another phase":            {scenario.Fault{At: scenario.Point{Write: &scenario.Write{Phase: "Failed"}}}, patch, false, "......"},
		"not once it was applied":     {scenario.Fault{At: scenario.Point{Write: &at}}, patch, true, "......"},
		"a reply, which comes after":  {scenario.Fault{At: scenario.Point{Write: &at}, Do: scenario.Do{LoseReply: true}}, patch, true, "x....."},
		"and not before":              {scenario.Fault{At: scenario.Point{Write: &at}, Do: scenario.Do{LoseReply: true}}, patch, false, "......"},
		"no write, but a phase":       {scenario.Fault{At: scenario.Point{Phase: "Finalizing", Object: "backup/b"}}, patch, false, "......"},
		"a write, and not the access": {scenario.Fault{At: scenario.Point{Store: &scenario.Access{Verb: "put"}}}, patch, false, "......"},
	} {
		synctest.Test(t, func(t *testing.T) {
			test.fault.ID = "f"
			p := cluster.NewPoints(&scenario.Scenario{Faults: []scenario.Fault{test.fault}})
			got := ""
			for range len(test.want) {
				struck := p.Write(test.write, test.after)
				got += map[bool]string{true: "x", false: "."}[len(struck) == 1]
				time.Sleep(time.Second)
			}
			if got != test.want {
				t.Errorf("%s: struck %s, want %s", name, got, test.want)
			}
		})
	}
}

// TestRefusal: clients see the status that the API server answers for each reason.
func TestRefusal(t *testing.T) {
	for reason, code := range map[string]int32{
		"Conflict": 409, "Forbidden": 403, "InternalError": 500, "Invalid": 422, "NotFound": 404, "ServerTimeout": 500, "ServiceUnavailable": 503,
		"Timeout": 504, "TooManyRequests": 429,
	} {
		err := cluster.Refusal(reason, "patch", schema.GroupResource{Group: "velero.io", Resource: "backups"}, "b")
		if got := apierrors.ReasonForError(err); got != metav1.StatusReason(reason) || err.Status().Code != code {
			t.Errorf("%s: reason %s, code %d, want %d", reason, got, err.Status().Code, code)
		}
		_, waits := apierrors.SuggestsClientDelay(err)
		if want := reason == "TooManyRequests" || reason == "ServerTimeout"; waits && err.Status().Details.RetryAfterSeconds > 0 != want {
			t.Errorf("%s: asks clients to wait: %v, want %v", reason, waits, want)
		}
	}
}
