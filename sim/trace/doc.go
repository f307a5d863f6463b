// Package trace is what a run of a scenario leaves behind: the events that every world reports in the same words, as
// newline-delimited JSON, and their reading by people.
//
// A world writes a trace as it runs, with a [Writer]: a header, an event a line, and an end.
//
//	{"schema":1,"scenario":"backup-operation-times-out","world":"virtual","velero":"1.18.3","seed":1,"scale":1}
//	{"seq":1,"at":"0s","object":"backup/backup-1","created":{"itemOperationTimeout":"4h0m0s"}}
//	{"seq":2,"at":"1s","incarnation":1,"object":"backup/backup-1","phase":{"to":"Queued"}}
//	{"end":{"reason":"settled","at":"4h0m10s"}}
//
// [Read] reads it back and accepts nothing else. A [Timeline] prints the events for a person to follow, and [Describe] says
// what the run was waiting for at any instant:
//
//	t, err := trace.Read(f, f.Name())
//	…
//	_, err = trace.Describe(t, trace.Time(2*time.Hour)).WriteTo(os.Stdout)
//
// The package imports only the standard library, so that worlds and everything that judges them can share it.
package trace
