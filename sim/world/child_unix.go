//go:build unix && !linux

package world

import "syscall"

// attributes put a world in a process group of its own. A CLI that is killed closes the world's stdin, which ends it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
