package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// controller is a controller of Velero and how much of it was reached.
type controller struct {
	name      string
	files     []string
	functions []function
}

// phaseControllers are those that take backups and restores from phase to phase.
func phaseControllers() []controller {
	return []controller{
		{name: "backup queue", files: []string{"backup_queue_controller.go", "backup_tracker.go"}},
		{name: "backup", files: []string{"backup_controller.go"}},
		{name: "backup operations", files: []string{"backup_operations_controller.go"}},
		{name: "backup finalizer", files: []string{"backup_finalizer_controller.go"}},
		{name: "restore", files: []string{"restore_controller.go"}},
		{name: "restore operations", files: []string{"restore_operations_controller.go"}},
		{name: "restore finalizer", files: []string{"restore_finalizer_controller.go"}},
	}
}

// function is a function with its statements, those of the function literals in it included.
type function struct {
	name                string
	statements, reached int
	unit                int // statements that Velero's own tests reach
	explained           int // statements of which unreached.txt says why nothing reaches them
	missed              []gap
}

// gap is a range of a file of which nothing was reached.
type gap struct {
	file        string
	first, last int // lines
	statements  int
	text        string // of the first line
	source      string // of all lines
	reason      string // why nothing reaches it; empty: nobody says
}

// readControllers fills in the functions of the controllers, whose sources are in the folder. Blocks are by file; unit is a share of
// a function's statements, by "file:line".
func readControllers(folder fs.FS, controllers []controller, blocks map[string][]block, unit map[string]float64) ([]controller, error) {
	for i := range controllers {
		c := &controllers[i]
		for _, file := range c.files {
			if len(blocks[file]) == 0 {
				return nil, fmt.Errorf("the profile has nothing of %s: was the world built with -coverpkg=%s?", file, controllerPackage)
			}
			source, err := fs.ReadFile(folder, file)
			if err != nil {
				return nil, err
			}
			functions, err := readFunctions(file, source, blocks[file], unit)
			if err != nil {
				return nil, err
			}
			c.functions = append(c.functions, functions...)
		}
	}
	return controllers, nil
}

// readFunctions returns the functions of a file that have statements.
func readFunctions(file string, source []byte, blocks []block, unit map[string]float64) ([]function, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(source), "\n")
	blocks = slices.SortedFunc(slices.Values(blocks), func(a, b block) int {
		return cmp.Or(cmp.Compare(a.from.line, b.from.line), cmp.Compare(a.from.column, b.from.column))
	})
	var functions []function
	for _, declaration := range parsed.Decls {
		declared, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := at(set, declared.Pos()), at(set, declared.End())
		var within []block
		for _, b := range blocks {
			if !b.from.before(from) && b.from.before(to) {
				within = append(within, b)
			}
		}
		f := count(within)
		if f.statements == 0 {
			continue
		}
		f.name = declared.Name.Name
		f.missed = gaps(file, lines, within)
		share, ok := unit[fmt.Sprintf("%s:%d", file, from.line)]
		if !ok {
			return nil, fmt.Errorf("%s:%d: there is no figure of the unit tests for %s: it is another release's; measure it as main.go tells", file, from.line, f.name)
		}
		f.unit = int(math.Round(share * float64(f.statements)))
		functions = append(functions, f)
	}
	return functions, nil
}

func at(set *token.FileSet, p token.Pos) position {
	found := set.Position(p)
	return position{found.Line, found.Column}
}

func count(blocks []block) (f function) {
	for _, b := range blocks {
		f.statements += b.statements
		if b.reached {
			f.reached += b.statements
		}
	}
	return f
}

// gaps joins what was not reached, and touches, in blocks in order. A block without statements joins, but is no gap by itself.
func gaps(file string, lines []string, blocks []block) (found []gap) {
	open := false // whether the block before belongs to the last gap
	for _, b := range blocks {
		if b.reached || b.statements == 0 && !open {
			open = false
			continue
		}
		if last := len(found) - 1; open && b.from.line <= found[last].last+1 {
			found[last].last = max(found[last].last, b.to.line)
			found[last].statements += b.statements
			continue
		}
		found = append(found, gap{file: file, first: b.from.line, last: b.to.line, statements: b.statements})
		open = true
	}
	for i, g := range found {
		source := lines[min(g.first-1, len(lines)):min(g.last, len(lines))]
		found[i].source = strings.Join(source, "\n")
		if len(source) > 0 {
			found[i].text = strings.TrimSpace(source[0])
		}
	}
	return found
}

// parseUnitTests reads what "go tool cover -func" prints, without the folders: file:line: name percent%. It returns shares of 1 by
// "file:line".
func parseUnitTests(s string) (map[string]float64, error) {
	shares := map[string]float64{}
	n := 0
	for line := range strings.Lines(s) {
		n++
		fields := strings.Fields(line)
		if len(fields) != 3 || !strings.HasSuffix(fields[0], ":") || !strings.HasSuffix(fields[2], "%") {
			return nil, fmt.Errorf("line %d: %q is no line of go tool cover -func", n, strings.TrimSpace(line))
		}
		percent, err := strconv.ParseFloat(strings.TrimSuffix(fields[2], "%"), 64)
		if err != nil || percent < 0 || percent > 100 {
			return nil, fmt.Errorf("line %d: %s is no percentage", n, fields[2])
		}
		shares[strings.TrimSuffix(fields[0], ":")] = percent / 100
	}
	return shares, nil
}
