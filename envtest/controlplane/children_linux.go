package controlplane

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processes are etcd and kube-apiserver, which envtest does not tell the end of.
type processes struct {
	names []string
	fds   []unix.PollFd // of pidfds, which are readable when the process has ended
}

// children returns the children of this process.
func children() (*processes, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	p := &processes{}
	for _, thread := range entries {
		list, err := os.ReadFile("/proc/self/task/" + thread.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(list)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				return nil, err
			}
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return nil, fmt.Errorf("watch process %d: %w", pid, err)
			}
			name, err := os.ReadFile("/proc/" + field + "/comm")
			if err != nil {
				return nil, err
			}
			p.names = append(p.names, strings.TrimSpace(string(name)))
			p.fds = append(p.fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
	}
	if len(p.fds) != 2 {
		return nil, fmt.Errorf("etcd or kube-apiserver ended: only %q run", p.names)
	}
	return p, nil
}

// wait returns when one of the processes has ended.
func (p *processes) wait() error {
	for {
		if _, err := unix.Poll(p.fds, -1); err != nil && err != unix.EINTR {
			return err
		}
		for i, fd := range p.fds {
			if fd.Revents != 0 {
				return fmt.Errorf("%s ended by itself", p.names[i])
			}
		}
	}
}
