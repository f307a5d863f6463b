// World is a world that can say hello, and nothing else.
package main

import (
	"context"
	"errors"
	"os"

	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/world"
)

func main() {
	if world.Serve(context.Background(), mute{}, os.Stdin, os.Stdout) != nil {
		os.Exit(1)
	}
}

type mute struct{}

func (mute) Info() world.Info { return world.Info{World: "mute", Build: "by hand"} }

func (mute) Position(int) world.Position { return world.Position{} }

func (mute) Run(context.Context, world.Job, func(trace.Event) error) (trace.End, error) {
	return trace.End{}, errors.New("this world runs nothing")
}
