package proxy

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
)

// Options of a Proxy.
type Options struct {
	// Upstream is how to reach the kube-apiserver, and as whom. Required. Of its fields those count that make a transport:
	// not QPS, content types, Timeout.
	Upstream *rest.Config
	// Hooks decide; nil: all passes.
	Hooks Hooks
	// Line is the clients' way to the API server; nil: nothing disturbs it.
	Line *Line
	// Log gets what went wrong with connections, a line each; nil: nothing does.
	Log io.Writer
}

// Proxy is one that listens.
type Proxy struct {
	hooks    Hooks
	line     *Line
	config   *rest.Config
	server   *http.Server
	reverse  *httputil.ReverseProxy
	upstream http.RoundTripper
	dialer   *connrotation.Dialer // of upstream
	writes   *order               // the line's
	log      *log.Logger

	// open ends when Close begins, and with it all but the writes that were passed on; those end with graced.
	open, graced       context.Context
	closing, endWrites context.CancelFunc

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup
	served   chan struct{} // closed when the server has stopped
}

// grace is how long Close waits for the API server to answer the writes that were passed on.
const grace = 5 * time.Second

// Start starts a proxy. It is stopped by Close.
func Start(o Options) (*Proxy, error) {
	p, err := newProxy(o)
	if err != nil {
		return nil, fmt.Errorf("start the API proxy: %w", err)
	}
	return p, nil
}

func newProxy(o Options) (*Proxy, error) {
	p := &Proxy{hooks: o.Hooks, line: o.Line, served: make(chan struct{}), log: log.New(io.Discard, "", 0)}
	if p.hooks == nil {
		p.hooks = noHooks{}
	}
	if p.line == nil {
		p.line = NewLine()
	}
	p.writes = &p.line.writes
	if o.Log != nil {
		p.log.SetOutput(o.Log)
	}
	target, err := p.reach(o.Upstream)
	if err != nil {
		return nil, err
	}
	p.reverse = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization") // ours; the upstream's transport puts its own
		},
		Transport: roundTripper(p.roundTrip), FlushInterval: -1, ErrorLog: p.log, ErrorHandler: p.failed,
	}
	certificate, ca, err := newCertificate()
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.config = &rest.Config{
		Host: "https://" + listener.Addr().String(), BearerToken: rand.Text(), TLSClientConfig: rest.TLSClientConfig{CAData: ca},
	}
	p.open, p.closing = context.WithCancel(context.Background())
	p.graced, p.endWrites = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler: p, ErrorLog: p.log, ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		// Go's clients open a connection for each request that is beyond the limit, which is 250 by default.
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: 2000},
		BaseContext: func(net.Listener) context.Context { return p.open },
	}
	go func() {
		defer close(p.served)
		if err := p.server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			p.log.Printf("the API proxy stopped listening: %v", err)
		}
	}()
	return p, nil
}

// reach makes the transport to the kube-apiserver, and returns its URL.
func (p *Proxy) reach(upstream *rest.Config) (*url.URL, error) {
	if upstream == nil {
		return nil, errors.New("Options.Upstream is missing: set it to the control plane's configuration")
	}
	c := rest.CopyConfig(upstream)
	target, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil, err
	}
	if err := rest.LoadTLSFiles(c); err != nil {
		return nil, err
	}
	// With files, the transport would keep watching them after Close.
	c.CAFile, c.CertFile, c.KeyFile = "", "", ""
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: 30 * time.Second}).DialContext
	}
	p.dialer = connrotation.NewDialer(connrotation.DialFunc(c.Dial))
	c.Dial = p.dialer.DialContext
	if c.Proxy == nil {
		// Not through a proxy of the environment; and client-go keeps a transport with this set for nobody else.
		c.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	p.upstream, err = rest.TransportFor(c)
	return target, err
}

// Close closes all connections and watches at once and frees the port. It waits up to 5 s for the API server to answer
// the writes that were passed on, so that After tells of each write that was applied; then it returns. It may be called more than
// once. For nothing of a killed server to land later, kill it first, then Close.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.closing()
	if err := p.server.Close(); err != nil {
		p.log.Printf("close the API proxy: %v", err)
	}
	timer := time.AfterFunc(grace, p.endWrites)
	p.requests.Wait()
	timer.Stop()
	p.endWrites()
	<-p.served
	utilnet.CloseIdleConnectionsFor(p.upstream)
	p.dialer.CloseAll()
}

// begin notes a request that Close has to wait for, unless it is too late for one.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.requests.Add(1)
	return true
}
