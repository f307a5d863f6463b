package envtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/envtest/supervise"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// grace is how long a server may take to stop when it is told to.
const grace = 20 * time.Second

// server is one incarnation: a process of velero server, with its plugins, and its way to the API server.
type server struct {
	incarnation int
	run         *run
	proxy       *proxy.Proxy
	process     *supervise.Process
	log         *os.File
	// Guarded by the run's lock: it has ended, or is being killed; its pauses; how many of its plugin processes are connected; the executable of the
	// latest one; and the calls of actions that are under way, by their IDs.
	ended   bool
	pauses  int // that go on
	plugins int
	latest  string
	acting  map[int]acting
}

// start starts the next incarnation.
func (r *run) start() error {
	r.starting.Lock()
	defer r.starting.Unlock()
	s := &server{incarnation: len(r.servers) + 1, run: r, acting: map[int]acting{}}
	var err error
	if s.proxy, err = proxy.Start(proxy.Options{Upstream: r.config, Hooks: hooks{s}, Line: r.line}); err != nil {
		return err
	}
	defer func() {
		if s.process == nil {
			s.end()
		}
	}()
	kubeconfig := filepath.Join(r.folder, fmt.Sprintf("kubeconfig-%d", s.incarnation))
	if err := s.proxy.WriteKubeconfig(kubeconfig); err != nil {
		return err
	}
	if s.log, err = os.OpenFile(filepath.Join(r.kept, fmt.Sprintf("server-%d.log", s.incarnation)), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err != nil {
		return err
	}
	r.rec.add(s.incarnation, "", trace.Body{Process: &trace.Process{Name: "server", State: "started"}})
	secrets := filepath.Join(r.folder, fmt.Sprintf("secrets-%d", s.incarnation))
	pod, err := inCluster(s.proxy.Config(), r.cluster.Velero, secrets)
	if err != nil {
		return err
	}
	home := filepath.Join(r.folder, fmt.Sprintf("home-%d", s.incarnation))
	s.process, err = supervise.Start(supervise.Command{
		Path: "/proc/self/exe", MountNamespace: true,
		Args: append([]string{inClusterArgument, secrets, r.executable(), "server"}, r.flags()...),
		Env: append(pod,
			"PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+home, "TZ=UTC", "KUBECONFIG="+kubeconfig,
			"VELERO_NAMESPACE="+r.cluster.Velero, "VELERO_SCRATCH_DIR="+home, r.plugins.Env(),
		),
		Dir: r.folder, Stdout: s.log, Stderr: s.log, Folder: home,
	})
	if err != nil {
		return fmt.Errorf("failed to start the server: %w", err)
	}
	r.change(func() { r.servers = append(r.servers, s) })
	go s.watch()
	return nil
}

// acts reports whether some plugin, of the scenario or the user, is called once for a backup or restore.
func (r *run) acts() bool {
	_, _, ok := r.world.taken.acting()
	return ok || r.job.Scenario.HasActions()
}

// executable of the server.
func (r *run) executable() string {
	if r.acts() {
		return r.world.options.ActionsServer
	}
	return r.world.options.Server
}

// flags of the server.
func (r *run) flags() []string {
	x := r.job.Scenario.Server
	flags := []string{
		"--plugin-dir", filepath.Join(r.folder, "plugins"), "--store-validation-frequency", "1s", "--metrics-address", "127.0.0.1:0", "--profiler-address", "",
		"--item-operation-sync-frequency", x.ItemOperationSyncFrequency.String(), "--resource-timeout", x.ResourceTimeout.String(),
		"--garbage-collection-frequency", x.GarbageCollectionFrequency.String(), "--backup-sync-period", x.BackupSyncPeriod.String(),
	}
	if x.ConcurrentBackups > 1 { // older releases do not know the flag
		flags = append(flags, "--concurrent-backups", strconv.Itoa(x.ConcurrentBackups))
	}
	for _, p := range r.job.Scenario.Plugins {
		if p.Action.Once() {
			flags = append(flags, "--action-timeout", fmt.Sprintf("%s:%s=%s", p.Action, p.Name, p.Deadline))
		}
	}
	return flags
}

// claim reports whether the server runs, and says that it does no more: one alone may end it.
func (s *server) claim() bool {
	first := false
	s.run.change(func() { first, s.ended = !s.ended, true })
	return first
}

// watch notices that the server has ended by itself.
func (s *server) watch() {
	<-s.process.Done()
	if s.claim() && s.run.ctx.Err() == nil {
		s.run.rec.end(s.incarnation, nil, "stopped")
		if s.keptDown() {
			s.run.change(func() { s.run.down = lastWord(s.tail()) })
			return
		}
		s.run.fail(fmt.Errorf("the server ended by itself: %v; its log ends with:\n%s", s.process.Err(), s.tail()))
	}
}

// keptDown reports whether the plugin that the server started last is one that keeps it from starting.
func (s *server) keptDown() (kept bool) {
	s.run.change(func() {
		kept = slices.ContainsFunc(s.run.cluster.Plugins(), func(p scenario.Plugin) bool { return p.Start.Strikes(1) && p.File() == s.latest })
	})
	return kept
}

// lastWord is what a log ends with after its last entry: the error that Velero prints.
func lastWord(log []byte) string {
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	for i, line := range slices.Backward(lines) {
		if strings.HasPrefix(line, "time=") && i < len(lines)-1 {
			return strings.Join(lines[i+1:], "\n")
		}
	}
	return strings.Join(lines, "\n")
}

// tail is the end of the server's log.
func (s *server) tail() []byte {
	const most = 1 << 10
	b, err := os.ReadFile(s.log.Name())
	if err != nil {
		return nil
	}
	return b[max(0, len(b)-most):]
}

// kill ends the server at once, as SIGKILL does, and its plugins with it, because of a fault, if there is one. What it has done until it is
// dead is recorded first. It reports whether the server ran.
func (s *server) kill(because *trace.Fault) (ran bool) {
	r := s.run
	if !s.claim() {
		return false
	}
	if err := s.process.Kill(); err != nil {
		r.fail(fmt.Errorf("failed to kill the server: %w", err))
	}
	s.proxy.Close() // with which the writes that were under way have been told
	s.disconnected()
	r.rec.end(s.incarnation, because, "killed")
	return true
}

// disconnected waits until all is told of the plugins of a dead server.
func (s *server) disconnected() {
	late := time.After(5 * time.Second) // connections end with their processes
	for {
		s.run.mu.Lock()
		left, changed := s.plugins, s.run.changed
		s.run.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-changed:
		case <-late:
			return
		}
	}
}

// stop ends the current server as SIGTERM does, so that what it leaves behind shows.
func (r *run) stop() {
	s := r.servers[len(r.servers)-1]
	if !s.claim() {
		return
	}
	s.process.Stop(grace) //nolint:errcheck // how it ends is no part of the run
	s.disconnected()
	r.rec.end(s.incarnation, nil, "stopped")
}

// end ends the server, whatever it does.
func (s *server) end() {
	if s.process != nil {
		s.process.Kill() //nolint:errcheck // the supervisor goes on trying
	}
	if s.proxy != nil {
		s.proxy.Close()
	}
	if s.log != nil {
		s.log.Close()
	}
}
