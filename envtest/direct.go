package envtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/velosim/velosim/envtest/direct"
	"github.com/velosim/velosim/envtest/proxy"
	"github.com/velosim/velosim/envtest/supervise"
	"github.com/velosim/velosim/sim/trace"
)

// directArgument makes the executable one that calls a plugin directly, as the file that follows says.
const directArgument = "--call-a-plugin-directly"

// notStarted is the exit status of one whose plugin does not start, by errNotStarted.
const notStarted = 3

var errNotStarted = errors.New("the plugin does not start")

// told is a line that it writes.
type told struct {
	Object string     `json:"object,omitempty"`
	Body   trace.Body `json:"body"`
}

// callDirectly calls a plugin, and tells of it on stdout.
func callDirectly(file string) error {
	var spec direct.Spec
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &spec)
	}
	if err != nil {
		return err
	}
	c, err := config.GetConfig()
	if err != nil {
		return err
	}
	registered, err := registers(spec.Path)
	if err != nil {
		return errors.Join(err, errNotStarted)
	}
	scheme, err := userScheme()
	if err != nil {
		return err
	}
	cluster, err := client.New(c, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	return direct.Run(spec, registered, cluster, func(object string, body trace.Body) {
		if err := out.Encode(told{object, body}); err != nil {
			os.Exit(1) // the world has ended
		}
	})
}

// direct calls the user's plugin, in the place of a server's run. That the plugin does not start is in the trace.
func (r *run) direct() (trace.End, error) {
	spec, err := r.spec()
	if err != nil {
		return trace.End{}, err
	}
	file := filepath.Join(r.folder, "direct.json")
	b, err := json.Marshal(spec)
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		return trace.End{}, err
	}
	p, err := proxy.Start(proxy.Options{Upstream: r.config})
	if err != nil {
		return trace.End{}, err
	}
	defer p.Close()
	kubeconfig, home, secrets := filepath.Join(r.folder, "kubeconfig"), filepath.Join(r.folder, "home"), filepath.Join(r.folder, "secrets")
	temp := filepath.Join(r.folder, "tmp")
	if err := errors.Join(p.WriteKubeconfig(kubeconfig), os.Mkdir(temp, 0o700)); err != nil {
		return trace.End{}, err
	}
	pod, err := inCluster(p.Config(), r.cluster.Velero, secrets)
	if err != nil {
		return trace.End{}, err
	}
	exe, err := os.Executable()
	if err != nil {
		return trace.End{}, err
	}
	out, in := io.Pipe()
	var said bytes.Buffer
	process, err := supervise.Start(supervise.Command{
		Path: "/proc/self/exe", MountNamespace: true, Args: []string{inClusterArgument, secrets, exe, directArgument, file},
		Env: append(pod,
			"PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+temp, "TZ=UTC", "KUBECONFIG="+kubeconfig,
			"VELERO_NAMESPACE="+r.cluster.Velero, "VELERO_SCRATCH_DIR="+home,
		),
		Dir: r.folder, Stdout: in, Stderr: &said, Folder: home,
	})
	if err != nil {
		return trace.End{}, fmt.Errorf("failed to call the plugin: %w", err)
	}
	defer process.Kill() //nolint:errcheck // the supervisor goes on trying
	go func() {
		select {
		case <-r.ctx.Done():
			process.Kill() //nolint:errcheck // see above
			<-process.Done()
		case <-process.Done():
		}
		in.Close() //nolint:errcheck // it never fails
	}()
	err = r.tell(out)
	<-process.Done()
	end := trace.End{Reason: trace.Settled, At: r.rec.now()}
	var exit *supervise.ExitError
	switch {
	case r.ctx.Err() != nil:
		end.Reason, end.Detail = trace.Environment, "interrupted"
	case errors.As(process.Err(), &exit) && exit.Code == notStarted:
		end.Reason = trace.NotStarted
		end.Detail = strings.TrimSuffix(strings.TrimSpace(said.String()), "\n"+errNotStarted.Error())
	case process.Err() != nil:
		end.Reason, end.Detail = trace.Environment, strings.TrimSpace(fmt.Sprintf("the process that calls the plugin: %v\n%s", process.Err(), said.String()))
	}
	return end, errors.Join(err, r.rec.failed())
}

// spec has the items as the cluster has them now.
func (r *run) spec() (direct.Spec, error) {
	d := r.job.Direct
	spec := direct.Spec{
		Path: d.Plugin, Args: r.flags(), Namespace: r.cluster.Velero, Epoch: r.rec.position.start,
		Within: d.Within, Call: d.Call, CancelWithin: d.CancelWithin,
	}
	objects, err := r.cluster.ItemObjects()
	if err != nil {
		return spec, err
	}
	for _, o := range objects {
		kind, err := r.client.GroupVersionKindFor(o)
		if err != nil {
			return spec, err
		}
		item := unstructured.Unstructured{}
		item.SetGroupVersionKind(kind)
		if err := r.client.Get(r.ctx, client.ObjectKeyFromObject(o), &item); err != nil {
			return spec, fmt.Errorf("failed to look at %s %s: %w", kind.Kind, o.GetName(), err)
		}
		if item.GetNamespace() != r.cluster.Velero {
			spec.Items = append(spec.Items, item)
		}
	}
	return spec, nil
}

// tell records what is told, line by line.
func (r *run) tell(from io.Reader) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var t told
		if err == nil {
			err = json.Unmarshal(line, &t)
		}
		if err != nil {
			return fmt.Errorf("failed to read what is told of the plugin's calls: %w", err)
		}
		if c := t.Body.Call; c != nil {
			c.Item = r.cluster.Outside(c.Item)
		}
		if ret := t.Body.Return; ret != nil && ret.Item != "" {
			ret.Item = r.cluster.Outside(ret.Item)
		}
		r.rec.add(0, t.Object, t.Body)
	}
}

// definitions are those in the files of custom resources.
func (o Options) definitions() (crds []*apiextensionsv1.CustomResourceDefinition, err error) {
	for _, file := range o.CRDs {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		for d := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := d.Decode(crd); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s is no file of CustomResourceDefinitions: %w", file, err)
			}
			crds = append(crds, crd)
		}
	}
	return crds, nil
}
