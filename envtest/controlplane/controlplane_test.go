package controlplane_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/velosim/velosim/envtest/controlplane"
	"github.com/velosim/velosim/envtest/controlplane/velerocrds"
)

var backups = schema.GroupVersionResource{Group: "velero.io", Version: "v1", Resource: "backups"}

func TestControlPlane(t *testing.T) {
	temp := t.TempDir()
	begin := time.Now()
	c := start(t, temp)
	t.Logf("Start took %v", time.Since(begin))

	t.Run("all CRDs are served", func(t *testing.T) {
		_, lists, err := discovery.NewDiscoveryClientForConfigOrDie(c.Config()).ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		served := map[string]bool{}
		for _, list := range lists {
			for _, resource := range list.APIResources {
				served[resource.Name+" "+list.GroupVersion] = true
			}
		}
		for _, crd := range velerocrds.All() {
			for _, version := range crd.Spec.Versions {
				if name := crd.Spec.Names.Plural + " " + crd.Spec.Group + "/" + version.Name; version.Served && !served[name] {
					t.Errorf("%s is not served", name)
				}
			}
		}
	})
	t.Run("custom resources", func(t *testing.T) {
		clients, err := dynamic.NewForConfig(c.Config())
		if err != nil {
			t.Fatal(err)
		}
		backup := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "velero.io/v1", "kind": "Backup",
			"metadata": map[string]any{"name": "backup-1"},
			"spec":     map[string]any{"ttl": "1h"},
		}}
		if _, err := clients.Resource(backups).Namespace("default").Create(t.Context(), backup, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		// The schema of Velero's CRDs is checked.
		backup.SetName("backup-2")
		backup.Object["spec"] = map[string]any{"csiSnapshotTimeout": 1}
		if _, err := clients.Resource(backups).Namespace("default").Create(t.Context(), backup, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
			t.Errorf("a wrong backup: %v", err)
		}
		uploads := backups.GroupResource().WithVersion("v2alpha1")
		uploads.Resource = "datauploads"
		if _, err := clients.Resource(uploads).List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("strangers are refused", func(t *testing.T) {
		clients, err := dynamic.NewForConfig(rest.AnonymousClientConfig(c.Config()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := clients.Resource(backups).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("kubeconfig", func(t *testing.T) {
		config, err := clientcmd.RESTConfigFromKubeConfig(c.Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		version, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerVersion()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("kube-apiserver is %s", version)
	})
	t.Run("stop", func(t *testing.T) {
		host, err := url.Parse(c.Config().Host)
		if err != nil {
			t.Fatal(err)
		}
		if host.Hostname() != "127.0.0.1" {
			t.Errorf("kube-apiserver listens on %s", host)
		}
		for name, pid := range processes(t, temp) {
			t.Logf("%s uses %s", name, memory(t, pid))
			args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err != nil {
				t.Fatal(err)
			}
			for arg := range strings.SplitSeq(string(args), "\x00") {
				if flag, path, _ := strings.Cut(arg, "=/"); path != "" && !strings.HasPrefix("/"+path, temp) {
					t.Errorf("%s gets %s=/%s, which is not in its folder", name, flag, path)
				}
			}
		}
		info, err := filepath.Glob(filepath.Join(temp, "*"))
		if err != nil || len(info) != 1 {
			t.Errorf("the folders are %q", info)
		} else if s, err := os.Stat(info[0]); err != nil || s.Mode().Perm() != 0o700 {
			t.Errorf("the folder is %v, %v", s.Mode(), err)
		}
		begin := time.Now()
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("Stop took %v", time.Since(begin))
		nothingLeft(t, temp)
		l, err := net.Listen("tcp", host.Host)
		if err != nil {
			t.Fatalf("the port is not free: %v", err)
		}
		l.Close()
	})
}

func memory(t *testing.T, pid int) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rss, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(rss)
		}
	}
	return "?"
}

// The control plane goes with its owner, ready or not.
func TestOwnerKilled(t *testing.T) {
	for name, early := range map[string]bool{"starting": true, "ready": false} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			killOwner(t, temp, early)
			nothingLeft(t, temp)
		})
	}
}

// The end of etcd or kube-apiserver is the control plane's.
func TestProcessEnds(t *testing.T) {
	for _, name := range []string{"etcd", "kube-apiserver"} {
		t.Run(name, func(t *testing.T) {
			temp := t.TempDir()
			c := start(t, temp)
			if err := syscall.Kill(processes(t, temp)[name], syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			select {
			case <-c.Done():
			case <-time.After(patience):
				t.Fatal("the control plane does not end")
			}
			if err := c.Err(); !strings.Contains(err.Error(), name+" ended by itself") {
				t.Errorf("error %v", err)
			}
			nothingLeft(t, temp)
		})
	}
}

// The end of the context ends a start in each of its stages, which the log tells.
func TestStartCancelled(t *testing.T) {
	reason := errors.New("not wanted any more")
	for name, line := range map[string]string{
		"before":                   "",
		"etcd starts":              `"level":"warn"`,
		"kube-apiserver starts":    "Golang settings",
		"kube-apiserver serves":    "Serving securely",
		"CRDs are being installed": "Adding GroupVersion velero.io v1",
	} {
		t.Run(name, func(t *testing.T) {
			temp, dir := t.TempDir(), assets(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			log := writer(func(p []byte) (int, error) {
				if strings.Contains(string(p), line) {
					cancel(reason)
				}
				return len(p), nil
			})
			if line == "" {
				cancel(reason)
			}
			c, err := controlplane.Start(ctx, controlplane.Options{Assets: dir, Temp: temp, CRDs: velerocrds.All(), Log: log})
			if !errors.Is(err, reason) {
				t.Errorf("Start returns %v, %v", c, err)
			}
			nothingLeft(t, temp)
		})
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestTwoAtOnce(t *testing.T) {
	for _, name := range []string{"one", "other"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			c := start(t, temp)
			if err := c.Stop(); err != nil {
				t.Error(err)
			}
			nothingLeft(t, temp)
		})
	}
}

func TestStartErrors(t *testing.T) {
	write := func(t *testing.T, dir, name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("no assets", func(t *testing.T) {
		_, err := controlplane.Start(t.Context(), controlplane.Options{Assets: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "Options.Assets must be a folder with etcd and kube-apiserver") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("etcd fails", func(t *testing.T) {
		dir, temp := t.TempDir(), t.TempDir()
		write(t, dir, "etcd", `
for i in 1 2 3; do echo '{"level":"warn","msg":"this is not recommended"}'; echo '{"level":"error","error":"http: Server closed"}'; echo "W1130 14:09:03.775121 1 etcd.go:1] a warning"; done
echo "cannot, sorry $(head -c 3000 /dev/zero | tr '\0' x)" >&2; exit 1`)
		write(t, dir, "kube-apiserver", "exit 1")
		var log bytes.Buffer
		_, err := controlplane.Start(t.Context(), controlplane.Options{Assets: dir, Temp: temp, Log: &log})
		if err == nil || !strings.Contains(err.Error(), "cannot, sorry") {
			t.Errorf("error %v; want one with what etcd printed", err)
		}
		if !strings.Contains(log.String(), "cannot, sorry") || !strings.Contains(log.String(), "W1130 ") {
			t.Errorf("the log is %q", &log)
		}
		for _, idle := range []string{"W1130 ", `"level":`, "test-env"} {
			if err != nil && strings.Contains(err.Error(), idle) {
				t.Errorf("%s explains nothing in %v", idle, err)
			}
		}
		if err != nil && len(err.Error()) > 1000 || strings.Count(err.Error(), "cannot") > 1 {
			t.Errorf("error of %d bytes: %v", len(err.Error()), err) // it was tried ten times
		}
		nothingLeft(t, temp)
	})
	t.Run("etcd hangs", func(t *testing.T) {
		dir, temp := t.TempDir(), t.TempDir()
		write(t, dir, "etcd", `trap "" TERM; setsid sleep 1000 & echo $! >>"$HOME/hangs"; while :; do sleep 1000; done`)
		write(t, dir, "kube-apiserver", "exit 1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := controlplane.Start(ctx, controlplane.Options{Assets: dir, Temp: temp}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		nothingLeft(t, temp)
	})
}
