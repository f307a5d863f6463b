package world

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/velosim/velosim/sim/trace"
)

// maxFrame bounds a line, so that a world that writes without end cannot fill the CLI's memory. In bytes.
const maxFrame = 64 << 20

// frame is one line of the protocol. Beside the ID of the job that it is about, exactly one field is set.
type frame struct {
	ID       int          `json:"id,omitempty"`
	Hello    *hello       `json:"hello,omitempty"`
	Job      *Job         `json:"job,omitempty"`
	Begin    bool         `json:"begin,omitempty"`
	Event    *trace.Event `json:"event,omitempty"`
	Progress *Position    `json:"progress,omitempty"`
	End      *trace.End   `json:"end,omitempty"`
	Cancel   bool         `json:"cancel,omitempty"`
	Error    string       `json:"error,omitempty"`
}

// hello is a world's first frame.
type hello struct {
	Schema int  `json:"schema"`
	Info   Info `json:"info"`
}

// kind names the field that is set: "hello", "job", …; empty: none or several are.
func (f frame) kind() string {
	var kind string
	for _, k := range []struct {
		name string
		set  bool
	}{
		{"hello", f.Hello != nil},
		{"job", f.Job != nil},
		{"begin", f.Begin},
		{"event", f.Event != nil},
		{"progress", f.Progress != nil},
		{"end", f.End != nil},
		{"cancel", f.Cancel},
		{"error", f.Error != ""},
	} {
		switch {
		case k.set && kind != "":
			return ""
		case k.set:
			kind = k.name
		}
	}
	return kind
}

// frameReader reads frames, one a line.
type frameReader struct {
	r    *bufio.Reader
	line int
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next frame. The error is io.EOF where the stream ends between two frames.
func (r *frameReader) next() (frame, error) {
	b, err := r.readLine()
	if err != nil {
		return frame{}, err
	}
	var f frame
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return frame{}, r.garbage(b, err)
	}
	if d.InputOffset() != int64(len(bytes.TrimRight(b, " \t\r\n"))) {
		return frame{}, r.garbage(b, errors.New("more than one JSON value"))
	}
	if f.kind() == "" {
		return frame{}, r.garbage(b, errors.New("none or several kinds of frame at once"))
	}
	return f, nil
}

// hello reads the first frame. It is lenient, so that the hello of another schema can be told from garbage.
func (r *frameReader) hello() (hello, error) {
	b, err := r.readLine()
	if err != nil {
		return hello{}, err
	}
	var f struct {
		Hello *struct {
			Schema int             `json:"schema"`
			Info   json.RawMessage `json:"info"`
		} `json:"hello"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return hello{}, r.garbage(b, err)
	}
	if f.Hello == nil {
		return hello{}, r.garbage(b, errors.New("the first frame must be hello"))
	}
	h := hello{Schema: f.Hello.Schema}
	if h.Schema != Schema {
		return h, nil
	}
	if err := json.Unmarshal(f.Hello.Info, &h.Info); err != nil {
		return hello{}, r.garbage(b, err)
	}
	return h, nil
}

func (r *frameReader) readLine() ([]byte, error) {
	r.line++
	var long []byte
	for {
		b, err := r.r.ReadSlice('\n')
		switch {
		case len(long)+len(b) > maxFrame:
			return nil, fmt.Errorf("line %d is longer than %d MiB", r.line, maxFrame>>20)
		case err == nil && long == nil:
			return b, nil
		case err == nil:
			return append(long, b...), nil
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, b...)
		case errors.Is(err, io.EOF) && len(long)+len(b) > 0:
			return nil, io.ErrUnexpectedEOF // the last line was cut
		default:
			return nil, err
		}
	}
}

// garbageError is a line that is not a frame.
type garbageError struct {
	line    int
	excerpt string
	err     error
}

func (e *garbageError) Error() string {
	return fmt.Sprintf("line %d is not a frame of the protocol: %v: %q", e.line, e.err, e.excerpt)
}

func (r *frameReader) garbage(b []byte, err error) error {
	const most = 120
	if len(b) > most {
		b = append(b[:most:most], "…"...)
	}
	return &garbageError{line: r.line, excerpt: string(b), err: err}
}

// frameWriter writes frames, one a line and one a Write. Safe for concurrent use.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *frameWriter) write(f frame) error {
	b, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("failed to encode a %s frame: %w", f.kind(), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("failed to write a %s frame: %w", f.kind(), err)
	}
	return nil
}
