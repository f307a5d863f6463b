package envtest

import (
	"fmt"
	"path/filepath"

	"github.com/velosim/velosim/sim/world"
)

const (
	// maxSocket is how long the path of a socket can be: 108 on Linux (unix(7)), with the zero at the end. In bytes.
	maxSocket = 107
	// longestSocket is the longest one in the temporary folder: that of a plugin, in the folder of its server, in that of its run.
	longestSocket = "/job-4294967295/home-99/plugin4294967295"
)

// room says what is wrong if the temporary folder has no room for sockets: plugins would not start, and not say why.
func room(temp string) error {
	temp, err := filepath.EvalSymlinks(temp) // as runs do
	if err != nil {
		return err
	}
	over := len(temp) + len(longestSocket) - maxSocket
	if over <= 0 {
		return nil
	}
	if world.PrivateFolder() != "" { // the CLI has made it in the user's
		temp = filepath.Dir(temp)
	}
	return fmt.Errorf("the temporary folder %s is %d bytes too long for the sockets of plugins, whose paths have up to %d: set TMPDIR to a shorter one, such as /tmp",
		temp, over, maxSocket)
}
