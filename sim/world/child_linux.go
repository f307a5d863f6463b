package world

import "syscall"

// attributes put a world in a process group of its own, and end it when the thread that started it ends, so that it does
// not outlive a CLI that was killed. That thread must be locked for as long as the world
// lives.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
