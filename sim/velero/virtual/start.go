package virtual

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
)

// errNotStarted is what a server ends with that cannot list what a plugin registers.
var errNotStarted = errors.New("failed to list what a plugin registers")

// discover starts the process of each plugin once, as the server does to list what they register, in the order of their files
// (DiscoverPlugins, pkg/plugin/clientmgmt/process/registry.go).
func (inc *incarnation) discover() error {
	var plugins []scenario.Plugin
	for _, p := range inc.run.job.Scenario.Plugins {
		if !slices.ContainsFunc(plugins, func(other scenario.Plugin) bool { return other.Name == p.Name }) {
			plugins = append(plugins, p)
		}
	}
	slices.SortFunc(plugins, func(a, b scenario.Plugin) int { return strings.Compare(a.File(), b.File()) })
	for _, p := range plugins {
		if err := inc.startPlugin("startup", p.Name, ""); err != nil {
			return fmt.Errorf("%w: %s: %w", errNotStarted, p.Name, err)
		}
	}
	return nil
}

// startPlugin starts a process of the plugin for a controller and the object that it works on, and returns the error that Velero has of
// one that does not serve (Start in go-plugin's client.go).
func (inc *incarnation) startPlugin(controller, name, object string) error {
	script := inc.run.job.Scenario.StartOf(name)
	inc.starts[name]++
	fails := script.Strikes(inc.starts[name])
	takes := script.Delay.Duration
	if fails {
		takes = script.Takes()
	}
	if takes > 0 {
		time.Sleep(takes)
		if err := inc.step(controller, "start "+name+" "+object); err != nil { // others may have woken at the same instant
			return err
		}
	}
	if !fails {
		return nil
	}
	inc.record("", trace.Body{Process: &trace.Process{Name: name, State: trace.ProcessFailed}})
	switch {
	case script.Exit:
		return errors.New("plugin exited before we could connect")
	case script.Handshake == scenario.NoHandshake:
		return errors.New("timeout while waiting for plugin to start")
	case script.Handshake == scenario.WrongHandshake:
		return errors.New("the plugin failed to negotiate the initial go-plugin protocol handshake")
	}
	return fmt.Errorf("incompatible API version with plugin. Plugin version: %d, Client versions: [2]", script.Protocol)
}
