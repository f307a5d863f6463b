// Package reports turns the results of any number of runs into answers: what came of them, which transitions of the specification
// they cover, which deviations of a release they show, and what has changed since another time.
//
// A result folder, as `velosim run --out` writes it, has a verdict (Run) and a trace for each run. New makes one Report of all of them, and
// every format is written from that: JSON, JUnit XML, Markdown, and an HTML page.
//
//	files, err := reports.Files("out/virtual", "out/envtest")
//	…
//	for _, file := range files {
//		r, err := reports.Read(file)
//		…
//		results = append(results, r)
//	}
//	report := reports.New(results, reports.Options{Now: time.Now()})
//	err = report.WriteJSON(os.Stdout)
//
// It imports the packages of sim that say what a run is (phase, scenario, trace, verdict, model), and never a world.
package reports
