package controlplane

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// lastBytes is how much of the log an error shows.
const lastBytes = 4 << 10

// output takes what the process of a control plane writes.
type output struct {
	messages chan message // gets the first one
	log      io.Writer

	rest []byte // of stdout: a line's beginning

	mu     sync.Mutex
	said   bool   // a message was read
	reason string // the last message's
	tail   []byte // of the log
}

func newOutput(log io.Writer) *output {
	return &output{messages: make(chan message, 1), log: log}
}

// stdout takes messages.
func (o *output) stdout(p []byte) (int, error) {
	o.rest = append(o.rest, p...)
	for {
		line, rest, ok := bytes.Cut(o.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		o.rest = rest
		var m message
		if json.Unmarshal(line, &m) == nil {
			o.take(m)
		} else if _, err := o.stderr(append(line, '\n')); err != nil {
			return 0, err
		}
	}
}

func (o *output) take(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reason = m.Error
	if !o.said {
		o.said = true
		o.messages <- m
	}
}

// stderr takes the log.
func (o *output) stderr(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = append(o.tail, p...)
	if over := len(o.tail) - lastBytes; over > 0 {
		o.tail = append(o.tail[:0], o.tail[over:]...)
	}
	if o.log == nil {
		return len(p), nil
	}
	return o.log.Write(p)
}

// end returns why the process ended, as far as it said so, and the last lines of its log.
func (o *output) end() (reason string, log []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reason, bytes.TrimSpace(o.tail)
}

// writer makes an io.Writer of a function.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
