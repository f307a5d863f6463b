// Package host is the world's end of the plugin processes that a real Velero server starts (fakeplugins/cmd/velosim-plugins):
// it holds the scripts, the operations and the counts of calls, and decides what comes of each call and each access to the
// object store. The processes talk to it by package fakeplugins/wire, and hold nothing that could be lost.
//
//	plugins, err := host.Listen(ctx, folder, host.Options{
//		Executables: map[string]host.Executable{
//			"store":  {ObjectStore: true},
//			"movers": {Plugins: scenario.Plugins},
//		},
//		Journal: func(p host.Process) fakeplugins.Journal { … },
//	})
//	…
//	defer plugins.Close()
//	// The executable is in the server's --plugin-dir as "store" and "movers", copied or linked.
//	server.Env = append(server.Env, plugins.Env())
//
// The location's provider is "velosim.io/object-store", its config {root: FOLDER}.
//
// The package imports fakeplugins and its packages wire and filestore, sim/scenario and sim/trace; neither Velero's plugin
// framework nor go-plugin.
package host
