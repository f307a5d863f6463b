package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/velosim/velosim/sim/actions/internal/proto"
)

// DefaultTimeout is how long a call may take. Velero's own calls of plugins have no deadline; this is velosim's proposal.
const DefaultTimeout = 10 * time.Minute

// MaxRelaunches is how often a call starts a process anew that died in it, or did not start: as often as Velero does in a row
// (resetFailures in pkg/plugin/clientmgmt/process/restartable_process.go).
const MaxRelaunches = 10

var (
	// ErrDeadline is returned, wrapped, when a call has not ended by its deadline. Its process is killed.
	ErrDeadline = errors.New("the deadline of the call is over")
	// ErrCrashed is returned, wrapped, when the process has died in a call, or not started, and has done so again each time that it was
	// launched anew.
	ErrCrashed = errors.New("the plugin's process has died")

	errClosed = errors.New("the client of plugins is closed")
)

// Options are those of a client.
type Options struct {
	// Log gets what plugins log and print. It must not be nil.
	Log logrus.FieldLogger
	// Timeouts are the plugins' deadlines by name. The others' are DefaultTimeout.
	Timeouts map[string]time.Duration
}

// Client calls the actions of plugins. It starts an executable when it is first called, and again when it has ended. As Velero has a plugin
// manager, there should be one for each backup or restore: it makes one call at a time.
type Client struct {
	options Options
	closed  context.Context
	close   context.CancelFunc

	turn      chan struct{}       // holds the one value while there is no call
	processes map[string]*process // by command; whose turn it is may use it
	closing   sync.Once
}

// NewClient returns a client, to be closed.
func NewClient(o Options) *Client {
	c := &Client{options: o, turn: make(chan struct{}, 1), processes: map[string]*process{}}
	c.closed, c.close = context.WithCancel(context.Background())
	c.turn <- struct{}{}
	return c
}

// Execute calls an action that [List] or [Discover] has found, with a *velerov1.Backup or, for the kinds of restores, a *velerov1.Restore. A
// process that dies is launched anew, and called again, up to 10 times.
//
// The error is ErrDeadline, ErrCrashed (both wrapped), or the cause of the end of ctx, if that came first; else the plugin's own, as
// Velero returns those of its plugins: a gRPC status, with code Aborted if it panicked.
func (c *Client) Execute(ctx context.Context, p framework.PluginIdentifier, object metav1.Object) error {
	request, err := newRequest(p, object)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.closed, func() { cancel(errClosed) })()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	}
	timeout := DefaultTimeout
	if t, ok := c.options.Timeouts[p.Name]; ok {
		timeout = t
	}
	ctx, stop := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %s", ErrDeadline, timeout))
	defer stop()
	return c.execute(ctx, p, request)
}

func (c *Client) execute(ctx context.Context, p framework.PluginIdentifier, request *proto.ExecuteRequest) error {
	for relaunches := 0; ; relaunches++ {
		err := c.attempt(ctx, p.Command, request)
		switch {
		case err == nil:
			return nil
		case answered(err):
			return common.FromGRPCError(err)
		case ctx.Err() != nil:
			return fmt.Errorf("%s %s: %w", p.Kind, p.Name, context.Cause(ctx))
		case relaunches == MaxRelaunches:
			return fmt.Errorf("%s %s: %w, and was relaunched %d times: %w", p.Kind, p.Name, ErrCrashed, relaunches, err)
		}
		c.options.Log.WithError(err).WithField("cmd", p.Command).Warn("Plugin process exited - restarting.")
	}
}

// attempt makes a call in the executable's process, a new one if there is none. It does not return before the process has ended whose call
// has not.
func (c *Client) attempt(ctx context.Context, command string, request *proto.ExecuteRequest) error {
	p := c.processes[command]
	if p == nil {
		var err error
		if p, err = launch(ctx, command, c.options.Log); err != nil {
			return err
		}
		c.processes[command] = p
	}
	_, err := p.actions.Execute(ctx, request)
	if err == nil || answered(err) {
		return err
	}
	if code := status.Code(err); code == codes.DeadlineExceeded || code == codes.Canceled {
		<-ctx.Done() // the plugin's clock of the deadline was a moment ahead
	}
	p.group.kill()
	p.end()
	delete(c.processes, command)
	return err
}

// answered says whether the error is the plugin's, and not about a call that did not come back.
func answered(err error) bool {
	s, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch s.Code() {
	case codes.Unavailable, codes.Internal, codes.DeadlineExceeded, codes.Canceled:
		return false
	}
	return true
}

// Close ends the calls and the processes. Nothing is left of them when it returns.
func (c *Client) Close() {
	c.close()
	c.closing.Do(func() {
		<-c.turn // and nobody's turn will come
		for _, p := range c.processes {
			p.end()
		}
	})
}

func newRequest(p framework.PluginIdentifier, object metav1.Object) (*proto.ExecuteRequest, error) {
	backups, known := ofBackups(p.Kind)
	if !known {
		return nil, fmt.Errorf("plugin %s: %q is not a kind of pre/post actions", p.Name, p.Kind)
	}
	_, isBackup := object.(*velerov1.Backup)
	_, isRestore := object.(*velerov1.Restore)
	if backups != isBackup || backups == isRestore {
		return nil, fmt.Errorf("%s %s cannot be called with a %T", p.Kind, p.Name, object)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return &proto.ExecuteRequest{Action: &proto.Action{Kind: p.Kind.String(), Plugin: p.Name}, Object: data}, nil
}
