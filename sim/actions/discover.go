package actions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/velosim/velosim/sim/actions/internal/proto"
)

// List starts an executable, asks it for its actions, and ends it. One built with Velero's plugin framework alone has none. It is an error
// if the executable is no plugin, or takes more than a minute.
func List(ctx context.Context, command string, log logrus.FieldLogger) ([]framework.PluginIdentifier, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p, err := launch(ctx, command, log)
	if err != nil {
		return nil, err
	}
	defer p.end()
	response, err := p.actions.List(ctx, new(proto.ListRequest))
	if status.Code(err) == codes.Unimplemented {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("list the actions of %s: %w", command, err)
	}
	var plugins []framework.PluginIdentifier
	for _, a := range response.GetActions() {
		kind := common.PluginKind(a.GetKind())
		if _, known := ofBackups(kind); !known {
			return nil, fmt.Errorf("list the actions of %s: invalid plugin kind: %s", command, kind)
		}
		plugins = append(plugins, framework.PluginIdentifier{Command: command, Kind: kind, Name: a.GetPlugin()})
	}
	return plugins, nil
}

// Discover lists the actions of all executables in a folder and the folders below it, in the order of kinds and names. It may be the folder
// of Velero's own plugins, as these have no actions, and Velero's server finds no plugins of its kinds in executables of actions. As for
// Velero (pkg/plugin/clientmgmt/process/registry.go), a folder that does not exist has none, an executable that is no plugin is an
// error, and so are two actions of the same kind and name.
func Discover(ctx context.Context, dir string, log logrus.FieldLogger) ([]framework.PluginIdentifier, error) {
	commands, err := executables(dir)
	if err != nil {
		return nil, err
	}
	var plugins []framework.PluginIdentifier
	for _, command := range commands {
		listed, err := List(ctx, command, log)
		if err != nil {
			return nil, err
		}
		plugins = append(plugins, listed...)
	}
	slices.SortStableFunc(plugins, compare)
	for i, p := range plugins {
		if i > 0 && compare(plugins[i-1], p) == 0 {
			return nil, fmt.Errorf("%s and %s both have a %s %s: remove one, or register it by another name", plugins[i-1].Command, p.Command, p.Kind, p.Name)
		}
	}
	return plugins, nil
}

func executables(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode()&0o111 != 0 {
			paths = append(paths, path)
		}
		return err
	})
	return paths, err
}
