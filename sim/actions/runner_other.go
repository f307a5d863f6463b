//go:build !linux

package actions

import (
	"os/exec"
	"syscall"
)

// attributes have nothing that would end the process with this one.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap waits for the command, and calls ended when it has ended.
func reap(cmd *exec.Cmd, ended func()) error {
	err := cmd.Wait()
	ended()
	return err
}
