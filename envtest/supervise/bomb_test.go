package supervise_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Programs that fork all the time are killed to the last process. Each process that they start appends its process ID to a
// file. They stop by themselves after some thousand processes, should the test fail.
func TestForkBombs(t *testing.T) {
	for name, script := range map[string]string{
		"keeps forking": `
			i=0; while [ $i -lt 4000 ]; do i=$((i+1)); sh -c 'echo $$ >>"$1"; exec sleep 100' sh "$1" & done; wait`,
		"children fork too": `
			d=${2:-0}; echo $$ >>"$1"; [ $d -lt 9 ] || exec sleep 100
			sh "$0" "$1" $((d+1)) & sh "$0" "$1" $((d+1)) & wait`,
		"runs away": `
			echo $$ >>"$1"; d=${2:-0}; [ $d -lt 4000 ] || exit
			[ -n "$2" ] && { setsid sh "$0" "$1" $((d+1)) & exit; }
			for i in 1 2 3; do setsid sh "$0" "$1" 1 & done; exec sleep 100`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			bomb, list := filepath.Join(dir, "bomb"), filepath.Join(dir, "list")
			if err := os.WriteFile(bomb, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			c := sh("")
			c.Args = []string{bomb, list}
			p, _ := startLines(t, c, 0)
			select {
			case <-time.After(time.Second):
			case <-p.Done():
				t.Errorf("the program ended with %v", p.Err())
			}
			begin := time.Now()
			if err := p.Kill(); err != nil {
				t.Error(err)
			}
			took := time.Since(begin)
			data, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			processes := 0
			for line := range strings.Lines(string(data)) {
				pid, err := strconv.Atoi(strings.TrimSpace(line))
				if err != nil {
					t.Fatalf("line %q", line)
				}
				gone(t, pid)
				processes++
			}
			t.Logf("Kill took %v after %d processes", took, processes)
			if processes < 10 {
				t.Error("that was no bomb")
			}
		})
	}
}
