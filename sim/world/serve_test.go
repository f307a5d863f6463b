package world

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/trace"
)

// conversation is the CLI's side of a world served in the test's bubble.
type conversation struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  *bufio.Scanner
	served chan error
}

func serve(t *testing.T, w World) *conversation {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &conversation{t: t, in: inW, lines: bufio.NewScanner(outR), served: make(chan error, 1)}
	go func() {
		c.served <- Serve(t.Context(), w, inR, outW)
		inR.Close()
		outW.Close()
	}()
	c.expect(`{"hello":{"schema":1,"info":{"world":"test","velero":"1.18.3","build":"waits"}}}`)
	return c
}

func (c *conversation) send(line string) { io.WriteString(c.in, line+"\n") }

func (c *conversation) sendJob(id int, name string) {
	b, _ := json.Marshal(frame{Job: new(job(id, name))})
	c.send(string(b))
}

func (c *conversation) expect(lines ...string) {
	c.t.Helper()
	for _, want := range lines {
		if !c.lines.Scan() {
			c.t.Fatalf("the world ended, want %s", want)
		}
		if diff := cmp.Diff(want, c.lines.Text()); diff != "" {
			c.t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func event(id, seq int) string {
	b, _ := json.Marshal(frame{ID: id, Event: &trace.Event{
		Seq: seq, At: trace.Time(seq-1) * trace.Time(time.Hour), Body: process("server", "started"),
	}})
	return string(b)
}

func progress(id int, hours int64) string {
	b, _ := json.Marshal(frame{ID: id, Progress: &Position{At: trace.Time(hours) * trace.Time(time.Hour), Steps: hours}})
	return string(b)
}

func end(id int, e trace.End) string {
	b, _ := json.Marshal(frame{ID: id, End: &e})
	return string(b)
}

func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, &testWorld{mode: "waits"})
		c.sendJob(1, "bad")
		c.expect(`{"id":1,"begin":true}`, event(1, 1), event(1, 2))
		start := time.Now()
		c.expect(progress(1, 2), progress(1, 2))
		if d := time.Since(start); d != 2*progressEvery {
			t.Errorf("two progress frames took %v", d)
		}
		c.send(`{"id":8,"cancel":true}`) // another job's: no effect
		c.expect(progress(1, 2))
		c.send(`{"id":1,"cancel":true}`)
		c.expect(end(1, trace.End{Reason: trace.Environment, At: trace.Time(2 * time.Hour), Detail: "cancelled"}))
		c.send(`{"id":1,"cancel":true}`) // late: no effect
		c.sendJob(2, "good")
		c.expect(`{"id":2,"begin":true}`, event(2, 1), event(2, 2), event(2, 3))
		if !c.lines.Scan() || !strings.HasPrefix(c.lines.Text(), `{"id":2,"end":{"reason":"settled"`) {
			t.Errorf("got %s", c.lines.Text())
		}
		c.in.Close()
		if err := <-c.served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

// A position may lag behind the events; an end may not.
func TestACancelledJobEndsAfterItsEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := serve(t, lagging{&testWorld{mode: "waits"}})
		c.sendJob(1, "bad")
		c.expect(`{"id":1,"begin":true}`, event(1, 1), event(1, 2))
		c.send(`{"id":1,"cancel":true}`)
		c.expect(end(1, trace.End{Reason: trace.Environment, At: trace.Time(time.Hour), Detail: "cancelled"}))
		c.in.Close()
		if err := <-c.served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
}

func TestServeDoesNotWaitForAJobAfterTheEndOfStdin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		c := serve(t, stuck{&testWorld{mode: "waits"}, ended})
		c.sendJob(1, "bad")
		c.expect(`{"id":1,"begin":true}`)
		c.in.Close()
		if err := <-c.served; err != nil {
			t.Errorf("Serve = %v", err)
		}
		close(ended)
	})
}

func TestServeRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"garbage":          {"make me a backup", `failed to read from the CLI: line 1 is not a frame`},
		"an unknown field": {`{"job":{"id":1,"colour":"red"}}`, `unknown field "colour"`},
		"two at once":      {`{"begin":true,"cancel":true}`, "none or several kinds of frame"},
		"none":             {`{"id":3}`, "none or several kinds of frame"},
		"two values":       {`{"id":1,"cancel":true} {}`, "more than one JSON value"},
		"no scenario":      {`{"job":{"id":4}}`, "job 4 has no scenario"},
		"a world's frame":  {`{"id":1,"begin":true}`, "the CLI sent a begin frame, which only a world sends"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Serve(t.Context(), &testWorld{}, strings.NewReader(tt.line+"\n"), io.Discard)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want it to say %q", err, tt.want)
			}
		})
	}
	t.Run("a second job", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := serve(t, &testWorld{mode: "waits"})
			c.sendJob(1, "bad")
			c.expect(`{"id":1,"begin":true}`, event(1, 1), event(1, 2))
			c.sendJob(2, "good")
			want := "job 2 was sent while as many run as this world takes: 1"
			if err := <-c.served; err == nil || err.Error() != want {
				t.Errorf("error = %v", err)
			}
		})
	})
}

func FuzzFrameReader(f *testing.F) {
	f.Add([]byte(`{"hello":{"schema":1,"info":{"world":"virtual"}}}` + "\n" + `{"id":1,"begin":true}` + "\n"))
	f.Add([]byte(`{"id":1,"end":{"reason":"settled","at":"1s"}}`))
	f.Add([]byte("{}\n\n[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newFrameReader(strings.NewReader(string(b)))
		if _, err := r.hello(); err != nil {
			return
		}
		for {
			f, err := r.next()
			if err != nil {
				return
			}
			if f.kind() == "" {
				t.Fatalf("next returned a frame of no kind: %+v", f)
			}
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	var out strings.Builder
	w := &frameWriter{w: &out}
	for b.Loop() {
		out.Reset()
		if err := w.write(frame{ID: 1, Event: &trace.Event{Seq: 1, Body: process("server", "started")}}); err != nil {
			b.Fatal(err)
		}
		if _, err := newFrameReader(strings.NewReader(out.String())).next(); err != nil {
			b.Fatal(err)
		}
	}
}

// stuck is a world whose Run does not end with its context.
type stuck struct {
	World
	end chan struct{}
}

func (s stuck) Run(context.Context, Job, func(trace.Event) error) (trace.End, error) {
	<-s.end
	return trace.End{}, fmt.Errorf("too late")
}

// lagging is a world that never says how far it is.
type lagging struct{ World }

func (lagging) Position(int) Position { return Position{} }
