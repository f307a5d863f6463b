package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/world/executable"
)

// The pages of docs and the README, as this test reads them:
//
//   - A block of sh is run, in a folder of its page, if each of its lines is a command of velosim that is cheap in virtual time; other
//     blocks, and those after a comment "<!-- not run: why -->", are only read. A line that says "# exits with N" must do so, others with 0.
//   - A block of text after it is what its commands print, in any order of the lines. "[...]" stands for more lines or, within a line, for
//     anything. A comment "<!-- output: of what -->" before it says that it is not compared.
//   - A block after "<!-- file: NAME -->" is a file that the commands below it find there.

// TestPagesRun runs what the pages say.
func TestPagesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs scenarios")
	}
	world := virtualWorld(t)
	ran := 0
	t.Run("pages", func(t *testing.T) {
		for _, file := range pages(t) {
			p := readPage(t, file)
			ran += p.toRun()
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				p.run(t, world)
			})
		}
	})
	if ran < 12 {
		t.Errorf("only %d blocks are run", ran)
	}
}

// TestPagesName: what the pages tell to run, also where it takes too long here, has commands, flags, scenarios and targets of make that there
// are.
func TestPagesName(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	said := regexp.MustCompile("`((?:backup|restore|server)(?:-[a-z]+){2,})`")
	for _, file := range pages(t) {
		p := readPage(t, file)
		for _, m := range said.FindAllStringSubmatch(p.text, -1) {
			if strings.HasPrefix(filepath.Base(file), "tutorial-") && !slices.Contains(scenarios.Names(), m[1]) {
				t.Errorf("%s: there is no scenario %s", file, m[1])
			}
		}
		for _, b := range p.blocks {
			for _, line := range b.commands() {
				words := strings.Fields(line)
				if words[0] == "make" && len(words) > 1 && !regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(words[1])+`:`).Match(makefile) {
					t.Errorf("%s: %s: there is no such target", file, line)
				}
				if args, ok := strings.CutPrefix(line, "velosim "); ok {
					args, _, _ = strings.Cut(args, "  #")
					parses(t, file, args)
				}
				for _, name := range scenariosOf(t, line) {
					named++
					if !slices.Contains(scenarios.Names(), name) {
						t.Errorf("%s: %s: there is no scenario %s", file, line, name)
					}
				}
			}
		}
	}
	if named < 10 {
		t.Errorf("only %d scenarios are named", named)
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(files, "../../README.md")
}

// virtualWorld is the folder of the world, if it is built.
func virtualWorld(t *testing.T) string {
	t.Helper()
	finder, err := executable.FromEnvironment(io.Discard, false)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := finder.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(parts, func(p executable.Part) bool { return p.Name == "velosim-virtual" && p.Path != "" && !p.Stale })
	if i < 0 {
		t.Skip("the world virtual of these sources is not built: velosim setup builds it")
	}
	return filepath.Dir(parts[i].Path)
}

// page is a file in Markdown.
type page struct {
	file, text string
	blocks     []block
}

// block is a fenced one: where its text begins in the page's, and the comment right before it.
type block struct {
	language, note, text string
	at                   int
}

func readPage(t *testing.T, file string) *page {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{file: file, text: string(b)}
	fence := regexp.MustCompile("(?ms)^(?: *<!-- ([^\n]*) -->\n+)? *```([a-z]*)\n(.*?)^ *```$")
	for _, m := range fence.FindAllStringSubmatchIndex(p.text, -1) {
		note := ""
		if m[2] >= 0 {
			note = p.text[m[2]:m[3]]
		}
		p.blocks = append(p.blocks, block{p.text[m[4]:m[5]], note, p.text[m[6]:m[7]], m[6]})
	}
	return p
}

// commands are the lines of a block of sh.
func (b block) commands() []string {
	if b.language != "sh" {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(b.text, "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' { // in a list, it is indented
			lines = append(lines, line)
		}
	}
	return lines
}

// dear is what takes minutes, depends on the machine, or is done to another's.
var dear = regexp.MustCompile(`--world envtest|^velosim (plugin|setup|doctor)\b|^velosim run( -\S+( \S+)?)*$`)

// cheap tells whether the block is run.
func (b block) cheap() bool {
	commands := b.commands()
	return len(commands) > 0 && !strings.HasPrefix(b.note, "not run: ") && !slices.ContainsFunc(commands, func(line string) bool {
		command, _, _ := strings.Cut(line, "  #")
		return !strings.HasPrefix(line, "velosim ") || dear.MatchString(strings.TrimSpace(command))
	})
}

func (p *page) toRun() int {
	n := 0
	for _, b := range p.blocks {
		if b.cheap() {
			n++
		}
	}
	return n
}

func (p *page) run(t *testing.T, world string) {
	dir, updated := t.TempDir(), p.text
	shift := 0 // of what comes after blocks that were updated
	for i, b := range p.blocks {
		if name, ok := strings.CutPrefix(b.note, "file: "); ok {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !b.cheap() {
			continue
		}
		var printed strings.Builder
		for _, line := range b.commands() {
			printed.WriteString(runLine(t, dir, world, line))
		}
		if i+1 == len(p.blocks) || p.blocks[i+1].language != "text" || strings.HasPrefix(p.blocks[i+1].note, "output: ") {
			continue
		}
		shown := p.blocks[i+1]
		if matches(shown.text, printed.String()) {
			continue
		}
		if *update && !strings.Contains(shown.text, "[...]") {
			updated = updated[:shift+shown.at] + printed.String() + updated[shift+shown.at+len(shown.text):]
			shift += printed.Len() - len(shown.text)
			continue
		}
		t.Errorf("%s: what %q prints (-page +printed; -update writes it, where nothing is left out):\n%s",
			p.file, b.text, cmp.Diff(shown.text, printed.String()))
	}
	if updated != p.text {
		if err := os.WriteFile(p.file, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runLine runs a command, and returns what it prints.
func runLine(t *testing.T, dir, world, line string) string {
	t.Helper()
	var printed strings.Builder // stderr too, as on a terminal
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &printed, &printed
	cmd.Env = append(os.Environ(), executable.DirVariable+"="+world)
	code, want := 0, 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`# exits with (\d+)`).FindStringSubmatch(line); m != nil {
		fmt.Sscan(m[1], &want) //nolint:errcheck // they are digits
	}
	if code != want {
		t.Errorf("%s: exit code %d, want %d\n%s", line, code, want, &printed)
	}
	return printed.String()
}

// matches tells whether a block shows what was printed. Runs that go on at a time end in any order.
func matches(shown, printed string) bool {
	if !strings.Contains(shown, "[...]") {
		return slices.Equal(sorted(shown), sorted(printed))
	}
	pattern := regexp.QuoteMeta("\n" + shown)
	pattern = strings.ReplaceAll(pattern, "\n"+regexp.QuoteMeta("[...]\n"), "\n(?:.*\n)*?")
	pattern = strings.ReplaceAll(pattern, regexp.QuoteMeta("[...]"), ".*")
	return regexp.MustCompile(`^` + pattern + `$`).MatchString("\n" + printed)
}

func sorted(text string) []string {
	return slices.Sorted(strings.SplitSeq(text, "\n"))
}

// scenariosOf are the names of the catalogue's scenarios that the commands of a line are given: what is neither a path nor a variable.
func scenariosOf(t *testing.T, line string) []string {
	t.Helper()
	line, _, _ = strings.Cut(line, " #")
	var names []string
	for part := range strings.SplitSeq(line, "&&") {
		words := strings.Fields(part)
		if len(words) < 2 || words[0] != "velosim" || !slices.Contains([]string{"run", "sweep", "plan", "lint"}, words[1]) {
			continue
		}
		cmd, rest, err := newRoot(&cli{out: io.Discard, err: io.Discard}).Find(words[1:])
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		for _, arg := range cmd.Flags().Args() {
			if !strings.ContainsAny(arg, "/.$|>") {
				names = append(names, arg)
			}
		}
	}
	return names
}
