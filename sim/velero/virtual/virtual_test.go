package virtual_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/velero/virtual"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

func load(t testing.TB, name string) *scenario.Scenario {
	t.Helper()
	b, err := scenarios.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	s, errs := scenario.Parse(name, b)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return s
}

// run runs the scenario and returns its trace.
func run(t testing.TB, s *scenario.Scenario, seed int64) trace.Trace {
	t.Helper()
	w := virtual.New()
	tr := trace.Trace{Header: trace.Header{Schema: trace.Schema, Scenario: s.Metadata.Name, World: "virtual", Velero: virtual.Velero, Seed: seed, Scale: 1}}
	var err error
	tr.End, err = w.Run(context.Background(), world.Job{Scenario: s, Seed: seed, Bound: verdict.Bound(s)}, func(e trace.Event) error {
		tr.Events = append(tr.Events, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestFirst(t *testing.T) {
	s := load(t, "backup-operation-times-out")
	began := time.Now()
	tr := run(t, s, 1)
	fmt.Println(time.Since(began), len(tr.Events), tr.End)
	var b bytes.Buffer
	for i, e := range tr.Events {
		if i < 150 || i > len(tr.Events)-60 {
			x, _ := json.Marshal(e)
			b.Write(x)
			b.WriteByte('\n')
		}
	}
	fmt.Println(b.String())
	v := verdict.Judge(s, tr)
	x, _ := json.MarshalIndent(v, "", " ")
	fmt.Println(string(x))
}
