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
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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

// key identifies what a build of t in the checkout at root makes: it changes with Go, the platform, the flags, the modules'
// versions, and each source file of the checkout that goes into the executable. Those are found by their imports: asking
// the go command would take longer than a scenario does.
func (f Finder) key(ctx context.Context, t target, root string) (string, error) {
	s := sources{hash: sha256.New(), root: root, modules: map[string]string{}, seen: map[string]bool{}}
	nested := filepath.Join(root, t.module)
	var out, stderr bytes.Buffer
	if err := f.Run(ctx, nested, &out, &stderr, "go", "env", "GOVERSION", "GOOS", "GOARCH", "GOFLAGS", "GOEXPERIMENT", "CGO_ENABLED"); err != nil {
		return "", fmt.Errorf("%s must be built by the go command, which fails (is Go installed, and in PATH?): %w\n%s", t.name, err, stderr.Bytes())
	}
	s.hash.Write(out.Bytes())
	m, err := s.module(nested)
	if err != nil {
		return "", err
	}
	for path, dir := range m.local {
		s.modules[path] = filepath.Join(nested, dir)
	}
	s.modules[m.path] = nested
	for _, dir := range slices.Sorted(maps2(s.modules)) {
		if _, err := s.module(dir); err != nil {
			return "", err
		}
	}
	if err := s.file(filepath.Join(nested, "go.sum")); err != nil {
		return "", err
	}
	if err := s.pkg(filepath.Join(nested, t.dir)); err != nil {
		return "", err
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
