package reports

import (
	_ "embed"
	"io"
)

//go:embed report.schema.json
var schema string

// JSONSchema is that of a report's JSON, which the tests generate from the types.
func JSONSchema() []byte { return []byte(schema) }

// WriteJSON writes the report as JSON, as JSONSchema describes it.
func (r *Report) WriteJSON(w io.Writer) error { return printJSON(w, r) }
