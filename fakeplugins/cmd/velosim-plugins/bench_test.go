package main

import (
	"os"
	"testing"

	velerov1 "github.com/vmware-tanzu/velero/pkg/apis/velero/v1"
	"github.com/vmware-tanzu/velero/pkg/plugin/clientmgmt"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// BenchmarkStart starts the executable, up to the handshake, and ends it, as every poll does.
func BenchmarkStart(b *testing.B) {
	s := serveWorld(b, movers(scenario.Plugin{}))
	r, err := s.registry()
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(os.Args[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m := clientmgmt.NewManager(s.log, s.log.Level, r)
		if _, err := m.GetBackupItemActionV2(name); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		m.CleanupClients()
		b.StartTimer()
	}
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}

// BenchmarkProgress calls Progress: over gRPC to the plugin's process, and twice over the socket to the host.
func BenchmarkProgress(b *testing.B) {
	s := serveWorld(b, movers(scenario.Plugin{Operation: new(scenario.Operation)}))
	s.calls = make(chan trace.Call, 1<<20)
	a := action(b, s.manager())
	if _, err := execute(a); err != nil {
		b.Fatal(err)
	}
	waiting := backup(velerov1.BackupPhaseWaitingForPluginOperations)
	for b.Loop() {
		if _, err := a.Progress("backup-1/mover-1", waiting); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppliesTo makes a call that the host does not hear of, to compare with.
func BenchmarkAppliesTo(b *testing.B) {
	a := action(b, serveWorld(b, movers(scenario.Plugin{})).manager())
	for b.Loop() {
		if _, err := a.AppliesTo(); err != nil {
			b.Fatal(err)
		}
	}
}
