// Package world is the protocol between the CLI and a world: a program that runs scenarios.
//
// A world is a program of its own, so that the CLI links none of Velero's controllers, and a panic in Velero ends a
// worker and becomes a finding rather than ending the run. The two speak newline-delimited JSON, one frame a line, over
// the world's stdin and stdout:
//
//	world > {"hello":{"schema":1,"info":{"world":"virtual","velero":"1.18.3","build":"sources …","capabilities":["backup",…]}}}
//	CLI   > {"job":{"id":1,"scenario":{…},"seed":1,"bound":"4h21m"}}
//	world > {"id":1,"begin":true}
//	world > {"id":1,"event":{"seq":1,"at":"0s",…}}
//	world > {"id":1,"progress":{"at":"1h0m0s","steps":3219}}     every 500 ms of wall time
//	world > {"id":1,"end":{"reason":"settled","at":"4h0m30s"}}   or {"id":1,"error":"why there could be no run"}
//
// A world whose hello says "parallel":8 takes so many jobs at a time, and their frames come mixed; any other takes one. At any time
// the CLI may send {"id":1,"cancel":true}, which ends the running job. The end of stdin ends the world and all
// that it started. A job is sent as the normalised scenario, never as the file. Both sides are strict: another schema, an
// unknown field or a line that is not a frame is an error, never a guess.
//
// In a world's executable:
//
//	func main() {
//		if err := world.Serve(context.Background(), virtual.New(), os.Stdin, os.Stdout); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//		os.Exit(0) // end of stdin: whatever still runs ends with the process
//	}
//
// In the CLI:
//
//	w, err := world.Open(ctx, path, world.Options{})
//	if err != nil { … }
//	defer w.Close()
//	end, err := w.Run(ctx, job, func(e trace.Event) error { … })
//
// It imports sim/scenario and sim/trace, never a world or a verdict.
package world
