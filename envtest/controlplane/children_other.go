//go:build !linux

package controlplane

import "errors"

type processes struct{}

func children() (*processes, error) { return nil, errors.New("control planes run on Linux only") }
func (*processes) wait() error      { return nil }
