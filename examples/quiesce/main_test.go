package main

import (
	"testing"

	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/velosim/velosim/examples/internal/testcluster"
	"github.com/velosim/velosim/sim/actions"
)

func TestMain(m *testing.M) { testcluster.Main(m, "quiesce", main) }

func TestList(t *testing.T) {
	log, _ := logtest.NewNullLogger()
	plugins, err := actions.List(t.Context(), testcluster.Executable(t, "quiesce"), log)
	if err != nil || len(plugins) != 3 {
		t.Errorf("%v, %v; want three actions", plugins, err)
	}
}
