package actions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	plugin "github.com/hashicorp/go-plugin"
	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework/common"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/velosim/velosim/sim/actions/internal/proto"
)

// pluginName is what go-plugin knows the service by.
const pluginName = "Actions"

// actionsPlugin is the service as a go-plugin plugin: of a server with the service, of a client without.
type actionsPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	service *service
}

func (p *actionsPlugin) GRPCServer(_ *plugin.GRPCBroker, server *grpc.Server) error {
	proto.RegisterActionsServer(server, p.service)
	return nil
}

func (p *actionsPlugin) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return proto.NewActionsClient(conn), nil
}

// action identifies one in an executable.
type action struct {
	kind   common.PluginKind
	plugin string
}

// registered is an action with the value that its initializer returned, if that was called.
type registered struct {
	initializer common.HandlerInitializer
	mu          sync.Mutex
	handler     any
}

// service is the server's end.
type service struct {
	proto.UnimplementedActionsServer
	log     logrus.FieldLogger
	actions map[action]*registered
}

func (s *service) List(context.Context, *proto.ListRequest) (*proto.ListResponse, error) {
	response := new(proto.ListResponse)
	for a := range s.actions {
		response.Actions = append(response.Actions, &proto.Action{Kind: a.kind.String(), Plugin: a.plugin})
	}
	slices.SortFunc(response.Actions, func(a, b *proto.Action) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Plugin, b.Plugin))
	})
	return response, nil
}

func (s *service) Execute(ctx context.Context, request *proto.ExecuteRequest) (_ *proto.ExecuteResponse, err error) {
	defer func() {
		if panicked := common.HandlePanic(recover()); panicked != nil {
			err = answer(panicked, codes.Aborted)
		}
	}()
	a := action{kind: common.PluginKind(request.GetAction().GetKind()), plugin: request.GetAction().GetPlugin()}
	err = s.execute(ctx, a, request.GetObject())
	switch {
	case err == nil:
		return new(proto.ExecuteResponse), nil
	case ctx.Err() != nil:
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return nil, answer(err, codes.Unknown)
}

func (s *service) execute(ctx context.Context, a action, object []byte) error {
	handler, err := s.handler(a)
	if err != nil {
		return err
	}
	if backups, _ := ofBackups(a.kind); backups {
		return call(ctx, handler, new(velerov1.Backup), object)
	}
	return call(ctx, handler, new(velerov1.Restore), object)
}

// call calls a handler, which as the interfaces of backups are alike, and those of restores, tells apart only these.
func call[T any](ctx context.Context, handler any, object *T, data []byte) error {
	h, ok := handler.(interface {
		Execute(context.Context, *T) error
	})
	if !ok {
		return fmt.Errorf("%T has no method Execute(context.Context, %T) error", handler, object)
	}
	if err := json.Unmarshal(data, object); err != nil {
		return err
	}
	return h.Execute(ctx, object)
}

func (s *service) handler(a action) (any, error) {
	r := s.actions[a]
	if r == nil {
		return nil, fmt.Errorf("the executable has no %s %s", a.kind, a.plugin)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handler == nil {
		handler, err := r.initializer(s.log)
		if err != nil {
			return nil, err
		}
		r.handler = handler
	}
	return r.handler, nil
}

// answer is what Velero's plugins make of an error, but for the code: an action's error may be that of another gRPC server, with a code that
// here means that the process has died.
func answer(err error, code codes.Code) error {
	p := status.Convert(common.NewGRPCErrorWithCode(err, code)).Proto()
	p.Code = int32(code)
	return status.ErrorProto(p)
}
