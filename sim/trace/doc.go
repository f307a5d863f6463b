// Package trace is what a run of a scenario leaves behind: the events that every world reports in the same words, as
// newline-delimited JSON, and their reading by people.
package trace
