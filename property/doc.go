// Package property draws whole scenarios at random, plays them on Velero's own controllers in virtual time, and looks for runs that no
// property allows.
//
// [Scenarios] generates scenarios with rapid: plugins and how they misbehave, operations and what becomes of them, items, backups, restores
// and schedules, the server's settings, and what strikes from outside. Lengths are drawn from few, so that instants coincide. Nearly all
// that is drawn is valid. A scenario has a number, which is the seed of rapid and of the run, so that a search can be resumed and repeated.
//
// The properties are the oracles of sim/verdict, as nothing is expected of the outcome: a run ends well, or by known deviations
// alone. Besides, the model predicts a path for all that is created, the same seed gives the same trace (of one in twenty
// runs), and a run is inconclusive only because a point of its scenario never comes. What breaks one is a finding. [Kind] is what
// findings of one cause have in common, [Shrink] looks for the smallest scenario that shows it, and [Write] makes a scenario file of that.
//
// The package's tests are the search: of 10,000 scenarios in the model, and of 300 in virtual time.
//
//	make soak N=20000         scenarios 1 to 20000 in virtual time; files of what is found are in out/property
//	make soak N=500 SEED=301  those from the number 301 on
//
// Interrupted, it says what it knows, and where to go on. That it finds what is wrong with Velero, tests in sim/velero/virtual show, with
// defects in its place:
//
//	pool, err := world.OpenPool(ctx, path, 2, world.Options{})
//	if err != nil { … }
//	for r := range property.Search(ctx, pool, 1, 300) {
//		if r.Finding != nil {
//			fmt.Println(property.Kind(*r.Finding))
//		}
//	}
//
// It imports sim/model, sim/phase, sim/scenario, sim/trace, sim/verdict and sim/world, and nothing else of ours.
package property
