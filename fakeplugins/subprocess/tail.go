package subprocess

import (
	"cmp"
	"strings"
	"sync"
)

// tail keeps the end of what is written. It is read when the writing is over, or nobody waits for it any more.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-4<<10):]
	return len(b), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(strings.TrimSpace(string(t.text)), "nothing")
}
