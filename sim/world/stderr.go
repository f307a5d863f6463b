package world

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
)

// maxStderr is how much of a world's stderr is kept: so much of its end, and so much from the start of its last crash.
// In bytes.
const maxStderr = 256 << 10

// stderrTail keeps the end of what is written to it, and apart from that the last crash of the Go runtime from its first
// line on, as the stacks of many goroutines may push the panic itself out of the tail. Safe for concurrent use.
type stderrTail struct {
	mu    sync.Mutex
	tail  []byte
	line  []byte // the start of a line whose end has not been seen
	crash []byte
	in    bool // the lines now written belong to crash
}

// Write implements io.Writer; it never fails.
func (t *stderrTail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tail = append(t.tail, b...)
	if n := len(t.tail) - maxStderr; n > maxStderr {
		t.tail = append(t.tail[:0], t.tail[n:]...)
	}
	for rest := b; len(rest) > 0; {
		var part []byte
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		part, rest = rest[:end], rest[end:]
		t.line = append(t.line, part[:min(len(part), maxStderr)]...)
		if part[len(part)-1] == '\n' || len(t.line) > maxStderr {
			t.endLine()
		}
	}
	return len(b), nil
}

func (t *stderrTail) endLine() {
	for _, start := range []string{"panic: ", "fatal error: ", "SIGQUIT: quit"} {
		if bytes.HasPrefix(t.line, []byte(start)) {
			t.crash, t.in = t.crash[:0], true
		}
	}
	if room := maxStderr - len(t.crash); t.in && room > 0 {
		t.crash = append(t.crash, t.line[:min(len(t.line), room)]...)
	}
	t.line = t.line[:0]
}

// String returns the end of what was written.
func (t *stderrTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.tail[max(0, len(t.tail)-maxStderr):]))
}

// Crash returns what the Go runtime printed of the last panic, fatal error or SIGQUIT; empty if there was none. A line
// that only looks like one, without a goroutine's stack below it, is none.
func (t *stderrTail) Crash() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !bytes.Contains(t.crash, []byte("\ngoroutine ")) {
		return ""
	}
	return string(bytes.TrimSpace(t.crash))
}

// crashOfVelero tells whether code of Velero, or of controller-runtime that calls it, was running in the goroutine that
// crashed: the first one that the Go runtime prints. All else that crashes a process says nothing about Velero: this
// project's own goroutines, too little memory, too many threads, a SIGQUIT from outside.
func crashOfVelero(crash string) bool {
	if strings.HasPrefix(crash, "SIGQUIT: ") {
		return false
	}
	_, header, frames := firstGoroutine(crash)
	if !strings.Contains(header, "[running") { // a thread without a goroutine crashed, and this is just the first of all
		return false
	}
	for line := range strings.Lines(frames) {
		if strings.HasPrefix(line, "github.com/vmware-tanzu/velero/") || strings.HasPrefix(line, "sigs.k8s.io/controller-runtime/") {
			return true
		}
	}
	return false
}

// firstGoroutine takes a crash apart: the text up to the goroutine that the Go runtime prints first, that one's line, and its stack.
func firstGoroutine(crash string) (text, header, frames string) {
	text, goroutines, _ := strings.Cut(crash, "\ngoroutine ")
	first, _, _ := strings.Cut(goroutines, "\n\n")
	header, frames, _ = strings.Cut(first, "\n")
	return text, header, frames
}

// brief is a crash without the stacks of the goroutines that did not cause it.
func brief(crash string) string {
	text, header, frames := firstGoroutine(crash)
	return text + "\ngoroutine " + header + "\n" + frames
}

// runLabel labels the goroutines of a run with its job. The Go runtime prints labels with GODEBUG=tracebacklabels=1.
const runLabel = "run"

// runOf is the run whose goroutine crashed; empty: that is not known.
func runOf(crash string) string {
	_, header, _ := firstGoroutine(crash)
	_, label, _ := strings.Cut(header, `"`+runLabel+`": `)
	quoted, err := strconv.QuotedPrefix(label)
	if err != nil {
		return ""
	}
	run, _ := strconv.Unquote(quoted) // it is quoted
	return run
}
