package direct

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// leaveWithin is how long what the plugin has started may take to end when the plugin has.
const leaveWithin = 2 * time.Second

// leftovers records the processes and temporary files that the plugin has left behind.
func (x *run) leftovers() {
	var left []string
	for end := time.Now().Add(leaveWithin); ; time.Sleep(50 * time.Millisecond) {
		if left = x.alive(); len(left) == 0 || time.Now().After(end) {
			break
		}
	}
	for _, process := range left {
		x.event("", trace.Body{Left: &trace.Left{Process: process}})
	}
	entries, _ := os.ReadDir(os.TempDir()) //nolint:errcheck // what cannot be read is not told of
	for _, e := range entries {
		if e.Type()&fs.ModeSocket == 0 { // those are go-plugin's, of processes that were killed
			x.event("", trace.Body{Left: &trace.Left{File: e.Name()}})
		}
	}
}

// alive are the command lines of processes that the plugin, or what it has started, has started.
func (x *run) alive() (lines []string) {
	mark := fmt.Appendf(nil, "%s=%d\x00", marker, os.Getpid())
	folders, _ := filepath.Glob("/proc/[0-9]*") //nolint:errcheck // the pattern is one
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err != nil || !bytes.Contains(environment, mark) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline")) //nolint:errcheck // it has ended
		if _, err := strconv.Atoi(filepath.Base(folder)); err == nil && len(line) > 0 {
			lines = append(lines, strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")))
		}
	}
	return lines
}
