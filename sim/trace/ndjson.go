package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is the longest line of a trace, in bytes.
const maxLine = 64 << 20

// ErrTruncated is returned, wrapped, by Read for a trace without an end: its run was cut short, or is not over.
var ErrTruncated = errors.New("the trace is cut off")

// line is a line of a trace after its header.
type line struct {
	Event
	End *End `json:"end,omitempty"`
}

// Writer writes a trace as newline-delimited JSON: the header, then an event a line, then {"end":{…}}. Each line is one
// Write of the underlying writer, so that a crash loses at most the line being written.
type Writer struct {
	w     io.Writer
	check checker
}

// NewWriter writes the header of a trace, whose Schema it sets.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Schema = Schema
	tw := &Writer{w: w}
	return tw, tw.writeLine(h)
}

// Event writes an event. One that [Read] would refuse, out of order or without a body, is an error and is not written.
func (w *Writer) Event(e Event) error {
	if err := w.check.event(e); err != nil {
		return fmt.Errorf("event %d cannot be written: %w", e.Seq, err)
	}
	return w.writeLine(e)
}

// End closes the trace.
func (w *Writer) End(end End) error {
	if err := w.check.end(end); err != nil {
		return fmt.Errorf("the end cannot be written: %w", err)
	}
	return w.writeLine(struct {
		End End `json:"end"`
	}{end})
}

func (w *Writer) writeLine(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	if b.Len() > maxLine {
		return fmt.Errorf("a line of %d bytes is longer than %d", b.Len(), maxLine)
	}
	_, err := w.w.Write(b.Bytes())
	return err
}

// Read reads a trace that a Writer has written. The name is the file's, for errors, which begin with name:line.
//
// It is strict: fields that this schema does not have, gaps in the sequence, time that runs backwards, events of no or
// several bodies, and anything after the end are errors. A trace that ends early is returned as far as it goes, with an
// error for which errors.Is(err, ErrTruncated).
func Read(r io.Reader, name string) (Trace, error) {
	var t Trace
	var check checker
	n, ended := 0, false
	fail := func(err error) error { return fmt.Errorf("%s:%d: %w", name, n, err) }

	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine+1)
	lines.Split(splitLine)
	for lines.Scan() {
		n++
		b := lines.Bytes()
		if ended {
			return t, fail(errors.New("a line after the end; the file holds more than one trace, or was appended to"))
		}
		var l line
		var err error
		if n == 1 {
			t.Header, err = readHeader(b)
		} else {
			err = decode(b, &l)
		}
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF) && !bytes.HasSuffix(b, []byte("\n")):
			return t, fail(fmt.Errorf("%w in the middle of this line; what comes before it can be used", ErrTruncated))
		case errors.Is(err, io.ErrUnexpectedEOF):
			return t, fail(errors.New("the line is not complete JSON"))
		case err != nil:
			return t, fail(err)
		case n == 1:
		case l.End != nil:
			if l.Event != (Event{}) {
				return t, fail(errors.New("both an event and the end on one line"))
			}
			if err := check.end(*l.End); err != nil {
				return t, fail(err)
			}
			t.End, ended = *l.End, true
		default:
			if err := check.event(l.Event); err != nil {
				return t, fail(err)
			}
			t.Events = append(t.Events, l.Event)
		}
	}
	n++
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return t, fail(fmt.Errorf("a line longer than %d bytes; this is not a trace", maxLine))
	case err != nil:
		return t, fail(err)
	case !ended:
		return t, fail(fmt.Errorf("%w: there is no end line after %d events; its run was killed, or is not over", ErrTruncated, len(t.Events)))
	}
	return t, nil
}

// splitLine is bufio.ScanLines that keeps the newline, whose lack tells a line cut short.
func splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func readHeader(b []byte) (Header, error) {
	// The schema first: a header of another one may have other fields.
	var schema struct {
		Schema int `json:"schema"`
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&schema); err != nil {
		return Header{}, fmt.Errorf("not a trace's header: %w", inWords(err))
	}
	if schema.Schema != Schema {
		return Header{}, fmt.Errorf("schema %d, want %d; read it with the velosim that wrote it, or run the scenario again", schema.Schema, Schema)
	}
	var h Header
	return h, decode(b, &h)
}

// decode decodes a line that holds one JSON object and nothing else.
func decode(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return inWords(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more on the line than one JSON object")
	}
	return nil
}

// inWords says what an error of the JSON decoder means to who wrote the JSON.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("an empty line")
	case errors.As(err, &wrong) && wrong.Field != "":
		field := wrong.Field[strings.LastIndex(wrong.Field, ".")+1:]
		return fmt.Errorf("field %q holds a JSON %s, want %s", field, wrong.Value, wrong.Type)
	case errors.As(err, &wrong):
		return fmt.Errorf("a JSON %s, want an object", wrong.Value)
	}
	return err
}

// checker checks that events follow each other as they must.
type checker struct {
	seq int
	at  Time
}

func (c *checker) event(e Event) error {
	switch n := e.bodies(); {
	case e.Seq != c.seq+1:
		return fmt.Errorf("seq %d follows %d; events are missing or out of order", e.Seq, c.seq)
	case e.At < c.at:
		return fmt.Errorf("time runs backwards, from %s to %s", c.at, e.At)
	case n == 0:
		return errors.New("an event without a body says nothing; set one of created, phase, write, …")
	case n > 1:
		return fmt.Errorf("an event with %d bodies, want one", n)
	}
	c.seq, c.at = e.Seq, e.At
	return nil
}

func (c *checker) end(end End) error {
	if end.Reason == "" {
		return errors.New("an end without a reason")
	}
	if end.At < c.at {
		return fmt.Errorf("the end at %s is before the last event at %s", end.At, c.at)
	}
	return nil
}

// bodies counts the fields of the body that are set.
func (b Body) bodies() int {
	n := 0
	for _, set := range []bool{
		b.Created != nil, b.Deleted != nil, b.Phase != nil, b.Write != nil, b.Call != nil, b.Return != nil,
		b.Store != nil, b.Fault != nil, b.Process != nil, b.Reconcile != nil, b.Rest != nil, b.Item != nil,
		b.Plugin != nil, b.Left != nil,
	} {
		if set {
			n++
		}
	}
	return n
}
