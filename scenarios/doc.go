// Package scenarios is the catalogue: one YAML file a scenario, embedded, so that an installed velosim knows them.
//
//	for _, name := range scenarios.Names() {
//		b, _ := scenarios.Read(name)
//		s, errs := scenario.Parse(name+".yaml", b)
//		…
//	}
//
// Each file opens with a comment that says what happens and what must come of it, and is named after its scenario. The
// format is described by package sim/scenario, docs/scenario.md and the JSON Schema beside the files. This package imports only the standard library.
package scenarios
