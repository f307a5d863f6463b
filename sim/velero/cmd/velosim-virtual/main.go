// Velosim-virtual is the executable of the virtual world. The CLI starts it, and talks to it over stdin and stdout.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/world"
)

func main() {
	debug.SetGCPercent(800) // runs are short and their heaps are small
	w := virtual.New()
	flag.Func("plugin", "a plugin `executable` of the user's; may be repeated", func(path string) error {
		w.Plugins = append(w.Plugins, path)
		return nil
	})
	flag.Parse()
	if err := world.Serve(context.Background(), w, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "velosim-virtual:", err)
		os.Exit(1)
	}
}
