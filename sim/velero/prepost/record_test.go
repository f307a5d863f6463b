package prepost

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/velosim/velosim/sim/actions"
)

func TestRecordOf(t *testing.T) {
	for name, test := range map[string]struct {
		annotation string
		own        bool
	}{
		"none":              {"", false},
		"garbage":           {"{garbage", false},
		"another type":      {`{"run": 7}`, false},
		"no run":            {`{}`, false},
		"a copy's":          {`{"run": "uid-2"}`, false},
		"its own":           {`{"run": "uid-1"}`, true},
		"its own, and more": {`{"run": "uid-1", "later": true}`, true},
	} {
		b := newBackup(velerov1.BackupPhaseCompleted)
		b.Annotations = map[string]string{Annotation: test.annotation}
		if own := recordOf(b) != nil; own != test.own {
			t.Errorf("%s: %t, want %t", name, own, test.own)
		}
	}
}

func TestUpdateKeepsWhatAnotherServerHasWritten(t *testing.T) {
	b := begun(velerov1.BackupPhaseFailed, record{})
	c := newCluster(t, b)
	s := newServer(t.Context(), c, "a", quiesce(nil))
	for _, change := range []func(*record){
		func(r *record) { r.Pre = with(r.Pre, actions.Status{PluginName: plugin, Phase: actions.InProgress}) },
		func(r *record) { r.Post = with(r.Post, actions.Status{PluginName: plugin, Phase: actions.Completed}) },
		func(r *record) { r.Pre = with(r.Pre, actions.Status{PluginName: plugin, Phase: actions.Failed}) },
	} {
		if _, err := s.update(t.Context(), "backup", b, change); err != nil { // each by what it has read at first
			t.Fatal(err)
		}
	}
	want := &record{
		Run: "uid-1", Pre: []actions.Status{{PluginName: plugin, Phase: actions.Failed}},
		Post: []actions.Status{{PluginName: plugin, Phase: actions.Completed}},
	}
	if diff := cmp.Diff(want, recordOf(c.get(t))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUpdateOfAnotherOfTheSameName(t *testing.T) {
	c := newCluster(t, begun(velerov1.BackupPhaseFailed, record{}))
	earlier := begun(velerov1.BackupPhaseFailed, record{})
	earlier.UID = "uid-0"
	_, err := newServer(t.Context(), c, "a", quiesce(nil)).update(t.Context(), "backup", earlier, func(*record) { t.Error("it is changed") })
	if !apierrors.IsNotFound(err) {
		t.Errorf("%v, want that it is not found", err)
	}
}

// An object's annotations may have 256 KiB in all, and more is refused for ever.
func TestMessagesAreShort(t *testing.T) {
	var s actions.Status
	end(&s, errors.New(strings.Repeat("ü", 200<<10)))
	if len(s.Message) > maxMessage+len("…") || !strings.HasPrefix(s.Message, "üü") || !strings.HasSuffix(s.Message, "ü…") {
		t.Errorf("%d bytes: %.20s", len(s.Message), s.Message)
	}
}
