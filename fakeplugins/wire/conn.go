package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// maxLine bounds a message, so that a peer that writes without end cannot fill the memory. In bytes.
const maxLine = 8 << 20

// Conn reads and writes messages, one a line. It may be read by one goroutine and written by many.
type Conn struct {
	c  net.Conn
	r  *bufio.Reader
	mu sync.Mutex // for writing
}

// NewConn returns the messages of a connection.
func NewConn(c net.Conn) *Conn { return &Conn{c: c, r: bufio.NewReader(c)} }

// Close ends the connection.
func (c *Conn) Close() error { return c.c.Close() }

// Read reads the next message into v. The error is io.EOF where the connection ends between two messages.
func (c *Conn) Read(v any) error {
	b, err := c.line()
	if err != nil {
		return err
	}
	return decode(b, v)
}

// ReadRegister reads the first message. The version is checked first, as the message of another one may have other fields.
func (c *Conn) ReadRegister() (Request, error) {
	b, err := c.line()
	if err != nil {
		return Request{}, err
	}
	var first struct {
		ID       int
		Register *struct{ Version int }
	}
	if err := json.Unmarshal(b, &first); err != nil || first.Register == nil {
		return Request{}, garbage(b, errors.New("the first message must be register"))
	}
	if v := first.Register.Version; v != Version {
		return Request{ID: first.ID}, fmt.Errorf("the plugin executable speaks version %d of the protocol, this world version %d: build both from the same sources", v, Version)
	}
	var r Request
	err = decode(b, &r)
	if err == nil && r.Kind() != "register" {
		err = garbage(b, errors.New("the first message must be register"))
	}
	return r, err
}

// Write writes a message.
func (c *Conn) Write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("failed to encode a message: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.c.Write(append(b, '\n'))
	return err
}

func (c *Conn) line() ([]byte, error) {
	var line []byte
	for {
		b, err := c.r.ReadSlice('\n')
		line = append(line, b...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("a message is longer than %d MiB", maxLine>>20)
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF // the last message was cut
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// decode decodes one JSON value without unknown fields.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return garbage(b, err)
	}
	if d.InputOffset() != int64(len(bytes.TrimRight(b, " \t\r\n"))) {
		return garbage(b, errors.New("more than one JSON value"))
	}
	return nil
}

func garbage(b []byte, err error) error {
	const most = 120
	if len(b) > most {
		b = append(b[:most:most], "…"...)
	}
	return fmt.Errorf("not a message of the protocol: %w: %q", err, b)
}
