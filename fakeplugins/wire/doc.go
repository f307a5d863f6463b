// Package wire is how a plugin process talks to the world that its script is in: the process that Velero starts holds no
// state, so that it may die at any instant and nothing is lost.
//
// The two speak newline-delimited JSON over a Unix socket, requests from the process and one reply to each, in any order:
//
//	process > {"id":1,"register":{"version":4,"executable":"velosim-plugins","pid":4711,"parent":4700}}
//	host    > {"id":1,"registered":{"plugins":[{"name":"example.io/mover","action":"BackupItemAction","version":2}],"start":{}}}
//	process > {"id":2,"call":{"plugin":"example.io/mover","action":"BackupItemAction","object":"backup/backup-1","call":{…}}}
//	host    > {"id":2,"begun":{"delay":1000000000}}
//	process > {"id":3,"finish":2}
//	host    > {"id":3,"outcome":{"operation":"backup-1/mover-1"}}
//	process > {"id":4,"access":{"root":"/tmp/store","store":{"verb":"put","key":"velosim/backups/…"}}}
//	host    > {"id":4,"accessing":{}}
//	process > {"id":5,"accessed":{"access":4,"store":{…,"size":12}}}
//	host    > {"id":5}
//
// The host is told of a call, and of an access to the object store, before it has an effect (call, access), and decides what
// comes of it before Velero sees the reply (finish, accessed). It may take any time to answer. Both sides are strict: another
// version, an unknown field or a line that is not a message ends the connection, and a process whose connection has ended
// ends too.
//
// A process that stands for an executable of the user's is told of it in registered, and tells what came of a call in finish:
// {"id":3,"finish":2,"return":{…}}.
//
// In the process:
//
//	client, err := wire.Dial(os.Getenv(wire.SocketEnv))
//	…
//	registration, err := client.Register("velosim-plugins", strike)
//	…
//	action := fakeplugins.NewProcessOf(ctx, p.Name, client.Caller(p)).BackupItemAction()
//
// The host's side is package fakeplugins/host. The package imports fakeplugins, sim/scenario and sim/trace; neither Velero's
// plugin framework nor go-plugin.
package wire
