package server

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vmware-tanzu/velero/pkg/constant"
)

// TestInternalActionsAreTheServers compares the list, which is in Velero's order, with the calls in its own source.
func TestInternalActionsAreTheServers(t *testing.T) {
	var got []string
	for _, a := range InternalActions(nil) {
		got = append(got, string(a.Kind)+" "+a.Name)
	}
	want := registered(t)
	slices.Sort(want) // version 1 of a kind is before version 2
	if !slices.Equal(got, want) {
		t.Errorf("InternalActions:\n%s\nVelero registers:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) < 30 {
		t.Errorf("only %d calls found", len(want))
	}
}

// registered finds Velero's Register…ItemAction…(name, …) and RegisterItemBlockAction(name, …) calls.
func registered(t *testing.T) (actions []string) {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/vmware-tanzu/velero").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(strings.TrimSpace(string(dir)), "pkg/cmd/server/plugin/plugin.go")
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]string{
		"PluginCSIPVCRestoreRIA":            constant.PluginCSIPVCRestoreRIA,
		"PluginCsiVolumeSnapshotRestoreRIA": constant.PluginCsiVolumeSnapshotRestoreRIA,
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !strings.HasPrefix(sel.Sel.Name, "Register") {
			return true
		}
		kind := strings.TrimPrefix(sel.Sel.Name, "Register")
		switch name := call.Args[0].(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(name.Value)
			if err != nil {
				t.Fatal(err)
			}
			actions = append(actions, kind+" "+s)
		case *ast.SelectorExpr:
			actions = append(actions, kind+" "+constants[name.Sel.Name])
		}
		return true
	})
	return actions
}
