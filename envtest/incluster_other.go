//go:build !linux

package envtest

import (
	"errors"

	"k8s.io/client-go/rest"
)

const inClusterArgument = "--in-cluster"

var errLinux = errors.New("this world runs on Linux only")

func inCluster(*rest.Config, string, string) ([]string, error) { return nil, errLinux }

func becomeInCluster(string, string, []string) error { return errLinux }
