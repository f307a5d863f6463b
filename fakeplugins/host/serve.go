package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/fakeplugins/filestore"
	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// connection is a process that has registered.
type connection struct {
	host         *Host
	conn         *wire.Conn
	process      Process
	interpreters map[key]*fakeplugins.Interpreter
	journal      fakeplugins.Journal
	forwards     bool            // it has no script
	ctx          context.Context // ends with the connection

	mu       sync.Mutex
	begun    map[int]call   // calls, by the request that began them
	accesses map[int]access // by the request that told of them
}

type key struct {
	action scenario.Action
	name   string
}

type call struct {
	plugin, method string
	finish         func() (fakeplugins.Outcome, error)
	returned       func(trace.Return) // in its place, of a process without a script
}

type access struct {
	verb     string
	returned func(trace.Store)
}

// serve answers a process until its connection ends. Requests are answered at once, each in a goroutine of its own.
func (h *Host) serve(conn *wire.Conn) {
	defer h.remove(conn)
	c, err := h.register(conn)
	if err != nil {
		if !ended(err) {
			h.options.Failed(err)
		}
		return
	}
	defer h.options.Ended(c.process)
	ctx, end := context.WithCancel(context.Background())
	defer end()
	c.ctx = ctx
	for {
		var r wire.Request
		err := conn.Read(&r)
		if err == nil && (r.Kind() == "" || r.Kind() == "register") {
			err = fmt.Errorf("request %d is none, several, or another register", r.ID)
		}
		if err != nil {
			if !ended(err) {
				h.options.Failed(fmt.Errorf("plugin executable %s: %w", c.process.Executable, err))
			}
			return
		}
		go c.answer(r)
	}
}

// ended reports whether the error is but the end of a process, at whatever instant, or of the host.
func ended(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &op)
}

// register reads the first request and tells the process what it is.
func (h *Host) register(conn *wire.Conn) (*connection, error) {
	r, err := conn.ReadRegister()
	if err != nil {
		if !ended(err) {
			conn.Write(wire.Reply{ID: r.ID, Error: err.Error()}) //nolint:errcheck // there is an error already
		}
		return nil, err
	}
	p := Process{Executable: r.Register.Executable, PID: r.Register.PID, Parent: r.Register.Parent}
	executable, ok := h.options.Executables[p.Executable]
	if !ok {
		err := fmt.Errorf("the world knows no plugin executable %q, but %s", p.Executable,
			strings.Join(slices.Sorted(maps.Keys(h.options.Executables)), ", "))
		conn.Write(wire.Reply{ID: r.ID, Error: err.Error()}) //nolint:errcheck // there is an error already
		return nil, err
	}
	c := &connection{
		host: h, conn: conn, process: p, interpreters: map[key]*fakeplugins.Interpreter{},
		begun: map[int]call{}, accesses: map[int]access{},
	}
	goes := h.start(p)
	h.options.Started(p, goes)
	c.journal, c.forwards = h.options.Journal(p), executable.Forward != ""
	reply := wire.Registration{ObjectStore: executable.ObjectStore, Start: goes}
	if c.forwards {
		reply.Forward, reply.Epoch = executable.Forward, h.options.Epoch
	}
	for _, script := range executable.Plugins {
		c.interpreters[key{script.Action, script.Name}] = fakeplugins.NewInterpreter(script, h.options.Operations, c.journal)
		reply.Plugins = append(reply.Plugins, wire.Plugin{Name: script.Name, Action: script.Action, Version: script.Version})
	}
	if err := conn.Write(wire.Reply{ID: r.ID, Registered: &reply}); err != nil {
		h.options.Ended(p)
		return nil, err
	}
	return c, nil
}

// answer answers a request. Who has ended meanwhile gets none.
func (c *connection) answer(r wire.Request) {
	reply, err := c.reply(r)
	if err != nil {
		c.host.options.Failed(fmt.Errorf("plugin executable %s: request %d: %w", c.process.Executable, r.ID, err))
		reply.Error = err.Error()
	}
	reply.ID = r.ID
	c.conn.Write(reply) //nolint:errcheck // the process has ended, which the reader sees
}

func (c *connection) reply(r wire.Request) (wire.Reply, error) {
	switch {
	case r.Call != nil:
		return c.begin(r.ID, *r.Call)
	case r.Finish != 0:
		return c.finish(r)
	case r.Access != nil:
		return c.access(r.ID, *r.Access)
	default:
		return c.accessed(*r.Accessed)
	}
}

func (c *connection) begin(id int, r wire.Call) (wire.Reply, error) {
	if c.forwards {
		r.Call.Plugin = r.Plugin
		c.begins(id, call{plugin: r.Plugin, method: r.Call.Method, returned: c.journal(r.Object, r.Call)})
		return wire.Reply{Begun: &wire.Begun{}}, nil
	}
	i, ok := c.interpreters[key{r.Action, r.Plugin}]
	if !ok {
		return wire.Reply{}, fmt.Errorf("a call to a %s %s, which the process has not registered", r.Action, r.Plugin)
	}
	b, err := i.Begin(r.Object, r.Call)
	if err != nil {
		return wire.Reply{}, err
	}
	c.begins(id, call{plugin: r.Plugin, method: r.Call.Method, finish: b.Finish})
	return wire.Reply{
		Begun:  &wire.Begun{Delay: b.Delay, Hang: b.Hang},
		Strike: c.host.passed(c.process.Executable, r.Plugin, r.Call.Method, false),
	}, nil
}

// begins notes a call that is to be finished.
func (c *connection) begins(id int, b call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun[id] = b
}

func (c *connection) finish(r wire.Request) (wire.Reply, error) {
	c.mu.Lock()
	b, ok := c.begun[r.Finish]
	delete(c.begun, r.Finish)
	c.mu.Unlock()
	if !ok || (b.returned != nil) != (r.Return != nil) {
		return wire.Reply{}, fmt.Errorf("no call %d to finish so", r.Finish)
	}
	if c.ctx.Err() != nil {
		return wire.Reply{}, nil // the process has ended before the call has had its effect
	}
	if b.returned != nil {
		b.returned(*r.Return)
		return wire.Reply{Outcome: &fakeplugins.Outcome{}}, nil
	}
	out, err := b.finish()
	if err != nil {
		return wire.Reply{}, err
	}
	return wire.Reply{Outcome: &out, Strike: c.host.passed(c.process.Executable, b.plugin, b.method, true)}, nil
}

func (c *connection) access(id int, r wire.Access) (wire.Reply, error) {
	fault, returned := c.host.options.Access(c.process, r.Store)
	if fault.Lose {
		if err := lose(r); err != nil {
			return wire.Reply{}, err
		}
	}
	c.mu.Lock()
	c.accesses[id] = access{r.Store.Verb, returned}
	c.mu.Unlock()
	return wire.Reply{
		Accessing: &wire.Accessing{Fail: fault.Fail, Late: fault.Late},
		Strike:    c.host.passed(c.process.Executable, "", r.Store.Verb, false),
	}, nil
}

// lose removes the object that is accessed.
func lose(r wire.Access) error {
	s, err := filestore.Open(r.Root)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it was only read
	bucket, k, _ := strings.Cut(r.Store.Key, "/")
	if err := s.Delete(bucket, k); err != nil {
		return fmt.Errorf("failed to lose %s: %w", r.Store.Key, err)
	}
	return nil
}

func (c *connection) accessed(r wire.Accessed) (wire.Reply, error) {
	c.mu.Lock()
	a, ok := c.accesses[r.Access]
	delete(c.accesses, r.Access)
	c.mu.Unlock()
	if !ok {
		return wire.Reply{}, fmt.Errorf("no access %d to have an outcome", r.Access)
	}
	a.returned(r.Store)
	return wire.Reply{Strike: c.host.passed(c.process.Executable, "", a.verb, true)}, nil
}
