package plugintest

import (
	"context"
	"fmt"
	"io"

	"github.com/velosim/velosim/sim/world/executable"
)

// velero is the release that is run on envtest.
const velero = "1.18.3"

// find returns the world's executable, and its arguments.
func find(ctx context.Context, name string, log io.Writer) (path string, args []string, err error) {
	finder, err := executable.FromEnvironment(log, false)
	if err != nil {
		return "", nil, err
	}
	switch name {
	case "", "virtual":
		path, err = finder.Find(ctx, "virtual")
	case "envtest":
		path, args, err = finder.Envtest(ctx, velero, false)
	default:
		err = fmt.Errorf("%s is %q; it is virtual or envtest", WorldVariable, name)
	}
	return path, args, err
}
