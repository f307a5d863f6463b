package wire

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/velosim/velosim/fakeplugins"
	"github.com/velosim/velosim/sim/trace"
)

// Client is a process's end of the connection. It is safe for concurrent use.
type Client struct {
	conn   *Conn
	strike func(Strike)
	closed chan struct{} // when the connection has ended

	mu      sync.Mutex
	err     error // why the connection has ended
	last    int
	waiting map[int]chan Reply
}

// Dial connects to the host's socket.
func Dial(socket string) (*Client, error) {
	if socket == "" {
		return nil, fmt.Errorf("%s is not set: this executable is a plugin for servers that velosim starts", SocketEnv)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("failed to connect to the world (%s), which may have ended: %w", SocketEnv, err)
	}
	return newClient(conn), nil
}

func newClient(conn net.Conn) *Client {
	c := &Client{conn: NewConn(conn), closed: make(chan struct{}), waiting: map[int]chan Reply{}}
	go c.read()
	return c
}

// Register registers the process, started as this executable (a base name), and must come first. strike is called with what
// the process must do to itself, in the call that is struck.
func (c *Client) Register(executable string, strike func(Strike)) (Registration, error) {
	c.strike = strike
	r, err := c.ask(Request{Register: &Register{Version: Version, Executable: executable, PID: os.Getpid(), Parent: os.Getppid()}})
	if err != nil {
		return Registration{}, err
	}
	return *r.Registered, nil
}

// Closed is closed when the connection has ended: the process has to end.
func (c *Client) Closed() <-chan struct{} { return c.closed }

// Err is why the connection has ended, once it has.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Caller makes the plugin's calls at the host.
func (c *Client) Caller(p Plugin) fakeplugins.Caller { return caller{c, p} }

type caller struct {
	client *Client
	plugin Plugin
}

func (c caller) Begin(object string, call trace.Call) (fakeplugins.Begun, error) {
	r, err := c.client.ask(Request{Call: &Call{Plugin: c.plugin.Name, Action: c.plugin.Action, Object: object, Call: call}})
	if err != nil {
		return fakeplugins.Begun{}, err
	}
	return fakeplugins.Begun{Delay: r.Begun.Delay, Hang: r.Begun.Hang, Finish: func() (fakeplugins.Outcome, error) {
		finished, err := c.client.ask(Request{Finish: r.ID})
		if err != nil {
			return fakeplugins.Outcome{}, err
		}
		return *finished.Outcome, nil
	}}, nil
}

// Journal tells the host of the calls of a process that has no script. When the host is out of reach, the process ends, and nobody sees
// what it would still do.
func (c *Client) Journal(p Plugin) fakeplugins.Journal {
	return func(object string, call trace.Call) func(trace.Return) {
		begun, err := c.ask(Request{Call: &Call{Plugin: p.Name, Action: p.Action, Object: object, Call: call}})
		if err != nil {
			return func(trace.Return) {}
		}
		return func(ret trace.Return) {
			c.ask(Request{Finish: begun.ID, Return: &ret}) //nolint:errcheck // see above
		}
	}
}

// Access tells of an access to the object store at root before it has an effect. An error is one that the access has to fail
// with. accessed, which must be called also after such an error, tells of the outcome before Velero sees it; its error is one
// that the access has to fail with, though it has had its effect.
func (c *Client) Access(root string, access trace.Store) (accessed func(trace.Store) error, err error) {
	r, err := c.ask(Request{Access: &Access{Root: root, Store: access}})
	if err != nil {
		return func(trace.Store) error { return nil }, err
	}
	if r.Accessing.Fail != "" {
		err = errors.New(r.Accessing.Fail)
	}
	return func(outcome trace.Store) error {
		if _, err := c.ask(Request{Accessed: &Accessed{Access: r.ID, Store: outcome}}); err != nil {
			return err
		}
		if r.Accessing.Late != "" {
			return errors.New(r.Accessing.Late)
		}
		return nil
	}, err
}

// ask sends a request and waits for its reply.
func (c *Client) ask(r Request) (Reply, error) {
	replied := make(chan Reply, 1)
	c.mu.Lock()
	c.last++
	r.ID = c.last
	c.waiting[r.ID] = replied
	c.mu.Unlock()
	if err := c.conn.Write(r); err != nil {
		return Reply{}, c.gone(err)
	}
	var reply Reply
	select {
	case reply = <-replied:
	case <-c.closed:
		select {
		case reply = <-replied: // it was the last
		default:
			return Reply{}, c.gone(c.Err())
		}
	}
	if reply.Error != "" {
		return Reply{}, errors.New(reply.Error)
	}
	if reply.kind() != r.Kind() {
		c.conn.Close() //nolint:errcheck // its end is what is wanted
		return Reply{}, c.gone(fmt.Errorf("the reply to %s is another's", r.Kind()))
	}
	if reply.Strike != nil {
		c.strike(*reply.Strike)
	}
	return reply, nil
}

func (c *Client) gone(err error) error { return fmt.Errorf("the world is out of reach: %w", err) }

// read hands the replies to those who wait for them.
func (c *Client) read() {
	for {
		var r Reply
		err := c.conn.Read(&r)
		c.mu.Lock()
		replied, ok := c.waiting[r.ID]
		delete(c.waiting, r.ID)
		if err == nil && !ok {
			err = fmt.Errorf("a reply to no request: %d", r.ID)
		}
		if err != nil {
			c.err = err
			close(c.closed)
			c.mu.Unlock()
			c.conn.Close() //nolint:errcheck // it has ended
			return
		}
		c.mu.Unlock()
		replied <- r
	}
}
