package world

import (
	"testing"
	"time"
)

func TestWatchdog(t *testing.T) {
	const every = time.Second
	inVain := func(n int) (at []time.Duration) {
		for range n {
			at = append(at, every)
		}
		return at
	}
	for name, tt := range map[string]struct {
		looks []time.Duration // since the look before
		alive int             // a sign of life comes after so many looks; 0: never
		want  int             // the look that gives up; 0: none
	}{
		"gives up":                        {looks: inVain(looks), want: looks},
		"is patient":                      {looks: inVain(looks - 1)},
		"starts anew at a sign of life":   {looks: inVain(2*looks - 2), alive: looks - 1},
		"gives up later":                  {looks: inVain(2*looks - 1), alive: looks - 1, want: 2*looks - 1},
		"does not count a stopped hour":   {looks: []time.Duration{time.Hour}},
		"starts anew after it":            {looks: append(append(inVain(looks-1), time.Hour), inVain(looks-1)...)},
		"gives up after it":               {looks: append([]time.Duration{time.Hour}, inVain(looks)...), want: looks + 1},
		"counts looks on a busy computer": {looks: append(append(inVain(5), 3*every/2, every/2), inVain(looks-7)...), want: looks},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatchdog(looks * every)
			w.ticks.Stop()
			now, got := w.last, 0
			for i, d := range tt.looks {
				if now = now.Add(d); w.look(now) && got == 0 {
					got = i + 1
				}
				if i+1 == tt.alive {
					w.alive()
				}
			}
			if got != tt.want {
				t.Errorf("gave up at look %d, want %d", got, tt.want)
			}
		})
	}
}
