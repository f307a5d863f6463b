package executable

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"hash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/velosim/velosim/sim/world/executable/seeded"
)

// repository is the path of the root module.
const repository = "github.com/velosim/velosim"

// checkout returns the root of the checkout that dir is in. The error is fs.ErrNotExist if it is in none.
func checkout(dir string) (string, error) {
	for {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("failed to look for a checkout: %w", err)
		}
		if m := parseModule(b); m.path == repository {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fs.ErrNotExist
		}
		dir = parent
	}
}

// module is what of a go.mod is needed here: its path, and its replacements by local folders.
type module struct {
	path  string
	local map[string]string
}

func parseModule(b []byte) module {
	m := module{local: map[string]string{}}
	block := ""
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "//")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case fields[0] == ")":
			block = ""
			continue
		case len(fields) == 2 && fields[1] == "(":
			block = fields[0]
			continue
		case block != "":
			fields = append([]string{block}, fields...)
		}
		switch arrow := slices.Index(fields, "=>"); {
		case fields[0] == "module" && len(fields) == 2:
			m.path = strings.Trim(fields[1], `"`)
		case fields[0] == "replace" && arrow > 1 && arrow+1 < len(fields) && strings.HasPrefix(fields[arrow+1], "."):
			m.local[fields[1]] = fields[arrow+1]
		}
	}
	return m
}

// toolchain is the Go that builds a world.
type toolchain struct {
	env     []byte // what of its environment decides what it makes
	overlay string // for go build -overlay; empty: none
}

// toolchain asks for the Go that builds what is in dir.
func (f Finder) toolchain(ctx context.Context, t target, dir string) (toolchain, error) {
	var out, stderr bytes.Buffer
	if err := f.Run(ctx, dir, &out, &stderr, "go", "env",
		"GOROOT", "GOVERSION", "GOOS", "GOARCH", "GOFLAGS", "GOEXPERIMENT", "CGO_ENABLED"); err != nil {
		return toolchain{}, fmt.Errorf("in a checkout, %s is built by the go command, which fails; is Go installed, and in PATH? %w\n%s",
			t.name, err, stderr.Bytes())
	}
	if !t.seeded {
		return toolchain{env: out.Bytes()}, nil
	}
	goroot, _, _ := bytes.Cut(out.Bytes(), []byte("\n"))
	overlay, err := seeded.Overlay(strings.TrimSpace(string(goroot)), f.Cache)
	if errors.Is(err, seeded.ErrUnknown) {
		fmt.Fprintf(f.Log, "Seeds will not decide the order of Go's maps: %v. Go 1.26 would do.\n", err)
		err = nil
	}
	return toolchain{out.Bytes(), overlay}, err
}

// Overlay returns the file that a world is built with, for go build -overlay; empty if there is none for this Go.
func (f Finder) Overlay(ctx context.Context, world string) (string, error) {
	t, err := targetOf(world)
	if err != nil {
		return "", err
	}
	g, err := f.toolchain(ctx, t, f.Dir)
	return g.overlay, err
}

// key identifies what a build of t in the checkout at root makes: it changes with Go, the platform, the flags, the modules'
// versions, and each source file of the checkout that goes into the executable. Those are found by their imports: asking
// the go command would take longer than a scenario does.
func (g toolchain) key(t target, root string) (string, error) {
	nested := filepath.Join(root, t.module)
	s := sources{hash: sha256.New(), root: root, modules: map[string]string{}, seen: map[string]bool{}}
	s.hash.Write(g.env)
	fmt.Fprintln(s.hash, g.overlay+t.link)
	m, err := s.module(nested)
	if err != nil {
		return "", err
	}
	s.modules[m.path] = nested
	for _, path := range slices.Sorted(maps.Keys(m.local)) {
		s.modules[path] = filepath.Join(nested, m.local[path])
		if _, err := s.module(s.modules[path]); err != nil {
			return "", err
		}
	}
	if err := s.file(filepath.Join(nested, "go.sum")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if strings.HasPrefix(t.pkg, "./") { // else its module's files say all
		if err := s.pkg(filepath.Join(nested, t.pkg)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(s.hash.Sum(nil))[:20], nil
}

// sources hashes packages and what they import.
type sources struct {
	hash    hash.Hash
	root    string
	modules map[string]string // folders, by module path
	seen    map[string]bool   // folders of packages
}

func (s *sources) module(dir string) (module, error) {
	name := filepath.Join(dir, "go.mod")
	b, err := os.ReadFile(name)
	if err != nil {
		return module{}, fmt.Errorf("the checkout is not complete: %w", err)
	}
	return parseModule(b), s.file(name)
}

// file hashes a file with its name in the checkout and its length, so that no two sets of files look the same.
func (s *sources) file(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(s.root, name)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.hash, "%q %d\n", rel, len(b))
	s.hash.Write(b)
	return nil
}

// pkg hashes the package in dir, and the packages of the checkout that it imports.
func (s *sources) pkg(dir string) error {
	if s.seen[dir] {
		return nil
	}
	s.seen[dir] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the checkout lacks a package: %w", err)
	}
	var imports []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case ignored(e):
		case e.IsDir():
			err = s.embedded(name)
		default:
			err = s.file(name)
			if strings.HasSuffix(name, ".go") {
				imports = append(imports, importsOf(name)...)
			}
		}
		if err != nil {
			return err
		}
	}
	for _, path := range imports {
		if dir, ok := s.folder(path); ok {
			if err := s.pkg(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// embedded hashes a folder below a package, which may be embedded in it unless it holds a package of its own.
func (s *sources) embedded(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".go") || e.Name() == "go.mod"
	}) {
		return nil
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case ignored(e):
		case e.IsDir():
			err = s.embedded(name)
		default:
			err = s.file(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ignored tells whether a file or folder cannot be part of an executable.
func ignored(e fs.DirEntry) bool {
	name := e.Name()
	return name[0] == '.' || name[0] == '_' || e.IsDir() && name == "testdata" || strings.HasSuffix(name, "_test.go") ||
		!e.IsDir() && !e.Type().IsRegular()
}

// importsOf returns what a file imports. One that cannot be parsed imports nothing: the compiler will say why.
func importsOf(name string) []string {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	var paths []string
	for _, i := range f.Imports {
		if path, err := strconv.Unquote(i.Path.Value); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// folder returns the folder of a package that belongs to one of the modules; the longest module path decides, as for Go.
func (s *sources) folder(path string) (string, bool) {
	best := ""
	for m := range s.modules {
		if (path == m || strings.HasPrefix(path, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return filepath.Join(s.modules[best], strings.TrimPrefix(path, best)), best != ""
}
