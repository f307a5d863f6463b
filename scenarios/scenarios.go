package scenarios

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names of the catalogue's scenarios, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the root of an embedded file system can be read
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return names
}

// Read returns the file of the named scenario. The error wraps fs.ErrNotExist when the catalogue has no such scenario.
func Read(name string) ([]byte, error) {
	b, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("the catalogue has no scenario %q: %w", name, fs.ErrNotExist)
	}
	return b, nil
}
