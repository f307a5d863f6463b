package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEscaper(t *testing.T) {
	for text, want := range map[string]string{
		"Ende → gut, \"alles\" 𝛿\n\tgut": "Ende → gut, \"alles\" 𝛿\n\tgut",
		"\x1b]0;title\a":                 `\u001b]0;title\u0007`,
		"over\rwritten\b\x7f":            `over\u000dwritten\u0008\u007f`,
		"\u009b2J":                       `\u009b2J`,
		"\u202eback\u2066":               `\u202eback\u2066`,
		"latin \xe9 \x9b2J":              `latin \xe9 \x9b2J`,
		"\ufffd":                         "\ufffd",
	} {
		var b bytes.Buffer
		if n, err := io.WriteString(escaper{&b}, text); n != len(text) || err != nil {
			t.Errorf("Write(%q) = %d, %v", text, n, err)
		}
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestEscapedJSONMeansTheSame(t *testing.T) {
	const text = "\x1b[2J \u009b \u202e \x7f \n → 𝛿"
	var b bytes.Buffer
	if err := printJSON(escaper{&b}, text); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != text {
		t.Errorf("%s became %q, %v", &b, got, err)
	}
	if bytes.ContainsAny(b.Bytes(), "\u009b\u202e\x7f") {
		t.Errorf("not escaped: %q", &b)
	}
}

// failing fails its second Write.
type failing struct {
	bytes.Buffer
	err error
	n   int
}

func (f *failing) Write(b []byte) (int, error) {
	if f.n++; f.n == 2 {
		return 0, f.err
	}
	return f.Buffer.Write(b)
}

func TestStdout(t *testing.T) {
	for err, lost := range map[error]bool{syscall.EPIPE: false, syscall.ENOSPC: true} {
		err := &os.PathError{Op: "write", Path: "/dev/stdout", Err: err}
		f := &failing{err: err}
		s := &stdout{w: f}
		for i := range 3 {
			if _, err := fmt.Fprintf(s, "%d", i); err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		}
		if f.String() != "0" {
			t.Errorf("%v: %q was written: something is missing in the middle", err, f.String())
		}
		if errors.Is(s.lost, err) != lost {
			t.Errorf("%v: lost = %v", err, s.lost)
		}
	}
}
