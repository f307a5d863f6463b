// Package server assembles Velero's controllers from their exported constructors, in the order and with the arguments of
// the real server (Velero pkg/cmd/server/server.go, runControllers), and registers Velero's internal item actions as it
// does (pkg/cmd/server/plugin/plugin.go). What the controllers talk to — API server, plugins, object store — comes from
// the caller, one view for each controller, so that the caller can tell who does what.
//
// It imports Velero, and nothing of ours but the shim and prepost:
//
//	srv := &server.Server{Namespace: "velero", Flags: config.GetDefaultConfig(), Views: views, …}
//	err := srv.MarkInProgress(ctx, client) // what the real server does before its controllers run
//	err = srv.SetupControllers(ctx)
//	err = mgr.Start(ctx)
package server
