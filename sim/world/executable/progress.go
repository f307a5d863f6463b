package executable

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// plainEvery is how often a line tells the progress where there is no bar: without a terminal, and for what cannot be counted.
const plainEvery = 10 * time.Second

// remind prints a line every now and then, until stop, as long as something goes on.
func (f Finder) remind(what string) (stop func()) {
	start := f.Now()
	return regularly(func() { fmt.Fprintf(f.Log, "%s, %v\n", what, f.Now().Sub(start).Round(time.Second)) })
}

// regularly calls tell from a goroutine of its own, until stop returns.
func regularly(tell func()) (stop func()) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(plainEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				tell()
			}
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}

// progress is the stderr of go build -v: it counts the packages, and keeps what else is printed. It implements io.Writer.
type progress struct {
	finder Finder
	total  int
	start  time.Time
	bar    *progressbar.ProgressBar // nil: plain lines
	quiet  func()                   // ends the plain lines

	mu    sync.Mutex
	done  int
	line  []byte // the start of a line whose end has not been seen
	other strings.Builder
}

func newProgress(f Finder, total int) *progress {
	p := &progress{finder: f, total: total, start: f.Now()}
	if f.Terminal {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(f.Log),
			progressbar.OptionSetDescription("compiling"),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetWidth(30),
			progressbar.OptionClearOnFinish(),
		)
	}
	p.quiet = regularly(p.tell)
	return p
}

// Write implements io.Writer; it never fails.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line = append(p.line, b...)
	for {
		line, rest, ended := bytes.Cut(p.line, []byte("\n"))
		if !ended {
			return len(b), nil
		}
		p.add(string(line))
		p.line = rest
	}
}

// importPath is all that go build -v prints of a package; what the compiler says has spaces, or begins with "#".
var importPath = regexp.MustCompile(`^[\w.~+/-]+$`)

func (p *progress) add(line string) {
	if !importPath.MatchString(line) {
		p.other.WriteString(line + "\n")
		return
	}
	p.done = min(p.done+1, p.total)
	if p.bar != nil {
		p.bar.Set(p.done) //nolint:errcheck // nothing depends on the bar
	}
}

// tell prints a plain line where there is no bar: when all is compiled, it is gone.
func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.done == p.total: // go build names the last package when it begins with it
		fmt.Fprintf(p.finder.Log, "compiling the last package or linking, %v\n", p.elapsed())
	case p.bar == nil:
		fmt.Fprintf(p.finder.Log, "compiled %d of %d packages, %v\n", p.done, p.total, p.elapsed())
	}
}

func (p *progress) elapsed() time.Duration {
	return p.finder.Now().Sub(p.start).Round(time.Second / 10)
}

// stop ends the plain lines, and clears the bar.
func (p *progress) stop() {
	p.quiet()
	if p.bar != nil {
		p.bar.Clear() //nolint:errcheck // nothing depends on the bar
	}
}

// rest returns what was printed beside the packages: what the compiler says, above all.
func (p *progress) rest() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.TrimSpace(p.other.String() + string(p.line))
}
