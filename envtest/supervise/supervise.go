package supervise

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// argument makes the executable a supervisor when it is the only one.
const argument = "--be-the-supervisor-of-a-program"

// mainCalled guards against executables that would, as a supervisor, do what they always do: a test binary would run its
// tests once more, and they would start supervisors again.
var mainCalled atomic.Bool

// Main must be called first thing in main, and in TestMain, of every executable that calls [Start]. In a supervisor it does
// not return; elsewhere it does nothing.
func Main() {
	mainCalled.Store(true)
	if len(os.Args) == 2 && os.Args[1] == argument {
		os.Exit(supervise())
	}
}

// Command is a program to run. Its standard input is /dev/null.
type Command struct {
	// Path is the program's file: there is no search in PATH. "/proc/self/exe" is the owner's own executable.
	Path string
	// Args are the arguments, without the program's name.
	Args []string
	// Env is the environment, as KEY=value. Nil is the owner's.
	Env []string
	// Dir is the program's working directory. Empty is the owner's.
	Dir string
	// MountNamespace gives the program a mount namespace of its own, in which it has the rights to mount; of a user who is not root, a
	// user namespace too.
	MountNamespace bool
	// Stdout and Stderr get what the program and its descendants write, to the last byte before Done is closed. An
	// *os.File is handed to the program as it is; nil is /dev/null.
	Stdout, Stderr io.Writer
	// Folder, if not empty, is made by the supervisor for the program (mode 0700; it is an error if the path exists), and
	// removed with all that is in it when the program and its descendants are dead.
	Folder string
}

// absolute resolves the command's paths, as the supervisor's working directory is another.
func (c *Command) absolute() error {
	if c.Path == "" {
		return fmt.Errorf("supervise: Command.Path is empty: give the program's file")
	}
	for _, path := range []*string{&c.Path, &c.Dir, &c.Folder} {
		if *path == "" && path == &c.Folder {
			continue
		}
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return fmt.Errorf("supervise: %w", err)
		}
	}
	return nil
}

// ExitError says how a program ended that did not end with exit status 0.
type ExitError struct {
	// Code is the exit status, or -1 if a signal ended the program.
	Code int
	// Signal is the one that ended the program, or 0.
	Signal syscall.Signal
}

func (e *ExitError) Error() string {
	if e.Signal != 0 {
		return fmt.Sprintf("ended by signal %d (%s)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
