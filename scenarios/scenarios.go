package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed */*.yaml
var files embed.FS

// Names of the catalogue's scenarios, sorted.
func Names() []string {
	var names []string
	for _, file := range Files() {
		names = append(names, strings.TrimSuffix(path.Base(file), ".yaml"))
	}
	slices.Sort(names)
	return names
}

// Files of the catalogue, as paths with slashes: operation/backup-operation-completes.yaml. The folder says what the scenario is about.
func Files() []string {
	found, err := fs.Glob(files, "*/*.yaml")
	if err != nil {
		panic(err) // the pattern is good
	}
	return found
}

// Read returns the file of the named scenario. The error wraps fs.ErrNotExist when the catalogue has no such scenario.
func Read(name string) ([]byte, error) {
	for _, file := range Files() {
		if path.Base(file) == name+".yaml" {
			return files.ReadFile(file)
		}
	}
	return nil, fmt.Errorf("the catalogue has no scenario %q: %w", name, fs.ErrNotExist)
}
