//go:build !linux

package supervise

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

func supported() error {
	return errors.New("supervise: programs can be supervised on Linux only")
}

func attributes() *syscall.SysProcAttr { return nil }

func supervise() int {
	fmt.Fprintln(os.Stderr, supported())
	return 1
}
