package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// mostPaths of an object are printed.
const mostPaths = 8

// printPrediction prints how the scenario may end as is demanded and, where that is otherwise, as the Velero release does it.
func printPrediction(w io.Writer, s *scenario.Scenario, velero string) {
	release, unknown := phase.ForRelease(velero)
	demanded := model.Predict(release.Demanded(), s)
	released := model.Predict(release, s)
	if unknown != nil || reflect.DeepEqual(demanded, released) {
		printPaths(w, "predicted", demanded)
	} else {
		printPaths(w, "predicted, as demanded", demanded)
		printPaths(w, "predicted, as "+release.Name+" does it", released)
	}
	warnOfExpectation(w, s, demanded)
	fmt.Fprintln(w)
}

func printPaths(w io.Writer, title string, predictions []model.Prediction) {
	fmt.Fprintln(w, title)
	for _, p := range predictions {
		if p.Unknown != "" {
			fmt.Fprintf(w, "  %s: no prediction, as %s\n", p.Object, p.Unknown)
			continue
		}
		if len(p.Paths) == 0 {
			fmt.Fprintf(w, "  %s: no run in which every fault strikes\n", p.Object)
			continue
		}
		fmt.Fprintf(w, "  %s %s\n", p.Object, ends(p))
		for i, path := range p.Paths {
			if i == mostPaths {
				fmt.Fprintf(w, "    and %d more paths\n", len(p.Paths)-i)
				break
			}
			fmt.Fprintf(w, "    %s\n", path)
		}
	}
}

// ends says in which phases an object may end, or stay.
func ends(p model.Prediction) string {
	var ways []string
	for _, end := range p.Ends() {
		if end.Final() {
			ways = append(ways, "ends "+end.String())
		} else {
			ways = append(ways, "stays "+end.String())
		}
	}
	return strings.Join(ways, ", or ")
}

// warnOfExpectation says that the phase that the scenario expects is none that is predicted.
func warnOfExpectation(w io.Writer, s *scenario.Scenario, demanded []model.Prediction) {
	i := slices.IndexFunc(demanded, func(p model.Prediction) bool { return p.Object == s.Object() })
	want, err := phase.Parse(s.Expect.Phase)
	if err != nil || i < 0 || demanded[i].Unknown != "" || slices.Contains(demanded[i].Ends(), want) {
		return
	}
	fmt.Fprintf(w, "  The scenario expects %s, which is none of these: check expect.phase.\n", want)
}
