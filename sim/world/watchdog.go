package world

import "time"

// looks is how often a watchdog looks in vain before it gives up.
const looks = 10

// watchdog tells when a world shows no sign of life for too long. It counts its own looks rather than time: while velosim
// itself is stopped (Ctrl-Z, SIGSTOP, a frozen machine) nobody looks, and what the world said meanwhile has yet to be read.
type watchdog struct {
	ticks *time.Ticker // for when to look
	every time.Duration
	last  time.Time // of the looks
	vain  int       // looks in a row without a sign of life
}

// newWatchdog returns a watchdog that gives up after so long a time, in wall time. Stop its ticks.
func newWatchdog(patience time.Duration) *watchdog {
	every := max(patience/looks, 1)
	return &watchdog{ticks: time.NewTicker(every), every: every, last: time.Now()}
}

// look looks, and tells whether it is time to give up. A look that comes late is the first one after velosim was stopped,
// or was kept busy: the world gets all its time anew.
func (w *watchdog) look(now time.Time) bool {
	if now.Sub(w.last) > 2*w.every {
		w.vain = 0
	} else {
		w.vain++
	}
	w.last = now
	return w.vain >= looks
}

// alive notes a sign of life.
func (w *watchdog) alive() { w.vain = 0 }
