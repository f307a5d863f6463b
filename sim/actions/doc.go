// Package actions has the plugins of pre/post actions, which Velero's design document new-prepost-backuprestore-plugin-hooks.md proposes:
// PreBackupAction, PostBackupAction, PreRestoreAction and PostRestoreAction run once for a backup or restore, not for each item.
//
// An author writes an executable like one of Velero's plugins. It may have several actions, and plugins of Velero's own kinds:
//
//	func main() {
//		actions.NewServer().
//			RegisterPreBackupAction("example.io/quiesce", func(log logrus.FieldLogger) (any, error) { return &quiesce{log}, nil }).
//			RegisterPostBackupAction("example.io/quiesce", func(log logrus.FieldLogger) (any, error) { return &resume{log}, nil }).
//			Serve()
//	}
//
//	func (q *quiesce) Execute(ctx context.Context, backup *velerov1.Backup) error { … }
//
// It goes into Velero's folder of plugins. Velero starts it and finds the plugins of its own kinds in it, maybe none: it must not be told
// others, or its server does not start (PluginListerGRPCClient.ListPlugins in pkg/plugin/framework/plugin_lister.go). The actions are listed and
// called by a service beside Velero's, which is found the same way:
//
//	plugins, err := actions.Discover(ctx, "/plugins", log)
//	…
//	client := actions.NewClient(actions.Options{Log: backupLog})
//	defer client.Close()
//	for _, p := range actions.Select(plugins, actions.PluginKindPreBackupAction, backup.Annotations) {
//		if err := client.Execute(ctx, p, backup); err != nil { … }
//	}
//
// Other than Velero's calls of plugins, each has a deadline, [DefaultTimeout] by default, at which its process is killed; and a process
// that dies in a call is launched anew and called again, at most 10 times. So an action is called at least once, and must get along with
// what an earlier call did.
//
// The package imports Velero's plugin framework and API types, none of its controllers.
package actions
