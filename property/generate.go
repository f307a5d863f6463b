package property

import (
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"github.com/velosim/velosim/sim/scenario"
)

// Drawn is a scenario that a generator has made.
type Drawn struct {
	// Scenario as Parse reads the file. It expects nothing: Expect names an object that is certainly created, and no outcome.
	Scenario *scenario.Scenario
	written  scenario.Scenario // as the file says it, without defaults
}

// GoString is the scenario's file, which rapid prints.
func (d Drawn) GoString() string {
	b, err := text(d.written)
	if err != nil {
		return err.Error()
	}
	return "\n" + string(b)
}

// Scenarios generates scenarios of every shape that the format has. Nearly all that is drawn is valid; the rest is drawn again.
func Scenarios() *rapid.Generator[Drawn] {
	return rapid.Custom(func(t *rapid.T) Drawn {
		d, err := draw(t)
		if err != nil {
			t.Skip(err)
		}
		return d
	})
}

// Numbered is the scenario of that number, from 1: rapid draws the same one when it is seeded with it.
func Numbered(n int) Drawn { return Scenarios().Example(n) }

// draw draws a scenario. The error says why it is invalid.
func draw(t *rapid.T) (Drawn, error) {
	s := &scenario.Scenario{APIVersion: scenario.APIVersion, Kind: scenario.Kind, Metadata: scenario.Metadata{Name: "drawn"}}
	d := &drawing{t: t, s: s}
	d.items()
	d.server()
	d.objects()
	d.intents()
	d.plugins()
	d.creations()
	d.faults()
	s.Expect = scenario.Expect{Object: d.certain(), Outcomes: scenario.Outcomes{Outcome: scenario.Outcome{Phase: "Completed"}}}
	return read(*s)
}

// read parses what was written.
func read(written scenario.Scenario) (Drawn, error) {
	b, err := json.Marshal(written) // which is YAML
	if err != nil {
		return Drawn{}, fmt.Errorf("failed to write the scenario: %w", err)
	}
	s, errs := scenario.Parse("drawn", b)
	if len(errs) > 0 {
		return Drawn{}, errs
	}
	s.Expect = scenario.Expect{Object: s.Expect.Object}
	return Drawn{Scenario: s, written: written}, nil
}

// text is the file of a scenario.
func text(written scenario.Scenario) ([]byte, error) {
	b, err := json.Marshal(written)
	if err != nil {
		return nil, fmt.Errorf("failed to write the scenario: %w", err)
	}
	b, err = yaml.JSONToYAML(b)
	if err != nil {
		return nil, fmt.Errorf("failed to write the scenario: %w", err)
	}
	return b, nil
}

// drawing is a scenario that is being drawn.
type drawing struct {
	t *rapid.T
	s *scenario.Scenario
	// intends are what the user does, and the faults that strike; their points are drawn last, as they depend on all else.
	intends []scenario.Do
}

// one draws one of the values; it shrinks to the first.
func one[T any](d *drawing, label string, of ...T) T { return rapid.SampledFrom(of).Draw(d.t, label) }

// rarely is true about once in n times; it shrinks to false.
func (d *drawing) rarely(label string, n int) bool {
	return rapid.IntRange(0, n-1).Draw(d.t, label) == n-1
}

// after draws a length from few, so that instants coincide, and meet Velero's polls, timeouts and deadlines; it shrinks to none.
func (d *drawing) after(label string) scenario.Duration {
	return one(d, label, lengths("0s", "1s", "10s", "1m", "10m", "1h")...)
}

func lengths(texts ...string) []scenario.Duration {
	all := make([]scenario.Duration, len(texts))
	for i, text := range texts {
		if err := all[i].UnmarshalText([]byte(text)); err != nil {
			panic(err) // the texts are constants
		}
	}
	return all
}
