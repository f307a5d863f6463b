package supervise

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// killAll returns when this process has no descendants left. It kills only children, again and again: their children become
// this process' when they die. A child's process ID, and the ID of its process group, can be no other's until it is reaped,
// which only this goroutine does.
func (s *supervisor) killAll() {
	for {
		// The list may lack children while others come and go; whether there are any, the kernel says for certain.
		kids, err := children()
		killed := map[int]bool{}
		for _, kid := range kids {
			// A group dies at once, so that it cannot fork faster than it is killed. All members of a child's group are
			// descendants, as groups do not span sessions, and only descendants are in this session or in ones of their own.
			group, err := syscall.Getpgid(kid)
			if err != nil || group == os.Getpid() {
				syscall.Kill(kid, syscall.SIGKILL) //nolint:errcheck
			} else if !killed[group] {
				killed[group] = true
				syscall.Kill(-group, syscall.SIGKILL) //nolint:errcheck
			}
		}
		if !s.reap(len(kids) > 0 || err != nil) {
			return
		}
	}
}

// reap collects the children that are dead; if block is true it waits for one first. It returns false if there is no child,
// dead or alive.
func (s *supervisor) reap(block bool) bool {
	for {
		options := syscall.WNOHANG
		if block {
			options = 0
		}
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil: // ECHILD
			return false
		case pid == 0:
			return true
		case pid == s.pid:
			s.ended, s.status = true, status
		}
		block = false
	}
}

// children returns the process IDs of this process' children, dead ones that are not reaped included.
func children() ([]int, error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var kids []int
	missing := 0
	for _, thread := range threads {
		list, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) { // the thread has ended
			missing++
			continue
		} else if err != nil {
			return nil, err
		}
		for _, field := range strings.Fields(string(list)) {
			kid, err := strconv.Atoi(field)
			if err != nil {
				return nil, err
			}
			kids = append(kids, kid)
		}
	}
	if missing == len(threads) {
		return nil, errors.New("there is no /proc/self/task/*/children")
	}
	return kids, nil
}
