package wire

import (
	"io"
	"net"
	"testing"
)

// slow is a connection on which a write returns when all that the other end has to say was read.
type slow struct {
	net.Conn
	read chan struct{}
}

func (s slow) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	<-s.read
	return n, err
}

// The host says why it turns a process away, and ends the connection at once: the process must see why, also if it is slow.
func TestLastReply(t *testing.T) {
	for range 20 { // a select takes either
		near, far := net.Pipe()
		go func() {
			_, _ = far.Read(make([]byte, 1000))
			_, _ = io.WriteString(far, "{\"id\":1,\"error\":\"build it again\"}\n")
			_ = far.Close()
		}()
		read := make(chan struct{})
		c := newClient(slow{near, read})
		go func() {
			<-c.Closed()
			close(read)
		}()
		if _, err := c.Register("movers", nil); err == nil || err.Error() != "build it again" {
			t.Fatalf("Register: %v", err)
		}
	}
}
