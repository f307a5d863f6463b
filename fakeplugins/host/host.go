package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/velosim/velosim/fakeplugins/wire"
)

// maxSocket is the longest path of a socket. In bytes: 108 on Linux, 104 on macOS, with the zero at the end.
const maxSocket = 103

// Host answers the plugin processes of a run.
type Host struct {
	options  Options
	listener *net.UnixListener
	socket   string
	stop     func() bool // ends the wait for the context's end
	accepted sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	connections map[*wire.Conn]bool
	starts      map[start]int
	strikes     map[strikeKey]int
}

// start is of an executable, by the server with this PID.
type start struct {
	executable string
	server     int
}

type strikeKey struct {
	executable string
	strike     int
}

// Listen makes a host with its socket in a folder, which is made if need be and must be the user's alone (0700). It ends with
// ctx, or by Close.
func Listen(ctx context.Context, folder string, o Options) (*Host, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("failed to make the folder of the plugins' socket: %w", err)
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil, fmt.Errorf("failed to look at the folder of the plugins' socket: %w", err)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return nil, fmt.Errorf("other users can reach the plugins' socket in %s, whose mode is %04o: make it 0700", folder, perm)
	}
	socket, err := filepath.Abs(filepath.Join(folder, "plugins.sock"))
	if err != nil {
		return nil, err
	}
	if len(socket) > maxSocket {
		return nil, fmt.Errorf("the path of the plugins' socket is longer than %d bytes: %s: set TMPDIR to a shorter one", maxSocket, socket)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("failed to listen for plugins: %w", err)
	}
	h := &Host{
		options: o.filled(), listener: listener, socket: socket,
		connections: map[*wire.Conn]bool{}, starts: map[start]int{}, strikes: map[strikeKey]int{},
	}
	h.accepted.Go(h.accept)
	h.stop = context.AfterFunc(ctx, h.close)
	return h, nil
}

// Env is the environment variable that the server needs, so that its plugins find the host: NAME=value.
func (h *Host) Env() string { return wire.SocketEnv + "=" + h.socket }

// Close ends the connections of all processes, which end by themselves then (those that were stopped by a signal do not), and
// removes the socket. It does not wait for hooks that have not returned; what they still return has no effect on a process.
func (h *Host) Close() {
	h.stop()
	h.close()
	h.accepted.Wait()
}

func (h *Host) close() {
	h.listener.Close() //nolint:errcheck // it is closed in any case, and the socket removed
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for c := range h.connections {
		c.Close() //nolint:errcheck // its end is what is wanted
	}
}

func (h *Host) accept() {
	for {
		c, err := h.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			h.options.Failed(fmt.Errorf("failed to accept a plugin process: %w", err))
			return
		}
		if conn := wire.NewConn(c); h.add(conn) {
			go h.serve(conn)
		}
	}
}

// add keeps the connection, unless the host was closed.
func (h *Host) add(c *wire.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		c.Close() //nolint:errcheck // it was not served
		return false
	}
	h.connections[c] = true
	return true
}

func (h *Host) remove(c *wire.Conn) {
	c.Close() //nolint:errcheck // it has ended
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.connections, c)
}

// start counts a start of the executable and returns how it goes.
func (h *Host) start(p Process) wire.Start {
	h.mu.Lock()
	by := start{p.Executable, p.Parent}
	h.starts[by]++
	n := h.starts[by]
	h.mu.Unlock()
	for _, s := range h.options.Executables[p.Executable].Starts {
		if within(n, s.Nth, s.Times) {
			return s.Start
		}
	}
	return wire.Start{}
}

// passed counts a call before or after its effect, and returns what the process must do to itself; nil: nothing. Each strike
// has a count of its own.
func (h *Host) passed(executable, plugin, method string, after bool) *wire.Strike {
	var struck *wire.Strike
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, s := range h.options.Executables[executable].Strikes {
		if s.After != after || s.Plugin != "" && s.Plugin != plugin || s.Method != "" && s.Method != method {
			continue
		}
		key := strikeKey{executable, i}
		h.strikes[key]++
		if struck == nil && within(h.strikes[key], s.Nth, s.Times) {
			struck = &s.Strike
		}
	}
	return struck
}
