package executable

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// feed gives a progress of 4 packages what go build -v prints, and links for a while.
func feed(t *testing.T, terminal bool) (log, rest string) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := newProgress(Finder{Log: &b, Terminal: terminal, Now: time.Now}, 4)
		packages := "example.com/a\nexample.com/b\n# example.com/c\nc.go:1:1: syntax error\nexample.com/d\nexample.com/e\ncut"
		for line := range strings.Lines(packages) {
			time.Sleep(7 * time.Second) // in the bubble: no time passes
			fmt.Fprint(p, line)
		}
		time.Sleep(20 * time.Second)
		p.stop()
		log, rest = b.String(), p.rest()
	})
	return log, rest
}

func TestProgress(t *testing.T) {
	log, rest := feed(t, false)
	want := `compiled 1 of 4 packages, 10s
compiled 2 of 4 packages, 20s
compiled 2 of 4 packages, 30s
compiled 3 of 4 packages, 40s
compiling the last package or linking, 50s
compiling the last package or linking, 1m0s
`
	if diff := cmp.Diff(want, log); diff != "" {
		t.Errorf("plain lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("# example.com/c\nc.go:1:1: syntax error\ncut", rest); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
	log, _ = feed(t, true)
	if !strings.Contains(log, "(3/4)") || !strings.Contains(log, "compiling the last package or linking, 50s\n") || strings.Contains(log, "compiled ") {
		t.Errorf("the bar: %q", log)
	}
}

func TestALongSearchForPackagesIsSeenToGoOn(t *testing.T) {
	root := small(t)
	synctest.Test(t, func(t *testing.T) {
		f, log := finder(t, root, func(_ context.Context, _ string, stdout, _ io.Writer, _ string, args ...string) error {
			if args[0] == "list" { // it downloads modules
				time.Sleep(25 * time.Second)
			}
			return fmt.Errorf("no %s", args[0])
		})
		f.build(t.Context(), target{name: "velosim-virtual"}, toolchain{}, root, "key") //nolint:errcheck // it cannot succeed
		if !strings.HasSuffix(log.String(), "\nstill looking, 10s\nstill looking, 20s\n") {
			t.Errorf("log:\n%s", log)
		}
	})
}
