package virtual

import (
	"sync"
	"time"
)

// outsideWithin is how long a call of a plugin of the user's may take, in wall time, until it counts as one that hangs: long before the
// watchdog ends the run.
const outsideWithin = 15 * time.Second

// outside is where the bubble's time does not hold: processes of the user's plugins are real ones. While the bubble waits for something
// outside, its time stands still.
type outside struct {
	mu    sync.Mutex // there is one thing at a time
	calls chan func()
	done  chan struct{}
}

// newOutside must not be called in a bubble: its goroutine and channels would be the bubble's.
func newOutside() *outside {
	o := &outside{calls: make(chan func()), done: make(chan struct{})}
	go func() {
		for call := range o.calls {
			call()
			o.done <- struct{}{}
		}
	}()
	return o
}

func (o *outside) close() { close(o.calls) }

// do does something outside, and waits for it.
func (o *outside) do(call func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls <- call
	<-o.done
}

// returns does something outside, and reports whether it is over in time. If not, give up must end it; what it has to say is lost.
func (o *outside) returns(call, giveUp func()) (over bool) {
	o.do(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			call()
		}()
		select {
		case <-done:
			over = true
		case <-time.After(outsideWithin):
			giveUp()
		}
	})
	return over
}
