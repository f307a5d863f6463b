// Package supervise runs a program so that it ends together with all of its descendants, also those that left its process
// group or session, ignore signals, or lost their parent: when the process that started it says so, when the program ends,
// and when the process that started it, the owner, dies in whatever way, SIGKILL and panics included. It can do the same
// with a folder.
//
//	func main() {
//		supervise.Main() // first: it does not return in a supervisor
//		p, err := supervise.Start(supervise.Command{Path: "/usr/bin/etcd", Folder: "/tmp/etcd-1234"})
//		…
//		defer p.Kill() // everything is gone when it returns
//	}
//
// Start runs the owner's own executable once more, as the supervisor: a small process in a session of its own, with a pipe
// from the owner, and the program as its child. It is a child subreaper (see prctl(2)): descendants that lose their parent
// become its children. When the pipe is closed, which the kernel does for a dead owner, it kills its children until it has
// none, and ends.
//
// What it cannot do:
//   - The supervisor must live to do its work. If it is killed, by SIGKILL or by the kernel for lack of memory, the program
//     is killed too, but not the program's descendants. It is not in the owner's process group, and it is named
//     "supervisor", so that kill, killall and pkill of the owner do not meet it. SIGTERM, SIGINT, SIGHUP and SIGQUIT make it
//     clean up and end.
//   - Kill waits for processes that the user may not signal, and for ones that the kernel cannot end yet.
//   - A program that supervises others in turn is killed together with its supervisors: the processes are gone then, but
//     folders of theirs are left.
//
// It works on Linux; on other Unix systems Start returns an error. The package imports the standard library and
// golang.org/x/sys.
package supervise
