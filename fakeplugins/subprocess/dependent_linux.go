package subprocess

import "syscall"

// dependent has a process end with the thread that has started it.
func dependent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
