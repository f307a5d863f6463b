package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// velero is the release that the world virtual serves: the one in go.mod.
const velero = "1.18.3"

func versionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the versions of velosim, Go and the worlds' Velero",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.out, "velosim %s\n%s %s/%s\nworld virtual: Velero %s\n",
				buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, velero)
			return err
		},
	}
}

// version is what a release's build is stamped with: see Makefile, dist.
var version string

// buildVersion is the version that was stamped, or that of velosim's module; of a build from a checkout the revision, too.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case version != "":
		return version
	case !ok || info.Main.Version == "":
		return "(unknown)"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v == "(devel)" {
			v += " " + s.Value
		}
	}
	return v
}
