package actions

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"

	"github.com/velosim/velosim/sim/actions/internal/proto"
)

const (
	// startTimeout is how long a process may take from its start to its handshake: go-plugin's default, so Velero's.
	startTimeout = time.Minute
	// grace is how long a process may take to end by itself: as long as go-plugin waits.
	grace = 2 * time.Second
)

// process is a plugin's process.
type process struct {
	client  *plugin.Client
	group   *processGroup
	actions proto.ActionsClient
}

// launch starts the executable. If ctx ends before the handshake, or there is none, nothing is left of it.
func launch(ctx context.Context, command string, log logrus.FieldLogger) (*process, error) {
	logger := hclogger(log.WithField("cmd", command))
	p := &process{group: newProcessGroup()}
	defer context.AfterFunc(ctx, p.group.kill)()
	output := logger.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Info})
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  framework.Handshake(),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Plugins:          plugin.PluginSet{pluginName: new(actionsPlugin)},
		Logger:           logger,
		StartTimeout:     startTimeout,
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (runner.Runner, error) {
			p.group.cmd = exec.Command(command)
			p.group.cmd.Env = cmd.Env
			return p.group, nil
		},
		// What the plugin prints, not by its logger.
		SyncStdout: output,
		SyncStderr: output,
	})
	protocol, err := p.client.Client()
	if err != nil {
		p.end()
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	actions, err := protocol.Dispense(pluginName)
	if err != nil {
		p.end()
		return nil, err
	}
	p.actions = actions.(proto.ActionsClient)
	return p, nil
}

// end ends the process: it is asked to, then killed, with the processes that it has started.
func (p *process) end() {
	// Kill alone would wait for ever for a process that is stopped.
	defer time.AfterFunc(grace, p.group.kill).Stop()
	p.client.Kill()
}

// hclogger is a logger for go-plugin whose entries go to log, as those of Velero's (pkg/plugin/clientmgmt/process/logrus_adapter.go).
func hclogger(log logrus.FieldLogger) hclog.Logger {
	logger := hclog.NewInterceptLogger(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Trace})
	logger.RegisterSink(sink{log})
	return logger
}

type sink struct{ log logrus.FieldLogger }

// Accept implements hclog.SinkAdapter. The level of the entry is that of the call, and its time the log's.
func (s sink) Accept(name string, level hclog.Level, message string, args ...any) {
	fields := logrus.Fields{}
	if name != "" {
		fields["pluginName"] = name
	}
	for i := 0; i+1 < len(args); i += 2 {
		switch key := fmt.Sprint(args[i]); key {
		case "time", "timestamp", "level":
		default:
			fields[key] = args[i+1]
		}
	}
	log := s.log.WithFields(fields)
	if name == "" && level == hclog.Error { // go-plugin's own: a process that ends is no error of a backup if its call is made again
		level = hclog.Warn
	}
	switch level {
	case hclog.Error:
		log.Error(message)
	case hclog.Warn:
		log.Warn(message)
	case hclog.Info:
		log.Info(message)
	default:
		log.Debug(message)
	}
}
