package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/velosim/velosim/envtest/proxy"
)

// BenchmarkAdded measures requests directly and through the proxy, in turn.
func BenchmarkAdded(b *testing.B) {
	s, upstream := newAPIServer(b, "HTTP/2")
	p, err := proxy.Start(proxy.Options{Upstream: upstream, Hooks: quiet{}})
	check(b, err)
	defer p.Close()
	check(b, ctrlClient(b, upstream).Create(b.Context(), newBackup("b")))
	for _, test := range []struct{ name, method, body string }{
		{"get", http.MethodGet, ""},
		{"patch", http.MethodPatch, `{"status":{"phase":"InProgress"}}`},
	} {
		b.Run(test.name, func(b *testing.B) {
			direct, proxied := newSender(b, upstream), newSender(b, config(p))
			var took [2]time.Duration
			for b.Loop() {
				for i, send := range []func(method, body string){direct, proxied} {
					from := time.Now()
					send(test.method, test.body)
					took[i] += time.Since(from)
				}
				s.events = nil
			}
			perRequest := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
			b.ReportMetric(perRequest(took[0]), "µs-direct")
			b.ReportMetric(perRequest(took[1]), "µs-proxied")
			b.ReportMetric(perRequest(took[1]-took[0]), "µs-added")
		})
	}
}

type quiet struct{}

func (quiet) Before(*proxy.Request) proxy.Action                 { return proxy.Action{} }
func (quiet) After(*proxy.Request, *proxy.Response) proxy.Action { return proxy.Action{} }

// newSender sends requests about one backup.
func newSender(b *testing.B, c *rest.Config) func(method, body string) {
	client := httpClient(b, c)
	return func(method, body string) {
		r, err := http.NewRequestWithContext(b.Context(), method, c.Host+"/apis/velero.io/v1/namespaces/velero/backups/b", strings.NewReader(body))
		check(b, err)
		response, err := client.Do(r)
		check(b, err)
		_, err = io.Copy(io.Discard, response.Body)
		check(b, err)
		check(b, response.Body.Close())
		if response.StatusCode != http.StatusOK {
			b.Fatal(response.Status)
		}
	}
}
