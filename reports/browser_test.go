package reports

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// tab is a page in a headless Chromium. The test fails for whatever the page's console complains of, and for any request that it makes.
type tab struct {
	*testing.T
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// open opens a report in the browser that VELOSIM_BROWSER names, or that is in PATH. make test installs one.
func open(t *testing.T, r *Report, width, height int64, dark bool) *tab {
	t.Helper()
	path := os.Getenv("VELOSIM_BROWSER")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		t.Skip("there is no chromium in PATH: .ci/browser, which make test calls, installs one")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "profile")),
		chromedp.WindowSize(int(width), int(height)))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to have one then
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute) // the browser ends with the test's own cleanup
	t.Cleanup(stop)
	ctx, stopBrowser := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stopBrowser)
	ctx, stopTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // it waits until the browser has ended, which writes its profile until then
			t.Error(err)
		}
		stopTab()
	})

	p := &tab{T: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.complaints = append(p.complaints, "exception: "+e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			p.complaints = append(p.complaints, fmt.Sprintf("console.%s %s", e.Type, e.Args[0].Value))
		case *log.EventEntryAdded:
			p.complaints = append(p.complaints, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != "file://"+file && !strings.HasPrefix(e.Request.URL, "file://"+file+"#") && !strings.HasPrefix(e.Request.URL, "blob:") {
				p.complaints = append(p.complaints, "request: "+e.Request.URL)
			}
		}
	})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.do(
		network.Enable(), log.Enable(), runtime.Enable(), browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorDeny),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, // what moves is not where it was clicked
		}),
		emulation.SetDeviceMetricsOverride(width, height, 1, false),
		chromedp.Navigate("file://"+file), chromedp.WaitVisible(`html[data-ready=yes]`, chromedp.ByQuery),
	)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, complaint := range p.complaints {
			t.Error(complaint)
		}
	})
	return p
}

func (p *tab) do(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// eval evaluates an expression, and decodes its value.
func (p *tab) eval(expression string, value any) {
	p.Helper()
	var b []byte
	p.do(chromedp.Evaluate("JSON.stringify("+expression+")", &b))
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		p.Fatalf("%s: %v (%s)", expression, err, b)
	}
	if err := json.Unmarshal([]byte(text), value); err != nil {
		p.Fatalf("%s: %v (%s)", expression, err, text)
	}
}

// text of the first element of a selector.
func (p *tab) text(selector string) (text string) {
	p.Helper()
	p.eval(fmt.Sprintf("document.querySelector(%q)?.innerText ?? null", selector), &text)
	return text
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.Helper()
	if err := chromedp.Run(p.ctx, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(20*time.Second))); err != nil {
		p.Fatalf("%s does not become true: %v", expression, err)
	}
}

func (p *tab) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(selector, chromedp.ByQuery))
}

func (p *tab) press(keys ...string) {
	p.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

// screenshot writes one, if SCREENSHOTS names a folder: those in docs/images are made so.
func (p *tab) screenshot(name string) {
	p.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	var b []byte
	p.do(chromedp.CaptureScreenshot(&b))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644); err != nil {
		p.Fatal(err)
	}
}

const (
	tabKey, enter, right = kb.Tab, kb.Enter, kb.ArrowRight
)

// setValue sets a field of the filters, as a user does.
func setValue(field, value string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`(() => {
		const f = document.querySelector("#filters").elements[%q];
		f.value = %q;
		f.dispatchEvent(new Event("input", {bubbles: true}));
		return 1;
	})()`, field, value), nil)
}
