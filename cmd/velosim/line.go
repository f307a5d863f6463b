package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// line is a line of progress: drawn again and again on a terminal, else printed now and then.
type line struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	last     time.Time
	width    int
	columns  int // of the terminal; 0: not known
}

func newLine(w io.Writer, terminal bool, now func() time.Time) *line {
	return &line{w: w, terminal: terminal, now: now, last: now()}
}

func (l *line) show(text string) {
	every := 10 * time.Second
	if l.terminal {
		every = 100 * time.Millisecond
	}
	if l.now().Sub(l.last) < every {
		return
	}
	l.last = l.now()
	if !l.terminal {
		fmt.Fprintln(l.w, text)
		return
	}
	if runes := []rune(text); l.columns > 0 && len(runes) >= l.columns { // a second row would stay
		text = string(runes[:max(l.columns-2, 0)]) + "…"
	}
	fmt.Fprintf(l.w, "\r%-*s", l.width, text)
	l.width = max(l.width, utf8.RuneCountInString(text))
}

// clear removes the line from a terminal.
func (l *line) clear() {
	if l.terminal && l.width > 0 {
		fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.width))
		l.width = 0
	}
}
