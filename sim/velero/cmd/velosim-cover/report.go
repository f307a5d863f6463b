package main

import (
	"cmp"
	"fmt"
	"io"
)

// printTable prints a table for each controller, with its total, and the total of all.
func printTable(out io.Writer, controllers []controller) {
	width := 0
	for _, c := range controllers {
		for _, f := range c.functions {
			width = max(width, len(f.name))
		}
	}
	line := func(name, statements, catalogue, explained, unit string) {
		fmt.Fprintf(out, "%-*s  %10s  %9s  %9s  %19s\n", width+2, name, statements, catalogue, explained, unit)
	}
	row := func(indent string, f function) {
		line(indent+f.name, fmt.Sprint(f.statements), percent(f.reached, f.statements), percent(f.explained, f.statements), percent(f.unit, f.statements))
	}
	all := function{name: "all phase controllers"}
	for _, c := range controllers {
		line(c.name, "statements", "catalogue", "explained", "Velero's unit tests")
		total := function{name: "total"}
		for _, f := range c.functions {
			row("  ", f)
			total.add(f)
		}
		row("  ", total)
		fmt.Fprintln(out)
		all.add(total)
	}
	row("", all)
}

func (f *function) add(g function) {
	f.statements += g.statements
	f.reached += g.reached
	f.unit += g.unit
	f.explained += g.explained
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(cmp.Or(whole, 1)))
}

// printMissed prints what was not reached, by controller: lines, function, number of statements, first line.
func printMissed(out io.Writer, controllers []controller) {
	for _, c := range controllers {
		fmt.Fprintf(out, "\nnever reached: %s\n", c.name)
		for _, f := range c.functions {
			for _, g := range f.missed {
				lines := fmt.Sprint(g.first)
				if g.last > g.first {
					lines += fmt.Sprintf("-%d", g.last)
				}
				fmt.Fprintf(out, "  %s:%s: %s (%d): %s\n", g.file, lines, f.name, g.statements, g.text)
				if g.reason != "" {
					fmt.Fprintf(out, "    %s\n", g.reason)
				}
			}
		}
	}
}
