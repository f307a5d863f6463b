package controlplane_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/velosim/velosim/envtest/controlplane"
	"github.com/velosim/velosim/envtest/controlplane/velerocrds"
)

// patience is how long the tests wait for what should take seconds, on a busy machine too.
const patience = 3 * time.Minute

// TestMain makes the test binary an owner of a control plane if it is started as owner.
func TestMain(m *testing.M) {
	controlplane.Main()
	if filepath.Base(os.Args[0]) == "owner" {
		beOwner(os.Args[1], os.Args[2])
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector lets every supervisor sleep for a second
	os.Exit(m.Run())
}

// beOwner starts a control plane, prints a line when it is ready, and waits to be killed.
func beOwner(assets, temp string) {
	c, err := controlplane.Start(context.Background(), controlplane.Options{Assets: assets, Temp: temp})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	<-c.Done()
}

// assets returns the folder of etcd and kube-apiserver. Without it the test cannot run.
func assets(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	if dir == "" {
		t.Skip("KUBEBUILDER_ASSETS is not set: set it to a folder with etcd and kube-apiserver to run this test")
	}
	return dir
}

// start starts a control plane whose files are below temp.
func start(t *testing.T, temp string) *controlplane.ControlPlane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := controlplane.Start(ctx, controlplane.Options{Assets: assets(t), CRDs: velerocrds.All(), Temp: temp})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop() })
	return c
}

// processes returns the names and IDs of the processes of control planes whose files are below temp.
func processes(t *testing.T, temp string) map[string]int {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, path := range paths {
		env, err := os.ReadFile(path + "/environ")
		if err != nil || !bytes.Contains(env, []byte("HOME="+temp+"/")) {
			continue
		}
		name, err := os.ReadFile(path + "/comm")
		if err != nil {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d", &pid); err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSpace(string(name))] = pid
	}
	return found
}

// nothingLeft fails the test if processes or files of a control plane are left.
func nothingLeft(t *testing.T, temp string) {
	t.Helper()
	if left := processes(t, temp); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// killOwner starts an owner, and kills it and its process group when it is ready or, if early, when its control plane begins
// to start. It returns when all that had the owner's stderr, the supervisor too, is gone.
func killOwner(t *testing.T, temp string, early bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.SetReadDeadline(time.Now().Add(patience))
	cmd := exec.Command(self, assets(t), temp)
	cmd.Args[0] = "owner"
	cmd.Stdout = w
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if early {
		eventually(t, "etcd starts", func() bool { return processes(t, temp)["etcd"] != 0 })
	} else if _, err := io.ReadFull(r, make([]byte, len("ready\n"))); err != nil {
		t.Fatalf("the owner does not start a control plane: %v", err)
	} else if found := processes(t, temp); found["etcd"] == 0 || found["kube-apiserver"] == 0 {
		t.Fatalf("the control plane's processes are %v", found)
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	eventually(t, "all processes end and the folder is removed", func() bool {
		left, err := os.ReadDir(temp)
		return err == nil && len(left) == 0 && len(processes(t, temp)) == 0
	})
}

// eventually waits for a condition that nobody tells of.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}
