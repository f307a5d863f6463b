package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/velosim/velosim/sim/actions"
)

// TestMain makes the test binary the plugin if it is started by a link of this name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "notify" {
		main()
		return
	}
	os.Exit(m.Run())
}

// receiver is the webhook's other end.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	answers []int // then 200
	keys    []string
	bodies  []string
}

func newReceiver(t *testing.T, answers ...int) *receiver {
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies = append(r.bodies, fmt.Sprintf("%s %s %s", request.Method, request.Header.Get("Content-Type"), body))
	r.keys = append(r.keys, request.Header.Get("Idempotency-Key"))
	if len(r.answers) > 0 {
		w.WriteHeader(r.answers[0])
		r.answers = r.answers[1:]
	}
}

func (r *receiver) want(t *testing.T, keys ...string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(keys, r.keys); diff != "" {
		t.Errorf("keys of notifications (-want +got):\n%s", diff)
	}
}

func newTestWebhook(t *testing.T, url, timeout string) (*webhook, *logtest.Hook) {
	t.Helper()
	log, hook := logtest.NewNullLogger()
	w, err := newWebhook(log, func(name string) string {
		return map[string]string{urlVariable: url, timeoutVariable: timeout}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	w.wait = time.Millisecond
	return w, hook
}

func backup() *velerov1.Backup {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return &velerov1.Backup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: "backup-1", UID: "1"},
		Status:     velerov1.BackupStatus{Phase: velerov1.BackupPhasePartiallyFailed, StartTimestamp: &at, CompletionTimestamp: &at, Errors: 2, Warnings: 1},
	}
}

func restore() *velerov1.Restore {
	return &velerov1.Restore{
		ObjectMeta: metav1.ObjectMeta{Namespace: "velero", Name: "restore-1", UID: "2"},
		Spec:       velerov1.RestoreSpec{BackupName: "backup-1"},
		Status:     velerov1.RestoreStatus{Phase: velerov1.RestorePhaseFailed, FailureReason: "no cloud"},
	}
}

// The plugin as Velero would call it: a process of its own.
func TestProcess(t *testing.T) {
	r := newReceiver(t)
	t.Setenv(urlVariable, r.URL)
	command := filepath.Join(t.TempDir(), "notify")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, command)
	}
	if err != nil {
		t.Fatal(err)
	}
	log, _ := logtest.NewNullLogger()
	plugins, err := actions.List(t.Context(), command, log)
	if err != nil {
		t.Fatal(err)
	}
	c := actions.NewClient(actions.Options{Log: log})
	defer c.Close()
	for _, p := range plugins {
		var of metav1.Object = backup()
		if strings.HasSuffix(p.Kind.String(), "RestoreAction") {
			of = restore()
		}
		if err := c.Execute(t.Context(), p, of); err != nil {
			t.Error(err)
		}
	}
	r.want(t, "1-finished", "2-finished", "1-started", "2-started") // in the order of kinds
	want := []string{
		`{"event":"finished","kind":"Backup","namespace":"velero","name":"backup-1","phase":"PartiallyFailed","startTimestamp":"2026-01-02T03:04:05Z","completionTimestamp":"2026-01-02T03:04:05Z","errors":2,"warnings":1}`,
		`{"event":"finished","kind":"Restore","namespace":"velero","name":"restore-1","backup":"backup-1","phase":"Failed","errors":0,"warnings":0,"failureReason":"no cloud"}`,
	}
	for i, body := range want {
		want[i] = "POST application/json " + body
	}
	if diff := cmp.Diff(want, r.bodies[:2]); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
}

func TestRetries(t *testing.T) {
	r := newReceiver(t, 503, 429, 500)
	w, _ := newTestWebhook(t, r.URL, "")
	if err := (ofBackup{w, finished}).Execute(t.Context(), backup()); err != nil {
		t.Error(err)
	}
	r.want(t, "1-finished", "1-finished", "1-finished", "1-finished")
}

func TestRefusedForGood(t *testing.T) {
	r := newReceiver(t, 403)
	w, _ := newTestWebhook(t, r.URL, "")
	err := ofRestore{w, finished}.Execute(t.Context(), restore())
	if err == nil || err.Error() != "the webhook answered 403 Forbidden" {
		t.Errorf("error %v", err)
	}
	r.want(t, "2-finished")
}

// A webhook that hangs, or that nobody listens for, is given up at the deadline.
func TestDeadline(t *testing.T) {
	release := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hangs.Close()
	defer close(release)
	nobody := httptest.NewServer(nil)
	nobody.Close()
	for name, url := range map[string]string{"hangs": hangs.URL, "nobody": nobody.URL + "/secret"} {
		t.Run(name, func(t *testing.T) {
			w, _ := newTestWebhook(t, url, "300ms")
			began := time.Now()
			err := ofBackup{w, finished}.Execute(t.Context(), backup())
			if err == nil || !strings.Contains(err.Error(), "gave up after ") || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v", err)
			}
			if took := time.Since(began); took < 300*time.Millisecond {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// Nothing fails because nobody hears of its start.
func TestStartIsNotWorthFailing(t *testing.T) {
	w, hook := newTestWebhook(t, newReceiver(t, 400).URL, "")
	if err := (ofBackup{w, started}).Execute(t.Context(), backup()); err != nil {
		t.Error(err)
	}
	if e := hook.LastEntry(); e == nil || e.Level != logrus.WarnLevel || e.Message != "Nobody was notified of the start" {
		t.Errorf("the last entry of the log is %v", e)
	}
}

func TestConfiguration(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{urlVariable: "example.io/hook"},
		{urlVariable: "ftp://example.io"},
		{urlVariable: "http://"},
		{urlVariable: "http://example.io", timeoutVariable: "30"},
		{urlVariable: "http://example.io", timeoutVariable: "-1s"},
	} {
		_, err := newWebhook(logrus.New(), func(name string) string { return env[name] })
		if err == nil || !strings.HasPrefix(err.Error(), "NOTIFY_") {
			t.Errorf("%v: error %v", env, err)
		}
	}
}
