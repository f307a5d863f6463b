package actions

import (
	"context"
	"testing"

	"github.com/sirupsen/logrus"
	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/velosim/velosim/sim/actions/internal/proto"
)

type heedsContext struct{}

func (heedsContext) Execute(ctx context.Context, _ *velerov1.Backup) error { return ctx.Err() }

// An action whose clock of the deadline is ahead of the client's has not failed by itself.
func TestServiceTellsTheDeadline(t *testing.T) {
	a := action{PluginKindPreBackupAction, "example.io/quiesce"}
	s := &service{actions: map[action]*registered{a: {initializer: func(logrus.FieldLogger) (any, error) { return heedsContext{}, nil }}}}
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err := s.Execute(ctx, &proto.ExecuteRequest{Action: &proto.Action{Kind: a.kind.String(), Plugin: a.plugin}, Object: []byte("{}")})
	if status.Code(err) != codes.DeadlineExceeded || answered(err) {
		t.Errorf("error %v, want code DeadlineExceeded", err)
	}
}
