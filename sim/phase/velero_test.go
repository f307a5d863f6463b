package phase

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// veleroDir is the folder of Velero's module, at the version that this module requires.
func veleroDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/vmware-tanzu/velero").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("Velero's source is not in the module cache: run go mod download github.com/vmware-tanzu/velero (%v)", err)
	}
	return dir
}

// TestVeleroAssignsThesePhases reads every assignment to Status.Phase in Velero's controllers and server: the machine
// reaches exactly those phases, and New.
func TestVeleroAssignsThesePhases(t *testing.T) {
	dir := veleroDir(t)
	ofKind := regexp.MustCompile(`^(Backup|Restore)Phase([A-Z][A-Za-z]*)$`)
	assigned := map[string]map[string]bool{"Backup": {"New": true}, "Restore": {"New": true}}
	seen := 0
	for _, folder := range []string{"pkg/controller", "pkg/cmd/server"} {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				assignment, ok := node.(*ast.AssignStmt)
				if !ok || len(assignment.Lhs) != 1 || !isStatusPhase(assignment.Lhs[0]) {
					return true
				}
				constant, ok := assignment.Rhs[0].(*ast.SelectorExpr)
				if !ok {
					t.Errorf("%s: Status.Phase is assigned something other than a constant; read it, and teach this test",
						files.Position(assignment.Pos()))
					return true
				}
				if match := ofKind.FindStringSubmatch(constant.Sel.Name); match != nil {
					seen++
					assigned[match[1]][match[2]] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 30 {
		t.Errorf("only %d assignments found: is Velero's source laid out differently?", seen)
	}
	for name, kind := range map[string]Kind{"Backup": Backup, "Restore": Restore} {
		reached := map[string]bool{New.String(): true}
		for edge := range readings(t)[1].Legal(kind) {
			reached[edge.To.String()] = true
		}
		if diff := cmp.Diff(assigned[name], reached); diff != "" {
			t.Errorf("phases of a %s (-assigned in Velero +reached by the machine):\n%s", kind, diff)
		}
	}
}

// isStatusPhase reports whether the expression is x.Status.Phase.
func isStatusPhase(e ast.Expr) bool {
	phase, ok := e.(*ast.SelectorExpr)
	if !ok || phase.Sel.Name != "Phase" {
		return false
	}
	status, ok := phase.X.(*ast.SelectorExpr)
	return ok && status.Sel.Name == "Status"
}

// TestSourcesExist: each file, and each function of it or section of a design, that an input names is in Velero.
func TestSourcesExist(t *testing.T) {
	dir := veleroDir(t)
	for in := range inputs {
		source := in.Source()
		if source == proposed || source == "the environment" {
			continue
		}
		for part := range strings.SplitSeq(source, "; ") {
			path, function, ok := strings.Cut(part, ": ")
			if !ok {
				t.Errorf("%s: source %q is not written file: function", in, part)
				continue
			}
			if strings.HasSuffix(path, ".md") {
				text, err := os.ReadFile(filepath.Join(dir, path))
				if err != nil || !regexp.MustCompile(`(?m)^#+ `+regexp.QuoteMeta(function)+`$`).Match(text) {
					t.Errorf("%s: %s has no section %q (%v)", in, path, function, err)
				}
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, path), nil, 0)
			if err != nil {
				t.Errorf("%s: %v", in, err)
				continue
			}
			declared := false
			for _, declaration := range file.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == function {
					declared = true
				}
			}
			if !declared {
				t.Errorf("%s: %s declares no %s", in, path, function)
			}
		}
	}
}
