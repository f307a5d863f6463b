package host_test

import (
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/fakeplugins/filestore"
	"github.com/velosim/velosim/fakeplugins/host"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// Strikes come with the reply to the call that they strike, counted over all processes.
func TestStrikes(t *testing.T) {
	kill, stop := wire.Strike{Do: wire.Kill}, wire.Strike{Do: wire.Stop}
	w := listen(t, scenario.Plugin{Operation: new(scenario.Operation)}, host.Options{Executables: map[string]host.Executable{
		"movers": {Strikes: []host.Strike{
			{Plugin: mover.Name, Method: "Execute", Nth: 2, Times: 1, Strike: kill},
			{Method: "Execute", After: true, Nth: 3, Strike: stop},
			{Plugin: "example.io/other", Strike: kill},
			{Method: "put", Times: 1, Strike: kill},
			{Method: "put", After: true, Nth: 2, Times: 1, Strike: stop},
		}},
	}})
	var got []string
	root := t.TempDir()
	for range 4 {
		c, _ := w.process(t, func(s wire.Strike) { got = append(got, string(s.Do)) })
		b := begin(t, c, "Execute", "")
		got = append(got, "begun")
		finish(t, b)
		got = append(got, "finished")
		accessed, err := c.Access(root, trace.Store{Verb: "put", Key: "velosim/a"})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, "told")
		if err := accessed(trace.Store{}); err != nil {
			t.Fatal(err)
		}
		got = append(got, "put")
	}
	want := strings.Fields("begun finished kill told put kill begun finished told stop put begun stop finished told put begun stop finished told put")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAccess(t *testing.T) {
	root := t.TempDir()
	store, err := filestore.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Put("velosim", "a/b", strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	var told []trace.Store
	w := listen(t, scenario.Plugin{}, host.Options{Access: func(_ host.Process, s trace.Store) (host.StoreFault, func(trace.Store)) {
		told = append(told, s)
		f := host.StoreFault{Lose: s.Verb == "get"}
		switch s.Verb {
		case "put":
			f.Fail = "disk full"
		case "delete":
			f.Late = "connection reset"
		}
		return f, func(s trace.Store) { told = append(told, s) }
	}})
	c, _ := w.process(t, nil)

	accessed, err := c.Access(root, trace.Store{Verb: "put", Key: "velosim/a/b", Size: 3})
	if err == nil || err.Error() != "disk full" {
		t.Errorf("put: %v, want disk full", err)
	}
	if err := accessed(trace.Store{Verb: "put", Key: "velosim/a/b", Size: 3, Error: "disk full"}); err != nil {
		t.Error(err)
	}
	for range 2 { // the second time there is nothing to lose
		if _, err := c.Access(root, trace.Store{Verb: "get", Key: "velosim/a/b"}); err != nil {
			t.Error(err)
		}
		if exists, err := store.Exists("velosim", "a/b"); exists || err != nil {
			t.Errorf("the object is not lost: %t, %v", exists, err)
		}
	}
	accessed, err = c.Access(root, trace.Store{Verb: "delete", Key: "velosim/a/b"})
	if err != nil {
		t.Errorf("delete fails before it has had its effect: %v", err)
	}
	if err := accessed(trace.Store{Verb: "delete", Key: "velosim/a/b"}); err == nil || err.Error() != "connection reset" {
		t.Errorf("delete, when it has had its effect: %v, want connection reset", err)
	}
	want := []trace.Store{
		{Verb: "put", Key: "velosim/a/b", Size: 3},
		{Verb: "put", Key: "velosim/a/b", Size: 3, Error: "disk full"},
		{Verb: "get", Key: "velosim/a/b"},
		{Verb: "get", Key: "velosim/a/b"},
		{Verb: "delete", Key: "velosim/a/b"},
		{Verb: "delete", Key: "velosim/a/b"},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestRefused has processes that the host cannot serve: they are told why, and so is the world.
func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct{ send, want string }{
		"version":    {`{"id":1,"register":{"version":1}}`, "version 1 of the protocol, this world version 4"},
		"executable": {`{"id":1,"register":{"version":4,"executable":"stores","pid":1,"parent":1}}`, `no plugin executable "stores", but movers`},
		"garbage":    {"GET / HTTP/1.1", "the first message must be register"},
		"twice":      {registered + "\n" + registered, "another register"},
		"plugin":     {registered + "\n" + `{"id":2,"call":{"plugin":"a.io/b","action":"BackupItemAction","object":"","call":{"id":0,"plugin":"","method":"Execute"}}}`, "has not registered"},
		"finish":     {registered + "\n" + `{"id":2,"finish":9}`, "no call 9 to finish"},
		"accessed":   {registered + "\n" + `{"id":2,"accessed":{"access":9,"store":{"verb":"","key":""}}}`, "no access 9"},
		"field":      {registered + "\n" + `{"id":2,"stop":true}`, `unknown field "stop"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := listen(t, scenario.Plugin{}, host.Options{})
			c, err := net.Dial("unix", strings.TrimPrefix(w.Env(), wire.SocketEnv+"="))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			if _, err := c.Write([]byte(tt.send + "\n")); err != nil {
				t.Fatal(err)
			}
			if err := within(t, w.failures); !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

const registered = `{"id":1,"register":{"version":4,"executable":"movers","pid":1,"parent":1}}`

func TestManyProcesses(t *testing.T) {
	w := listen(t, scenario.Plugin{Operation: new(scenario.Operation)}, host.Options{})
	socket := strings.TrimPrefix(w.Env(), wire.SocketEnv+"=")
	ids := make([]string, 200)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			c, err := wire.Dial(socket)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			if _, err := c.Register("movers", nil); err != nil {
				t.Error(err)
				return
			}
			b, err := c.Caller(mover).Begin("backup/b", trace.Call{Method: "Execute"})
			if err != nil {
				t.Error(err)
				return
			}
			out, err := b.Finish()
			if err != nil {
				t.Error(err)
			}
			ids[i] = out.Operation
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(seen) != len(ids) || seen[""] {
		t.Errorf("%d different operations, want %d", len(seen), len(ids))
	}
	w.Close()
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left: %v", err)
	}
}
