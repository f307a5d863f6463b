package wire_test

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velosim/velosim/fakeplugins/wire"
	"github.com/velosim/velosim/sim/trace"
)

// lines is a connection on which the lines come, and then its end.
func lines(t *testing.T, s string) *wire.Conn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close() })
	go func() {
		_, _ = io.WriteString(far, s)
		_ = far.Close()
	}()
	return wire.NewConn(near)
}

func TestReadIsStrict(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"{\"id\":1,\"finish\":2}\n", ""},
		{" {\"id\":1,\"finish\":2} \r\n", ""},
		{"", "EOF"},
		{"{\"id\":1,\"finish\":2}", "unexpected EOF"},
		{"panic: nil map\n", "not a message of the protocol"},
		{"{\"id\":1,\"finnish\":2}\n", `unknown field "finnish"`},
		{"{\"id\":1} {\"id\":2}\n", "more than one JSON value"},
		{strings.Repeat("x", 9<<20) + "\n", "longer than 8 MiB"},
	} {
		var r wire.Request
		err := lines(t, tt.line).Read(&r)
		if got := fmt.Sprint(err); (tt.want == "") != (err == nil) || !strings.Contains(got, tt.want) {
			t.Errorf("%.40q: %s, want %s", tt.line, got, tt.want)
		}
		if tt.want == "" && (r.ID != 1 || r.Kind() != "finish") {
			t.Errorf("%.40q: %+v", tt.line, r)
		}
	}
}

func TestReadRegister(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`{"id":1,"register":{"version":4,"executable":"movers","pid":1,"parent":2}}`, ""},
		{`{"id":1,"register":{"version":1,"name":"movers"}}`, "version 1 of the protocol, this world version 4"},
		{`{"id":1,"register":{"version":4,"name":"movers"}}`, `unknown field "name"`},
		{`{"id":1,"register":{"version":4},"finish":2}`, "the first message must be register"},
		{`{"id":1,"finish":2}`, "the first message must be register"},
		{`hello`, "the first message must be register"},
	} {
		_, err := lines(t, tt.line+"\n").ReadRegister()
		if got := fmt.Sprint(err); (tt.want == "") != (err == nil) || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.line, got, tt.want)
		}
	}
}

// TestHostOutOfOrder has a client ask a host that answers as it should not.
func TestHostOutOfOrder(t *testing.T) {
	for name, tt := range map[string]struct{ reply, want string }{
		"another's reply":   {`{"id":1,"begun":{}}`, "the reply to register is another's"},
		"two replies":       {`{"id":1,"begun":{},"registered":{"start":{}}}`, "the reply to register is another's"},
		"reply to nobody":   {`{"id":7}`, "a reply to no request: 7"},
		"unknown field":     {`{"id":1,"strikes":[]}`, `unknown field "strikes"`},
		"error":             {`{"id":1,"error":"build it again"}`, "build it again"},
		"end":               {``, "EOF"},
		"cut in the middle": {`{"id":1,`, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, func(conn net.Conn) {
				if _, err := conn.Read(make([]byte, 1000)); err != nil {
					t.Error(err)
				}
				if tt.reply != "" {
					_, _ = io.WriteString(conn, tt.reply+"\n")
				}
				if tt.want == "EOF" {
					_ = conn.Close()
				}
			})
			if _, err := c.Register("movers", nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Register: %v, want %s", err, tt.want)
			}
			if name != "error" {
				<-c.Closed()
				if _, err := c.Access("/", trace.Store{}); err == nil {
					t.Error("a client whose connection has ended is of use")
				}
			}
		})
	}
}

// dial connects a client to a host that does what serve does, once.
func dial(t *testing.T, serve func(net.Conn)) *wire.Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := listener.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		serve(conn)
	}()
	c, err := wire.Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(); <-served })
	return c
}

func TestDialErrors(t *testing.T) {
	if _, err := wire.Dial(""); err == nil || !strings.Contains(err.Error(), "VELOSIM_PLUGIN_SOCKET is not set") {
		t.Errorf("no socket: %v", err)
	}
	if _, err := wire.Dial(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "may have ended") {
		t.Errorf("nobody listens: %v", err)
	}
}
