// Package subprocess starts a plugin executable of the user's as Velero starts it (pkg/plugin/clientmgmt/process), and gives its plugins as
// Velero's framework has them: to forward and record their calls, or to make them directly.
//
//	p, err := subprocess.Start(subprocess.Options{Path: "./my-plugin"})
//	…
//	defer p.Stop()
//	action, err := p.Plugin(common.PluginKindBackupItemActionV2, "example.io/mover", journal, time.Now())
//
// It imports Velero's plugin framework and fakeplugins.
package subprocess
