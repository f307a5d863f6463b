// Package scenario is the file format of velosim's scenarios: its types, a strict parser, and the defaults.
//
// A scenario says what the user creates, how the plugins behave, which faults strike, and what must come of it:
//
//	# The operation takes an hour. The backup must wait for it and end Completed.
//	apiVersion: velosim.io/v1alpha1
//	kind: Scenario
//	metadata: {name: backup-operation-completes}
//	plugins:
//	- name: example.io/mover
//	  operation: {progress: [{at: 0s, of: 10}, {at: 1h, done: 10, completed: true}]}
//	expect:
//	  phase: Completed
//	  operations: {attempted: 1, completed: 1, failed: 0}
//
// The types are the reference: a field's comment gives its meaning and default. From them the tests generate docs/scenario.md
// and the JSON Schema scenarios/scenario.schema.json (go test -update). The comment block at the head of the file is the
// scenario's description, less a line for editors that names the schema.
//
// There may be several backups, restores and schedules. Each backup and restore is created when the one before has ended, or at a
// point of another's run. Points and expectations call them backup/NAME and restore/NAME, and the backups of a schedule, whose
// names end in the time, backup/NAME-1, backup/NAME-2, …: see Naming.
//
// Parse reports everything that is wrong with a file at once, each with its position, as a compiler does:
//
//	s, errs := scenario.Parse("my.yaml", b)
//	if len(errs) > 0 {
//		fmt.Fprintln(os.Stderr, errs)
//		os.Exit(2)
//	}
//
// A file is one YAML document of at most 1 MiB, nested at most 32 deep, in the part of YAML that JSON has too: no anchors,
// aliases, merge keys, tags, directives, "?" keys or tabs. Every field is known, set once, and of the right type. What can never
// happen in a run of the scenario, such as a fault at a phase that its object never has, is an error too.
//
// The package may import a YAML parser, a distance between words, Kubernetes' validation of names, and of ours the phases and rules of
// sim/phase.
package scenario
