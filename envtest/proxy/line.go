package proxy

import (
	"context"
	"io"
	"sync"
)

// Line is the way from clients to the API server, as far as it can be disturbed. Several proxies may share one; then the answers to all
// their writes to an object are told in one order. Make it with NewLine.
type Line struct {
	writes order

	mu      sync.Mutex
	outages int
	held    int
	free    chan struct{} // closed while no watch is held up
	// broken ends with EndWatches, and down with an outage; then both are made anew.
	broken, down context.Context
	end, cut     context.CancelFunc
}

// NewLine returns one that nothing disturbs.
func NewLine() *Line {
	l := &Line{writes: order{patience: patience}, free: make(chan struct{})}
	close(l.free)
	l.broken, l.end = context.WithCancel(context.Background())
	l.down, l.cut = context.WithCancel(context.Background())
	return l
}

// EndWatches ends every watch, as the API server does. What it still had to tell is not told.
func (l *Line) EndWatches() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	l.broken, l.end = context.WithCancel(context.Background())
}

// HoldWatches has nothing more come of watches, neither events nor ends of their own, until all such calls are released. What comes of
// them meanwhile comes afterwards, in order.
func (l *Line) HoldWatches() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held++; l.held == 1 {
		l.free = make(chan struct{})
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.held--; l.held == 0 {
			close(l.free)
		}
	}
}

// Break ends every request and watch without an answer, and those that come, until all such calls are mended. A write that was passed on
// ends when the API server has answered, which is told, as ever.
func (l *Line) Break() (mend func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outages++; l.outages == 1 {
		l.cut()
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.outages--; l.outages == 0 {
			l.down, l.cut = context.WithCancel(context.Background())
		}
	}
}

// Broken reports whether it is.
func (l *Line) Broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outages > 0
}

// over is the request's context, which ends with the line, too.
func (l *Line) over(ctx context.Context) (context.Context, context.CancelFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	if l.outages > 0 {
		cancel()
	}
	stop := context.AfterFunc(l.down, cancel)
	return ctx, func() { stop(); cancel() }
}

// watch is what comes of a watch over the line, whose context ctx is. Cancel ends it.
func (l *Line) watch(ctx context.Context, body io.ReadCloser, cancel context.CancelFunc) io.ReadCloser {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &watchBody{ReadCloser: body, line: l, ctx: ctx, broken: l.broken, stop: context.AfterFunc(l.broken, cancel)}
}

// watchBody is the body of a watch's answer.
type watchBody struct {
	io.ReadCloser
	line   *Line
	ctx    context.Context // of the client's request
	broken context.Context
	stop   func() bool
}

func (b *watchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for {
		b.line.mu.Lock()
		free, held := b.line.free, b.line.held > 0
		b.line.mu.Unlock()
		switch {
		case b.broken.Err() != nil:
			return 0, io.EOF
		case !held:
			return n, err
		}
		select {
		case <-free:
		case <-b.broken.Done():
		case <-b.ctx.Done():
			return 0, b.ctx.Err()
		}
	}
}

func (b *watchBody) Close() error {
	b.stop()
	return b.ReadCloser.Close()
}
