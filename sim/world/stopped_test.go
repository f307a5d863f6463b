package world

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/velosim/velosim/sim/trace"
)

// stallOfCLI is how patient the CLI is that a test stops.
const stallOfCLI = 3 * progressEvery

// beCLI is a CLI that runs one job. It says when the job runs and how it ended, and cancels it when its stdin ends.
func beCLI(path string) int {
	p, err := Open(context.Background(), path, Options{Stall: stallOfCLI})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n') //nolint:errcheck // whatever comes
		cancel()
	}()
	end, err := p.Run(ctx, job(1, "bad"), func(e trace.Event) error {
		if e.Seq == 2 {
			fmt.Println("running")
		}
		return nil
	})
	fmt.Println(end.Reason, end.Detail, err)
	return 0
}

// Ctrl-Z, and later fg: the world has gone on, or was stopped too, and must not be taken for one that hangs.
func TestAStoppedCLIIsNoStall(t *testing.T) {
	world := executable(t, "goes-on")
	cli := filepath.Join(filepath.Dir(world), "cli")
	if err := os.Symlink(world, cli); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), cli, world)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(stdout)
	if !said.Scan() || said.Text() != "running" {
		t.Fatalf("it said %q", said.Text())
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("it is not stopped: %v, %v", status, err)
	}
	<-time.After(2 * stallOfCLI) // time that must not count
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	stdin.Close()
	if !said.Scan() || said.Text() != "environment cancelled <nil>" {
		t.Errorf("it said %q", said.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
