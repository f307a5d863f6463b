package envtest

import (
	"fmt"
	"os"
	"path/filepath"
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
	ended       bool // guarded by the run's lock
}

// start starts the next incarnation.
func (r *run) start() error {
	s := &server{incarnation: len(r.servers) + 1, run: r}
	var err error
	if s.proxy, err = proxy.Start(proxy.Options{Upstream: r.config, Hooks: hooks{s}}); err != nil {
		return err
	}
	r.change(func() { r.servers = append(r.servers, s) })
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
		Args: []string{
			inClusterArgument, secrets, r.world.options.Server,
			"server", "--plugin-dir", filepath.Join(r.folder, "plugins"), "--item-operation-sync-frequency", poll.String(),
			"--store-validation-frequency", "1s", "--metrics-address", "127.0.0.1:0", "--profiler-address", "",
		},
		Env: append(pod,
			"PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+home, "TZ=UTC", "KUBECONFIG="+kubeconfig,
			"VELERO_NAMESPACE="+r.cluster.Velero, "VELERO_SCRATCH_DIR="+home, r.plugins.Env(),
		),
		Dir: r.folder, Stdout: s.log, Stderr: s.log, Folder: home,
	})
	if err != nil {
		return fmt.Errorf("failed to start the server: %w", err)
	}
	go s.watch()
	return nil
}

// watch notices that the server has ended by itself.
func (s *server) watch() {
	<-s.process.Done()
	if s.run.rec.end(s.incarnation, nil, "stopped") && s.run.ctx.Err() == nil {
		s.run.change(func() { s.ended = true })
		s.run.fail(fmt.Errorf("the server ended by itself: %v; its log ends with:\n%s", s.process.Err(), s.tail()))
	}
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

// kill ends the server at once, as SIGKILL does, and its plugins with it, because of a fault. It starts again later.
func (s *server) kill(x scenario.Fault) {
	r, k := s.run, x.Do.Kill
	fault := &trace.Fault{ID: x.ID, What: fmt.Sprintf("the server is killed, and restarted after %s", k.RestartAfter)}
	if !r.rec.end(s.incarnation, fault, "killed") {
		r.rec.add(0, "", trace.Body{Fault: &trace.Fault{ID: x.ID, Missed: "the server was down"}})
		return
	}
	r.change(func() { s.ended = true })
	r.after(k.RestartAfter.Duration, func() {
		if err := r.start(); err != nil {
			r.fail(err)
		}
	})
	if err := s.process.Kill(); err != nil {
		r.fail(fmt.Errorf("failed to kill the server: %w", err))
	}
	go s.proxy.Close() // not from here: its hooks may wait for this
}

// stop ends the current server as SIGTERM does, so that what it leaves behind shows.
func (r *run) stop() {
	s := r.servers[len(r.servers)-1]
	if s.ended {
		return
	}
	s.process.Stop(grace) //nolint:errcheck // how it ends is no part of the run
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
