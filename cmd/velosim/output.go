package main

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// stdout is a stdout that may fail, as that of a full disk does, or whose reader may leave, as head does: what is written
// from then on is lost, and the runs go on, as their verdicts are in the exit code and in files, too.
type stdout struct {
	w    io.Writer
	left bool
	lost error // why something could not be written, though there was a reader
}

// Write implements io.Writer; it never fails.
func (s *stdout) Write(b []byte) (int, error) {
	if s.left || s.lost != nil {
		return len(b), nil
	}
	if _, err := s.w.Write(b); errors.Is(err, syscall.EPIPE) {
		s.left = true
	} else {
		s.lost = err
	}
	return len(b), nil
}

// escaper writes text for a terminal. Text out of traces, scenarios, file names and other programs may hold control
// characters, which a terminal would obey, or which turn around the order of what it shows: they are written as \u001b,
// which in JSON means the same.
type escaper struct{ w io.Writer }

// Write implements io.Writer.
func (e escaper) Write(b []byte) (int, error) {
	if _, err := e.w.Write(escape(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func escape(b []byte) []byte {
	escaped := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			escaped = fmt.Appendf(escaped, `\x%02x`, b[0])
		case r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control):
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		default:
			escaped = append(escaped, b[:n]...)
		}
		b = b[n:]
	}
	return escaped
}
