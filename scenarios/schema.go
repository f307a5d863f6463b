package scenarios

import _ "embed"

//go:embed scenario.schema.json
var schema string

// Schema returns the JSON Schema of a scenario file, which the tests of sim/scenario generate from the types.
func Schema() []byte { return []byte(schema) }
