//go:build !linux

package subprocess

import "syscall"

// dependent has a process end with the one that has started it, where the system can.
func dependent() *syscall.SysProcAttr { return nil }
