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

// plainEvery is how often a line tells the progress where no bar can be drawn.
const plainEvery = 10 * time.Second

// progress is the stderr of go build -v: it counts the packages, and keeps what else is printed. It implements io.Writer.
type progress struct {
	finder Finder
	total  int
	start  time.Time
	bar    *progressbar.ProgressBar // nil: plain lines

	mu    sync.Mutex
	done  int
	told  time.Time // the last plain line
	line  []byte    // the start of a line whose end has not been seen
	other strings.Builder
}

func newProgress(f Finder, total int) *progress {
	p := &progress{finder: f, total: total, start: f.Now(), told: f.Now()}
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
		return
	}
	if now := p.finder.Now(); now.Sub(p.told) >= plainEvery {
		p.told = now
		fmt.Fprintf(p.finder.Log, "compiled %d of %d packages, %v\n", p.done, p.total, p.elapsed())
	}
}

func (p *progress) elapsed() time.Duration {
	return p.finder.Now().Sub(p.start).Round(time.Second / 10)
}

// stop clears the bar.
func (p *progress) stop() {
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
