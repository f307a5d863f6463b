package executable

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is how to build an executable.
type target struct {
	name string
	// folder of the cache, followed by a key; executables that belong together share it. Empty: the name.
	folder string
	// module is the folder of its module in the repository, and pkg the package as the go command is told there.
	module, pkg string
	// seeded: it is built with a Go runtime that follows a seed, and tells the key of its sources as its build.
	seeded bool
	// link are further flags of the linker.
	link string
	// takes is how long a cold build takes on two cores; empty: not long.
	takes string
}

// Worlds returns the names of the worlds.
func Worlds() []string { return []string{"virtual", "envtest"} }

func targetOf(world string) (target, error) {
	switch world {
	case "virtual":
		return target{name: "velosim-virtual", module: "sim/velero", pkg: "./cmd/velosim-virtual", seeded: true, takes: "4 to 10 minutes"}, nil
	case "envtest":
		return target{name: "velosim-envtest", module: ".", pkg: "./envtest/cmd/velosim-envtest"}, nil
	}
	return target{}, fmt.Errorf("there is no world %q; the worlds are: %s", world, strings.Join(Worlds(), ", "))
}

// Envtest returns the path of the world of real processes and its arguments, for a release of Velero, or for the path of a velero
// executable (it has a slash): all else that it needs is built if it must be. With actions it can run scenarios with pre- and post-actions, of
// the one release whose controllers velosim links.
func (f Finder) Envtest(ctx context.Context, velero string, actions bool) (path string, args []string, err error) {
	server := func() (string, error) { return f.Server(ctx, velero) }
	release := bare(velero)
	if strings.Contains(velero, "/") {
		if release, err = f.releaseOf(ctx, velero); err != nil {
			return "", nil, err
		}
		server = func() (string, error) { return filepath.Abs(velero) }
		args = append(args, "--exclusive")
	}
	if path, err = f.Find(ctx, "envtest"); err != nil {
		return "", nil, err
	}
	args = append(args, "--velero", release)
	type part struct {
		flag string
		find func() (string, error)
	}
	parts := []part{
		{"--plugins", func() (string, error) { return f.Plugins(ctx) }},
		{"--server", server},
		{"--assets", func() (string, error) { return f.ControlPlane(ctx) }},
	}
	if actions && bare(velero) == linkedRelease {
		parts = append(parts, part{"--actions-server", func() (string, error) { return f.find(ctx, actionsServer) }})
	}
	for _, part := range parts {
		found, err := part.find()
		if err != nil {
			return "", nil, err
		}
		args = append(args, part.flag, found)
	}
	return path, args, nil
}

// linkedRelease is the release of Velero that the module sim/velero links.
const linkedRelease = "1.18.3"

// actionsServer is Velero's server with pre- and post-actions.
var actionsServer = target{name: "velosim-server", module: "sim/velero", pkg: "./cmd/velosim-server", takes: "about 5 minutes"}

// releaseOf asks a velero executable for its release.
func (f Finder) releaseOf(ctx context.Context, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if !executable(path) {
		return "", fmt.Errorf("%s is no executable file: give the path of velero", path)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var out, stderr strings.Builder
	if err := f.Run(ctx, f.Dir, &out, &stderr, path, "version", "--client-only"); err != nil {
		return "", fmt.Errorf("%s does not tell its version, as velero does: %w\n%s", path, err, strings.TrimSpace(stderr.String()))
	}
	for line := range strings.Lines(out.String()) {
		if version, ok := strings.CutPrefix(strings.TrimSpace(line), "Version: "); ok {
			return bare(version), nil
		}
	}
	return "", fmt.Errorf("%s version --client-only names no version: is it velero?\n%s", path, out.String())
}

// builds is the folder of the modules that only say what others' executables are built from.
const builds = "envtest/build"

// pluginsTarget serves scripted plugins.
var pluginsTarget = target{name: "velosim-plugins", module: ".", pkg: "./fakeplugins/cmd/velosim-plugins"}

// Plugins returns the path of the executable that serves scripted plugins, which is built if it must be.
func (f Finder) Plugins(ctx context.Context) (string, error) { return f.find(ctx, pluginsTarget) }

// Server returns the path of the velero executable of a release, such as 1.18.3, which is built if it must be. The error for one
// that the checkout does not know names those that it does.
func (f Finder) Server(ctx context.Context, release string) (string, error) {
	release = bare(release)
	if root, err := checkout(f.Dir); err == nil && f.WorldDir == "" {
		if known := releases(root); !slices.Contains(known, release) {
			return "", fmt.Errorf("there is no Velero %s here; there are: %s (each is a folder %s/velero-…)", release, strings.Join(known, ", "), builds)
		}
	}
	return f.find(ctx, serverTarget(release))
}

func serverTarget(release string) target {
	return target{
		name: "velero-" + release, module: builds + "/velero-" + release, pkg: "github.com/vmware-tanzu/velero/cmd/velero",
		link: anyPort + " -X github.com/vmware-tanzu/velero/pkg/buildinfo.Version=v" + release, takes: "about 5 minutes",
	}
}

// anyPort lets several servers run at a time: Velero's manager serves metrics at controller-runtime's default address, :8080 on all
// interfaces, for which there is no flag.
const anyPort = "-X sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=127.0.0.1:0"

// bare is a version without its v.
func bare(version string) string {
	if len(version) > 1 && version[0] == 'v' && version[1] >= '0' && version[1] <= '9' {
		return version[1:]
	}
	return version
}

// releases of Velero that a checkout can build, the newest last.
func releases(root string) []string {
	dirs, _ := filepath.Glob(filepath.Join(root, builds, "velero-*")) //nolint:errcheck // the pattern is a good one
	var known []string
	for _, dir := range dirs {
		known = append(known, strings.TrimPrefix(filepath.Base(dir), "velero-"))
	}
	return known
}

// AssetsVariable is the environment variable of controller-runtime's envtest that names the folder of etcd and kube-apiserver.
const AssetsVariable = "KUBEBUILDER_ASSETS"

// controlPlane is etcd and kube-apiserver, which share a folder.
var controlPlane = [2]target{
	{name: "etcd", pkg: "go.etcd.io/etcd/server/v3", folder: "control-plane", module: builds + "/controlplane", link: stamp, takes: "about a minute"},
	{name: "kube-apiserver", pkg: "k8s.io/kubernetes/cmd/kube-apiserver", folder: "control-plane", module: builds + "/controlplane", link: stamp, takes: "about 10 minutes"},
}

// ControlPlane returns the folder that holds etcd and kube-apiserver: the one that KUBEBUILDER_ASSETS names; else the newest that
// setup-envtest has downloaded, if it has; else they are built.
func (f Finder) ControlPlane(ctx context.Context) (string, error) {
	if dir, err := f.installed(); err != nil || dir != "" {
		return dir, err
	}
	path := ""
	for _, t := range controlPlane {
		var err error
		if path, err = f.find(ctx, t); err != nil {
			return "", err
		}
	}
	return filepath.Dir(path), nil
}

// installed is the folder of a control plane that the user has; empty: there is none.
func (f Finder) installed() (string, error) {
	complete := func(dir string) bool {
		return executable(filepath.Join(dir, "etcd")) && executable(filepath.Join(dir, "kube-apiserver"))
	}
	if f.Assets != "" {
		if !complete(f.Assets) {
			return "", fmt.Errorf("%s=%s does not hold etcd and kube-apiserver: correct or unset it", AssetsVariable, f.Assets)
		}
		return f.Assets, nil
	}
	downloaded, _ := filepath.Glob(f.Downloads) //nolint:errcheck // the pattern is a good one
	for _, dir := range slices.Backward(downloaded) {
		if complete(dir) {
			return dir, nil
		}
	}
	return "", nil
}

// stamp lets kube-apiserver tell its version, which its sources alone do not know: that of envtest/build/controlplane/go.mod.
const stamp = "-X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=37"

// downloads is where setup-envtest keeps what it has downloaded for this platform, one folder a version (its default --bin-dir, in
// controller-runtime's tools/setup-envtest/store).
func downloads(platform string) string {
	data := os.Getenv("XDG_DATA_HOME")
	if home, err := os.UserHomeDir(); data == "" && err == nil {
		data = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(data, "kubebuilder-envtest", "k8s", "*-"+platform)
}
