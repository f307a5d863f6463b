package controlplane

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// lastBytes is how much of the log is kept to look for what an error shows of it.
	lastBytes = 32 << 10
	// lastLines and lineBytes are how much that is: so many lines at most, and so much of each.
	lastLines = 5
	lineBytes = 300
)

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
		rest := o.tail[over:]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 && i+1 < len(rest) { // it begins in the middle of a line
			rest = rest[i+1:]
		}
		o.tail = append(o.tail[:0], rest...)
	}
	if o.log == nil {
		return len(p), nil
	}
	return o.log.Write(p)
}

// end returns why the process ended, as far as it said so, and the last lines of its log that may say more.
func (o *output) end() (reason string, lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for line := range strings.Lines(string(o.tail)) {
		line = strings.TrimSpace(line)
		if line == "" || idle.MatchString(line) {
			continue
		}
		if len(line) > lineBytes {
			line = strings.ToValidUTF8(line[:lineBytes], "") + "…"
		}
		lines = append(lines, line)
	}
	lines = slices.Compact(lines)
	return o.reason, lines[max(0, len(lines)-lastLines):]
}

// idle matches what explains nothing: etcd's entries and klog's that are no errors, what etcd says when it is ended, and what envtest
// and this package say of the failure, which is the reason already.
var idle = regexp.MustCompile(`^\{"level":"(debug|info|warn)"|^[IW]\d{4} |^\{.*"error":"[^"]*(erver closed|use of closed)|^(envtest|velosim): `)

// writer makes an io.Writer of a function.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
