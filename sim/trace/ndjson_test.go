package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/velosim/velosim/sim/trace"
)

// write is the trace as a Writer writes it.
func write(t testing.TB, tr trace.Trace) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := trace.NewWriter(&b, tr.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range tr.Events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(tr.End); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	odd := newScript("<odd> & \"quoted\"\n")
	odd.at = 1500 * time.Microsecond
	odd.write("user", `{"a":"<b>&\u2028"}`)
	for name, want := range map[string]trace.Trace{
		"times-out": timesOut(),
		"hangs":     hangs(),
		"restores":  restores(),
		"odd":       odd.end(trace.Stalled, "goroutine 1\n\tx"),
		"empty":     newScript("empty").end(trace.Environment, ""),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := trace.Read(bytes.NewReader(write(t, want)), "x.ndjson")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-written +read):\n%s", diff)
			}
		})
	}
}

// The golden file pins the format: the fields' names, their order, and how time is written.
func TestFormat(t *testing.T) {
	s := newScript("every-body")
	for _, b := range everyBody() {
		s.at += 1500 * time.Millisecond
		s.add(backup, b)
	}
	golden(t, "format.ndjson", string(write(t, s.end(trace.Settled, ""))))
}

func everyBody() []trace.Body {
	return []trace.Body{
		{Created: &trace.Created{Name: "daily-20260102030405", Schedule: "daily", ItemOperationTimeout: trace.Time(4 * time.Hour), Backup: "backup-1"}},
		{Deleted: &trace.Deleted{}},
		{Phase: &trace.Phase{From: "New", To: "InProgress"}},
		{Write: &trace.Write{Client: "backup", Verb: "patch", Resource: "backups", Name: "velero/backup-1", Change: `{"status":{}}`, ResourceVersion: "7", Error: "<lost>"}},
		{Call: &trace.Call{ID: 1, Plugin: mover, Method: "Execute", Controller: "backup", Item: "configmaps/app/settings", Phase: "InProgress"}},
		{Return: &trace.Return{ID: 1, Operation: "mover-1", Progress: progress(1, time.Minute).Progress, Ready: new(true), Selects: "configmaps", Item: "none", Error: "nil map", Panic: true}},
		{Store: &trace.Store{Verb: "put", Key: "velero/backups/backup-1/velero-backup.json", Controller: "backup", Size: 10, Error: "no"}},
		{Fault: &trace.Fault{ID: "fault-1", What: "killed the server"}},
		{Process: &trace.Process{Name: "server", State: "killed"}},
		{Reconcile: &trace.Reconcile{Controller: "backup", Error: "no", Panic: true}},
		{Rest: &trace.Rest{Copy: "store", Phase: "Completed", Attempted: 1, Completed: 1, Ended: true, Operations: []trace.Operation{{ID: "mover-1", Plugin: mover, Item: "configmaps/app/settings", Phase: "Completed"}}}},
		{Item: &trace.Item{Manifest: json.RawMessage(`{"kind":"ConfigMap"}`)}},
		{Plugin: &trace.Plugin{Kind: "BackupItemActionV2", Name: mover}},
		{Left: &trace.Left{Process: "sleep 3600", File: "plugin.tmp"}},
	}
}

// Every field of Body is one that a Writer takes and that everyBody, so TestFormat, has an example of.
func TestEveryBody(t *testing.T) {
	bodies := everyBody()
	typ := reflect.TypeFor[trace.Body]()
	if typ.NumField() != len(bodies) {
		t.Fatalf("Body has %d fields, everyBody has %d", typ.NumField(), len(bodies))
	}
	for i, b := range bodies {
		if reflect.ValueOf(b).Field(i).IsNil() {
			t.Errorf("everyBody()[%d] does not set %s", i, typ.Field(i).Name)
		}
	}
}

// writes counts the calls of Write, and keeps what is written.
type writes struct {
	n int
	b bytes.Buffer
}

func (w *writes) Write(b []byte) (int, error) { w.n++; return w.b.Write(b) }

func TestWriterWritesEachLineAtOnce(t *testing.T) {
	tr := hangs()
	var out writes
	w, err := trace.NewWriter(&out, tr.Header)
	for i, e := range tr.Events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
		if want := i + 2; out.n != want || bytes.Count(out.b.Bytes(), []byte("\n")) != want {
			t.Fatalf("after event %d: %d writes of %d lines, want %d", e.Seq, out.n, bytes.Count(out.b.Bytes(), []byte("\n")), want)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestWriterRefusesWhatReadDoes(t *testing.T) {
	fault := trace.Body{Fault: &trace.Fault{ID: "fault-1"}}
	both := fault
	both.Process = &trace.Process{}
	for name, e := range map[string]trace.Event{
		"gap":       {Seq: 3, At: 20, Body: fault},
		"repeated":  {Seq: 1, At: 20, Body: fault},
		"backwards": {Seq: 2, At: 9, Body: fault},
		"no body":   {Seq: 2, At: 20},
		"two":       {Seq: 2, At: 20, Body: both},
		"huge":      {Seq: 2, At: 20, Body: trace.Body{Fault: &trace.Fault{What: strings.Repeat("x", 64<<20)}}},
	} {
		var b bytes.Buffer
		w, _ := trace.NewWriter(&b, trace.Header{})
		if err := w.Event(trace.Event{Seq: 1, At: 10, Body: fault}); err != nil {
			t.Fatal(err)
		}
		n := b.Len()
		if err := w.Event(e); err == nil || b.Len() != n {
			t.Errorf("%s: error %v, %d bytes written; want an error and none", name, err, b.Len()-n)
		}
	}
	w, _ := trace.NewWriter(new(bytes.Buffer), trace.Header{})
	if err := w.End(trace.End{}); err == nil {
		t.Error("an end without a reason was written")
	}
	if _, err := trace.NewWriter(full{}, trace.Header{}); err == nil {
		t.Error("the writer's error is lost")
	}
}

func TestReadDoctored(t *testing.T) {
	const (
		header = `{"schema":1,"scenario":"s","world":"virtual","velero":"1.18.3","seed":1,"scale":1}` + "\n"
		first  = `{"seq":1,"at":"1s","fault":{"id":"f","what":"w"}}` + "\n"
		end    = `{"end":{"reason":"settled","at":"2s"}}` + "\n"
	)
	for _, tt := range []struct{ name, file, want string }{
		{"another schema", `{"schema":2,"new":true}` + "\n", "x.ndjson:1: schema 2, want 1; read it with the velosim that wrote it, or run the scenario again"},
		{"no schema", "{}\n", "x.ndjson:1: schema 0, want 1; read it with the velosim that wrote it, or run the scenario again"},
		{"not JSON", "kind: Scenario\n", "x.ndjson:1: not a trace's header: invalid character 'k' looking for beginning of value"},
		{"not an object", "[]\n", "x.ndjson:1: not a trace's header: a JSON array, want an object"},
		{"unknown field in the header", `{"schema":1,"colour":"red"}` + "\n", `x.ndjson:1: json: unknown field "colour"`},
		{"unknown field in an event", header + `{"seq":1,"at":"1s","phase":{"to":"New","of":"x"}}` + "\n", `x.ndjson:2: json: unknown field "of"`},
		{"unknown body", header + `{"seq":1,"at":"1s","weather":{}}` + "\n", `x.ndjson:2: json: unknown field "weather"`},
		{"no body", header + `{"seq":1,"at":"1s"}` + "\n", "x.ndjson:2: an event without a body says nothing; set one of created, phase, write, …"},
		{"two bodies", header + `{"seq":1,"at":"1s","fault":{"id":"f","what":"w"},"phase":{"to":"New"}}` + "\n", "x.ndjson:2: an event with 2 bodies, want one"},
		{"a gap", header + first + `{"seq":3,"at":"1s","phase":{"to":"New"}}` + "\n", "x.ndjson:3: seq 3 follows 1; events are missing or out of order"},
		{"twice", header + first + first, "x.ndjson:3: seq 1 follows 1; events are missing or out of order"},
		{"backwards", header + first + `{"seq":2,"at":"999ms","phase":{"to":"New"}}` + "\n", "x.ndjson:3: time runs backwards, from 1s to 999ms"},
		{"before the start", header + `{"seq":1,"at":"-1s","phase":{"to":"New"}}` + "\n", "x.ndjson:2: time runs backwards, from 0s to -1s"},
		{"no time", header + `{"seq":1,"at":"soon","phase":{"to":"New"}}` + "\n", `x.ndjson:2: "soon" is not a time such as 4h0m10s`},
		{"wrong type", header + `{"seq":"1"}` + "\n", `x.ndjson:2: field "seq" holds a JSON string, want int`},
		{"empty line", header + "\n" + first, "x.ndjson:2: an empty line"},
		{"two on a line", header + strings.TrimSpace(first) + end, "x.ndjson:2: more on the line than one JSON object"},
		{"event and end", header + `{"seq":1,"at":"1s","fault":{"id":"f","what":"w"},"end":{"reason":"bound","at":"1s"}}` + "\n", "x.ndjson:2: both an event and the end on one line"},
		{"cut in the middle of the file", header + `{"seq":1,"at":` + "\n" + end, "x.ndjson:2: the line is not complete JSON"},
		{"end without a reason", header + `{"end":{"at":"2s"}}` + "\n", "x.ndjson:2: an end without a reason"},
		{"end too early", header + first + `{"end":{"reason":"bound","at":"0s"}}` + "\n", "x.ndjson:3: the end at 0s is before the last event at 1s"},
		{"after the end", header + first + end + "\n", "x.ndjson:4: a line after the end; the file holds more than one trace, or was appended to"},
		{"two traces", header + end + header + end, "x.ndjson:3: a line after the end; the file holds more than one trace, or was appended to"},
		{"a line too long", header + `{"` + strings.Repeat("x", 64<<20), "x.ndjson:2: a line longer than 67108864 bytes; this is not a trace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := trace.Read(strings.NewReader(tt.file), "x.ndjson")
			if err == nil {
				t.Fatalf("no error, want %s", tt.want)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if errors.Is(err, trace.ErrTruncated) {
				t.Error("the error is ErrTruncated")
			}
		})
	}
}

// However a trace is cut, what was written before is read, and the error says that it was cut.
func TestReadTruncated(t *testing.T) {
	s := newScript("cut")
	s.server("started")
	s.phase(backup, "", "Queued")
	want := s.end(trace.Settled, "")
	b := write(t, want)
	for n := range len(b) - 1 { // without its last newline alone, the trace is whole
		got, err := trace.Read(bytes.NewReader(b[:n]), "x.ndjson")
		if !errors.Is(err, trace.ErrTruncated) {
			t.Fatalf("cut after %d bytes: %v, want ErrTruncated", n, err)
		}
		whole := bytes.Count(b[:n], []byte("\n")) // lines, of which the first is the header
		if b[n] == '\n' {
			whole++
		}
		if diff := cmp.Diff(want.Events[:max(whole-1, 0)], got.Events, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("cut after %d bytes (-want +got):\n%s", n, diff)
		}
		if whole > 0 && got.Header != want.Header || got.End != (trace.End{}) {
			t.Fatalf("cut after %d bytes: header %+v, end %+v", n, got.Header, got.End)
		}
	}
	if _, err := trace.Read(bytes.NewReader(b[:len(b)-1]), "x.ndjson"); err != nil {
		t.Errorf("without the last newline: %v", err)
	}

	lines := bytes.SplitAfter(b, []byte("\n"))
	for name, tt := range map[string]struct{ file, want string }{
		"empty":        {"", "x.ndjson:1: the trace is cut off: there is no end line after 0 events; its run was killed, or is not over"},
		"no end":       {string(bytes.Join(lines[:4], nil)), "x.ndjson:5: the trace is cut off: there is no end line after 3 events; its run was killed, or is not over"},
		"cut line":     {string(bytes.Join(lines[:4], nil)) + `{"seq":4,"a`, "x.ndjson:5: the trace is cut off in the middle of this line; what comes before it can be used"},
		"half a trace": {string(b[:9]), "x.ndjson:1: the trace is cut off in the middle of this line; what comes before it can be used"},
	} {
		_, err := trace.Read(strings.NewReader(tt.file), "x.ndjson")
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
}

func TestReadHugeLine(t *testing.T) {
	s := newScript("huge")
	s.write("user", strings.Repeat("x", 16<<20))
	got, err := trace.Read(bytes.NewReader(write(t, s.end(trace.Settled, ""))), "x.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Events[0].Write.Change); n != 16<<20 {
		t.Errorf("read a change of %d bytes", n)
	}
}

// Whatever Read accepts is written and read again as it was, and can be described and printed.
func FuzzRead(f *testing.F) {
	for _, tr := range []trace.Trace{hangs(), restores()} {
		f.Add(write(f, tr))
	}
	f.Add([]byte("{\"schema\":1}\n{\"seq\":1,\"at\":\"0s\",\"return\":{\"id\":9}}\n{\"end\":{\"reason\":\"x\",\"at\":\"1h\"}}"))
	f.Add([]byte("{\"schema\":1}\n{\"seq\":1,\"at\":\"0s\",\"store\":{\"verb\":\"put\",\"key\":\"\"}}\n{\"seq\":2"))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr, err := trace.Read(bytes.NewReader(b), "x.ndjson")
		for _, verbose := range []bool{false, true} {
			timeline(t, tr, verbose)
		}
		for _, at := range []trace.Time{0, tr.Last()} {
			if _, err := trace.Describe(tr, at).WriteTo(new(bytes.Buffer)); err != nil {
				t.Fatal(err)
			}
		}
		if err != nil {
			return
		}
		again, err := trace.Read(bytes.NewReader(write(t, tr)), "x.ndjson")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tr, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-read +read again):\n%s", diff)
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	tr := timesOut()
	b.SetBytes(int64(len(write(b, tr))))
	for b.Loop() {
		write(b, tr)
	}
}

func BenchmarkRead(b *testing.B) {
	file := write(b, timesOut())
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, err := trace.Read(bytes.NewReader(file), "x.ndjson"); err != nil {
			b.Fatal(err)
		}
	}
}

func Example() {
	// A run whose world was killed while a plugin hung.
	file := `{"schema":1,"scenario":"backup-progress-hangs","world":"virtual","velero":"1.18.3","seed":1,"scale":1}
{"seq":1,"at":"0s","incarnation":1,"process":{"name":"server","state":"started"}}
{"seq":2,"at":"1s","incarnation":1,"object":"backup/backup-1","phase":{"to":"WaitingForPluginOperations"}}
{"seq":3,"at":"11s","incarnation":1,"object":"backup/backup-1","call":{"id":1,"plugin":"example.io/mover","method":"Progress","operation":"mover-1"}}
{"seq":4,"at":"1`
	t, err := trace.Read(strings.NewReader(file), "run.ndjson")
	if errors.Is(err, trace.ErrTruncated) {
		fmt.Println(err)
	}
	_, _ = trace.Describe(t, t.Last()).WriteTo(os.Stdout)
	// Output:
	// run.ndjson:5: the trace is cut off in the middle of this line; what comes before it can be used
	// Scenario:  backup-progress-hangs (world virtual, Velero 1.18.3, seed 1)
	// At:        11s
	// Server:    started at 0s (incarnation 1)
	//
	// Name:         backup/backup-1
	// Phase:        WaitingForPluginOperations, since 1s
	// Waiting for:  a reply to example.io/mover Progress mover-1, since 11s
}
