package actions

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	plugin "github.com/hashicorp/go-plugin"
	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"github.com/vmware-tanzu/velero/pkg/util/logging"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Server serves the actions of an executable. Names have Velero's format, <DNS subdomain>/<name>. An initializer is called at the first
// call of its action in a process, with a logger whose lines go to the log of the backup or restore; it returns a value that
// implements the interface of the kind.
type Server struct {
	log     *logrus.Logger
	actions service
	velero  map[string]framework.Interface // by kind
	err     error                          // the first wrong registration
}

// NewServer returns a server with no actions.
func NewServer() *Server {
	log := logger()
	return &Server{log: log, actions: service{log: log, actions: map[action]*registered{}}, velero: map[string]framework.Interface{}}
}

// RegisterPreBackupAction registers a [PreBackupAction].
func (s *Server) RegisterPreBackupAction(name string, initializer common.HandlerInitializer) *Server {
	return s.register(PluginKindPreBackupAction, name, initializer)
}

// RegisterPostBackupAction registers a [PostBackupAction].
func (s *Server) RegisterPostBackupAction(name string, initializer common.HandlerInitializer) *Server {
	return s.register(PluginKindPostBackupAction, name, initializer)
}

// RegisterPreRestoreAction registers a [PreRestoreAction].
func (s *Server) RegisterPreRestoreAction(name string, initializer common.HandlerInitializer) *Server {
	return s.register(PluginKindPreRestoreAction, name, initializer)
}

// RegisterPostRestoreAction registers a [PostRestoreAction].
func (s *Server) RegisterPostRestoreAction(name string, initializer common.HandlerInitializer) *Server {
	return s.register(PluginKindPostRestoreAction, name, initializer)
}

// RegisterVelero registers plugins of one of Velero's own kinds, which Velero finds in the same executable:
//
//	movers := biav2.NewBackupItemActionPlugin(common.ServerLogger(logrus.New()))
//	movers.Register("example.io/mover", newMover)
//	server.RegisterVelero(common.PluginKindBackupItemActionV2, movers)
func (s *Server) RegisterVelero(kind common.PluginKind, plugins framework.Interface) *Server {
	s.velero[kind.String()] = plugins
	return s
}

// register checks more than Velero does: what Velero leaves out with a line in its log is an error here, as a backup without the action
// may be worth nothing.
func (s *Server) register(kind common.PluginKind, name string, initializer common.HandlerInitializer) *Server {
	a := action{kind: kind, plugin: name}
	err := common.ValidatePluginName(name, nil)
	if problems := validation.IsQualifiedName(SkipAnnotation(kind, name)); err == nil && len(problems) > 0 {
		err = fmt.Errorf("the annotation %s that skips it is not valid: %s", SkipAnnotation(kind, name), problems[0])
	}
	if s.actions.actions[a] != nil {
		err = fmt.Errorf("it is registered twice")
	}
	if err != nil {
		s.err = cmp.Or(s.err, fmt.Errorf("%s %q: %w", kind, name, err))
		return s
	}
	s.actions.actions[a] = &registered{initializer: initializer}
	return s
}

// Serve serves the actions until the server, which has started the process, ends it. It ignores the process's arguments. It exits with status
// 1 if a registration is wrong.
func (s *Server) Serve() {
	if s.err != nil {
		s.log.Error(s.err)
		os.Exit(1)
	}
	plugins := plugin.PluginSet{pluginName: &actionsPlugin{service: &s.actions}}
	var listed []framework.PluginIdentifier
	for kind, p := range s.velero {
		plugins[kind] = p
		for _, name := range p.Names() {
			listed = append(listed, framework.PluginIdentifier{Command: os.Args[0], Kind: common.PluginKind(kind), Name: name})
		}
	}
	slices.SortFunc(listed, compare)
	plugins[common.PluginKindPluginLister.String()] = framework.NewPluginListerPlugin(framework.NewPluginLister(listed...))
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: framework.Handshake(),
		Plugins:         plugins,
		GRPCServer:      plugin.DefaultGRPCServer,
	})
}

// compare orders plugins by kind and name.
func compare(a, b framework.PluginIdentifier) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// logger is that of Velero's plugins (newLogger in pkg/plugin/framework/logger.go): go-plugin makes of a line of JSON on stderr an entry in
// the log of the process that started this one. Which levels are logged is decided there.
func logger() *logrus.Logger {
	l := logrus.New()
	l.Level = logrus.DebugLevel
	l.Formatter = &logrus.JSONFormatter{FieldMap: logrus.FieldMap{logrus.FieldKeyMsg: "@message"}, DisableTimestamp: true}
	l.Hooks.Add((&logging.LogLocationHook{}).WithLoggerName("plugin"))
	l.Hooks.Add(&logging.ErrorLocationHook{})
	l.Hooks.Add(&logging.HcLogLevelHook{})
	return l
}
