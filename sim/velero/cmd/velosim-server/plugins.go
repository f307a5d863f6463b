package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/velosim/velosim/sim/actions"
	"github.com/velosim/velosim/sim/velero/prepost"
)

// timeouts of calls, by the kind of action and the plugin's name.
type timeouts map[common.PluginKind]map[string]time.Duration

func kinds() []common.PluginKind {
	return []common.PluginKind{
		actions.PluginKindPreBackupAction, actions.PluginKindPostBackupAction, actions.PluginKindPreRestoreAction, actions.PluginKindPostRestoreAction,
	}
}

// Set implements pflag.Value.
func (t timeouts) Set(s string) error {
	kind, rest, _ := strings.Cut(s, ":")
	name, value, ok := strings.Cut(rest, "=")
	if !ok || kind == "" || name == "" {
		return fmt.Errorf("%q is not KIND:NAME=DURATION, such as PreBackupAction:example.io/quiesce=1m", s)
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return err
	}
	if d <= 0 {
		return fmt.Errorf("%s: a call needs some time", s)
	}
	k := common.PluginKind(kind)
	if !slices.Contains(kinds(), k) {
		return fmt.Errorf("%s is not a kind of pre- or post-action: %s", kind, kinds())
	}
	if t[k] == nil {
		t[k] = map[string]time.Duration{}
	}
	t[k][name] = d
	return nil
}

func (t timeouts) String() string { return "" }

// Type implements pflag.Value.
func (t timeouts) Type() string { return "KIND:NAME=DURATION" }

// plugins implements prepost.Plugins.
type plugins struct {
	found    []framework.PluginIdentifier
	timeouts timeouts
}

func (p plugins) List() []framework.PluginIdentifier { return p.found }

func (p plugins) Open(_ string, log logrus.FieldLogger) prepost.Caller {
	return &caller{timeouts: p.timeouts, log: log}
}

// caller calls plugins by a client, which the first call makes: those of one caller are all of one kind.
type caller struct {
	timeouts timeouts
	log      logrus.FieldLogger
	client   *actions.Client
}

func (c *caller) Execute(ctx context.Context, p framework.PluginIdentifier, o metav1.Object) error {
	if c.client == nil {
		c.client = actions.NewClient(actions.Options{Log: c.log, Timeouts: c.timeouts[p.Kind]})
	}
	return c.client.Execute(ctx, p, o)
}

func (c *caller) Close() {
	if c.client != nil {
		c.client.Close()
	}
}
