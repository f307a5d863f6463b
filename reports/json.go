package reports

import "io"

// WriteJSON writes the report as JSON, as report.schema.json describes it.
func (r *Report) WriteJSON(w io.Writer) error { return printJSON(w, r) }
