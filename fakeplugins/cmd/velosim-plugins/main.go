// Command velosim-plugins is the plugin executable of the envtest world: Velero's server finds it in its --plugin-dir, once or
// several times under different names, and it is there what the world says that a file of that name is (fakeplugins/host): any
// number of scripted item actions and of actions that are called once for a backup or restore, the object store on the file system, a
// process that fails to start, or one that stands for an executable of the user's and records its calls.
//
// It finds the world by the environment variable VELOSIM_PLUGIN_SOCKET, inherited from the server, and holds nothing that could
// be lost. When the world ends, it ends.
//
//	go build -o plugins/movers ./fakeplugins/cmd/velosim-plugins
//	VELOSIM_PLUGIN_SOCKET=… velero server --plugin-dir plugins …
//
// The object store's name is velosim.io/object-store; its config is root, the absolute path of an existing folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/velosim/velosim/fakeplugins/wire"
)

func main() {
	if err := run(filepath.Base(os.Args[0])); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// run serves Velero as the executable of that name, until Velero says that it is enough.
func run(name string) error {
	client, err := wire.Dial(os.Getenv(wire.SocketEnv))
	if err != nil {
		return err
	}
	m := misbehaviour{stderr: os.Stderr}
	registration, err := client.Register(name, m.strike)
	if err != nil {
		return err
	}
	go func() {
		<-client.Closed()
		fmt.Fprintf(m.stderr, "%s: the world has ended: %v\n", name, client.Err())
		os.Exit(1)
	}()
	m.start(registration.Start)
	if registration.Forward != "" {
		return forward(client, registration)
	}
	serve(client, registration)
	return nil
}
