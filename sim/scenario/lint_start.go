package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"time"
)

// What Velero has of a plugin's start: the protocol's version (Handshake, pkg/plugin/framework/handshake.go), and go-plugin's own timeout.
const (
	pluginProtocol     = 2
	pluginStartTimeout = time.Minute
)

// start checks how a plugin's process starts.
func (l *linter) start(i int) {
	p, path := l.scenario.Plugins[i], fmt.Sprintf("plugins[%d].start", i)
	if !l.has(path) || !l.decoded(path) {
		return
	}
	l.oneOf(path+".handshake", string(p.Start.Handshake), "what is wrong with a handshake", handshakes())
	l.positive(path+".protocol", p.Start.Protocol == 0)
	if p.Start.Protocol == pluginProtocol {
		l.complain(path+".protocol", "is Velero's own; choose another, or leave it out")
	}
	if p.Start.Delay.Duration >= pluginStartTimeout {
		l.complain(path+".delay", "must be less than %s, after which Velero gives the plugin up; shorten it, or say \"handshake: none\"", pluginStartTimeout)
	}
	strikes := 0
	for _, set := range []bool{p.Start.Exit, p.Start.Handshake != "", p.Start.Protocol != 0} {
		if set {
			strikes++
		}
	}
	if strikes > 1 {
		l.complain(path, "exit, handshake and protocol exclude each other; keep one")
	}
	for _, name := range []string{"nth", "times"} {
		if strikes == 0 && l.has(path+"."+name) {
			l.complain(path+"."+name, "says when exit, handshake or protocol strikes, and there is none; add one or remove this")
		}
	}
	l.positive(path+".nth", p.Start.Nth == 0)
	same := func(other Plugin) bool { return other.Name == p.Name }
	if j := slices.IndexFunc(l.scenario.Plugins, same); j < i {
		l.complain(path, "the process is that of plugins[%d], which has the same name; say there how it starts", j)
	}
}

// unstarted checks that the server is expected not to start if it does not, and then nothing else. It reports whether that is expected.
func (l *linter) unstarted() bool {
	e := l.scenario.Expect
	l.oneOf("expect.server", e.Server, "what can be expected of the server", []string{DoesNotStart})
	if !l.decoded("plugins") || !l.sound("plugins") || !l.sound("expect.server") {
		return e.Server != ""
	}
	switch i := slices.IndexFunc(l.scenario.Plugins, func(p Plugin) bool { return p.Start.Strikes(1) }); {
	case e.Server == "" && i >= 0:
		l.complain(fmt.Sprintf("plugins[%d].start", i), "with such a plugin the server does not start; expect \"server: %s\", and nothing else, or say \"nth: 2\"", DoesNotStart)
		return true
	case e.Server == "":
		return false
	case i < 0:
		l.complain("expect.server", "no plugin keeps the server from starting; add \"start: {exit: true}\" to one, or expect something else")
	case l.has("expect.object") || !reflect.DeepEqual(e, Expect{Server: e.Server, Object: e.Object}):
		l.complain("expect.server", "nothing is created if the server does not start; remove what else is expected")
	case len(l.scenario.Faults) > 0:
		l.complain("faults", "no fault strikes if the server does not start; remove them")
	}
	return true
}
