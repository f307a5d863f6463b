package envtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"

	"github.com/velosim/velosim/sim/scenario"
)

// registrations are what the user's plugins register, and the file that does.
type registrations map[registration]string

// registration is a plugin of Velero's. With a second one of the same kind and name the server does not start, and of two versions of a
// kind it calls the newer one for both (pkg/plugin/clientmgmt/process/registry.go): they count as one here.
type registration struct{ kind, name string }

func registrationOf(kind common.PluginKind, name string) registration {
	return registration{strings.TrimSuffix(kind.String(), "V2"), name}
}

func (r registration) String() string { return fmt.Sprintf("the %s %s", r.kind, r.name) }

// probe says why the user's plugins are unusable, or what they register.
func (o Options) probe(ctx context.Context, folder string) (registrations, error) {
	all := registrations{}
	var wrong []error
	for _, path := range o.Extra {
		registered, err := probe(ctx, path, folder)
		wrong = append(wrong, err, all.add(path, registered))
	}
	return all, errors.Join(wrong...)
}

// add adds those of a file.
func (all registrations) add(path string, registered []framework.PluginIdentifier) error {
	var wrong []error
	for _, id := range registered {
		r := registrationOf(id.Kind, id.Name)
		if other, ok := all[r]; ok && other != path { // both versions of a kind may be of one file
			wrong = append(wrong, fmt.Errorf("the plugins %s and %s both register %s, and Velero takes one of that name alone: leave one out", other, path, r))
		}
		all[r] = path
	}
	return errors.Join(wrong...)
}

// missing says which plugins of the user's own no file registers.
func (all registrations) missing(own []scenario.Plugin) error {
	for _, p := range own {
		if r := (registration{string(p.Action), p.Name}); all[r] == "" {
			return fmt.Errorf("no executable registers %s, which is the user's own by the scenario: give it with --plugin", r)
		}
	}
	return nil
}

// forwards reports whether calls of the file's plugins are forwarded by an executable of ours, and recorded: Velero's own protocol is, and
// not that of pre- and post-actions.
func (all registrations) forwards(path string) bool {
	for r, registering := range all {
		if registering == path && scenario.Action(r.kind).Once() {
			return false
		}
	}
	return true
}

// acting is one that is called once for a backup or restore; not ok: there is none.
func (all registrations) acting() (path string, r registration, ok bool) {
	for r, path := range all {
		if scenario.Action(r.kind).Once() {
			return path, r, true
		}
	}
	return "", registration{}, false
}

// clash says which of the scenario's plugins one of the user's is, too.
func (all registrations) clash(scripted []scenario.Plugin) error {
	var wrong []error
	for _, p := range scripted {
		r := registrationOf(common.PluginKind(p.Action), p.Name)
		if path, ok := all[r]; ok {
			wrong = append(wrong, fmt.Errorf("the plugin %s registers %s, and the scenario has a scripted one of that name, of which Velero takes one alone: "+
				"rename that of the scenario or remove it from there, or leave out --plugin %s", path, r, path))
		}
	}
	return errors.Join(wrong...)
}
