package verdict_test

import (
	"fmt"
	"os"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
)

func ExampleJudge() {
	const backup = "backup/backup-1"
	s, errs := scenario.Parse("backup-invalid.yaml", []byte(`# It is invalid, and should not be.
apiVersion: velosim.io/v1alpha1
kind: Scenario
metadata: {name: backup-invalid}
expect: {phase: Completed}
`))
	if len(errs) > 0 {
		fmt.Println(errs)
		return
	}
	t := trace.Trace{
		Header: trace.Header{Scenario: "backup-invalid", Velero: "1.18.3", Scale: 1},
		Events: []trace.Event{
			{Seq: 1, Object: backup, Body: trace.Body{Created: &trace.Created{}}},
			{Seq: 2, Object: backup, Body: trace.Body{Phase: &trace.Phase{To: "Queued"}}},
			{Seq: 3, Object: backup, Body: trace.Body{Phase: &trace.Phase{From: "Queued", To: "ReadyToStart"}}},
			{Seq: 4, Object: backup, Body: trace.Body{Phase: &trace.Phase{From: "ReadyToStart", To: "FailedValidation"}}},
			{Seq: 5, Object: backup, Body: trace.Body{Rest: &trace.Rest{Copy: "api", Phase: "FailedValidation"}}},
		},
		End: trace.End{Reason: trace.Settled},
	}
	v := verdict.Judge(s, t)
	for i := range v.Findings {
		v.Findings[i].Around = nil
	}
	if err := v.Print(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// fail: phase FailedValidation, 0s simulated
	//   expectation (demanded): backup/backup-1 at 0s
	//     expected  phase Completed
	//     seen      phase FailedValidation
	//   prediction (demanded): backup/backup-1 at 0s
	//     expected  path Queued → ReadyToStart → InProgress → Finalizing → Completed
	//     seen      path Queued → ReadyToStart → FailedValidation
}
