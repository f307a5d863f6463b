package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
)

// runner runs jobs, and prints what comes of them.
type runner struct {
	*cli
	runOptions
	info    world.Info
	sources []source // each has as many jobs in a row as there are seeds
	single  bool     // there is but one job: its timeline is printed while it runs
	pulse   *pulse
	judge   func(*scenario.Scenario, trace.Trace) verdict.Verdict
	// failuresOnly: of the results, what is no pass or known deviation is printed, and no summary.
	failuresOnly bool
	remembers    bool // the traces of the results
}

// all runs the jobs, and returns the results of those that ended, in the order of the jobs.
func (r *runner) all(ctx context.Context, pool *world.Pool, jobs []world.Job) ([]*result, error) {
	if r.dir != "" {
		if err := os.MkdirAll(r.dir, 0o700); err != nil {
			return []*result{}, &exitError{exitInconclusive, fmt.Errorf("failed to make --out: %w", err)}
		}
	}
	byID := map[int]*result{}
	r.pulse = newPulse(r.cli, len(jobs))
	between := *r.cli
	between.out, between.err = r.pulse.between(r.out), r.pulse.between(r.err)
	r.cli = &between
	s := newScreen(r, len(jobs))
	if r.pulse.bar = s.bar; !r.quiet {
		defer r.pulse.beats()()
	}
	for i, result := range world.Each(ctx, pool, jobs, r.one) {
		if s.show(result); result != nil {
			byID[jobs[i].ID] = result
		}
	}
	results := []*result{}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		results = append(results, byID[id])
	}
	s.summary(results, len(jobs))
	return results, nil
}

// one runs one job and judges it. It is called for several jobs at once.
func (r *runner) one(ctx context.Context, w world.World, job world.Job) *result {
	start := r.now()
	rec := &recorder{now: r.now, began: start, header: trace.Header{
		Scenario: job.Scenario.Metadata.Name, World: r.info.World, Velero: r.info.Velero, Build: r.info.Build,
		Seed: job.Seed, Scale: cmp.Or(r.info.Scale, 1),
	}}
	if r.info.Scale != 0 {
		rec.bound = job.Bound
	}
	defer r.pulse.follow(rec)()
	original := r.sources[(job.ID-1)/r.seeds]
	res := &result{Run: reports.NewRun(original.scenario, rec.header, r.replay(original.arg, job.Seed))}
	switch {
	case r.format != "text" || r.quiet || !r.single && !r.verbose:
	case r.single:
		printPrediction(r.out, original.scenario, r.info.Velero)
		rec.timeline = trace.NewTimeline(r.out, r.verbose)
	default:
		printPrediction(&res.timeline, original.scenario, r.info.Velero)
		rec.timeline = trace.NewTimeline(&res.timeline, r.verbose)
	}
	if r.dir != "" {
		job.Keep = r.path(job, ".files")
		if abs, err := filepath.Abs(job.Keep); err == nil {
			job.Keep = abs
		}
		res.lost = errors.Join(os.RemoveAll(job.Keep), os.MkdirAll(job.Keep, 0o700))
	}
	t := r.record(ctx, w, job, rec)
	res.full = r.judge(original.scenario, t)
	res.Judged(res.full, r.now().Sub(start))
	if r.remembers {
		res.trace = t
	}
	if r.dir != "" {
		if res.Green() { // nobody will look
			res.lost = errors.Join(res.lost, os.RemoveAll(job.Keep))
		}
		os.Remove(job.Keep) //nolint:errcheck // it stays unless it is empty
		res.lost = errors.Join(res.lost, res.Write(r.dir, res.FileName(r.seeds > 1)))
	}
	return res
}

// record runs the job, and returns its trace. That a record cannot be kept makes the run inconclusive.
func (r *runner) record(ctx context.Context, w world.World, job world.Job, rec *recorder) trace.Trace {
	if r.dir != "" {
		if err := rec.open(r.path(job, ".ndjson")); err != nil {
			return trace.Trace{Header: rec.header, End: trace.End{Reason: trace.Environment, Detail: err.Error()}}
		}
	}
	end, _ := w.Run(ctx, job, rec.event) // the error is in the End, too
	if err := rec.close(end); err != nil && end.Reason != trace.Environment {
		end = trace.End{Reason: trace.Environment, At: end.At, Detail: err.Error()}
	}
	return trace.Trace{Header: rec.header, Events: rec.events, End: end}
}

// path returns the path of a job's file in the folder --out.
func (r *runner) path(job world.Job, suffix string) string {
	run := reports.Run{Scenario: job.Scenario.Metadata.Name, Seed: job.Seed}
	return filepath.Join(r.dir, run.FileName(r.seeds > 1)+suffix)
}

// replay returns the command that makes one run again, alone; arg names the scenario.
func (r *runner) replay(arg string, seed int64) string {
	command := []string{"velosim run", quote(arg), fmt.Sprintf("--world %s --seed %d", r.world, seed)}
	if r.velero != "" {
		command = append(command, "--velero", quote(r.velero))
	}
	for _, plugin := range r.plugins {
		command = append(command, "--plugin", quote(plugin))
	}
	if arg == "-" {
		command = append(command, "< FILE")
	}
	return strings.Join(command, " ")
}

// recorder takes the events of one run: into memory for the verdict, into a file, into a timeline.
type recorder struct {
	header   trace.Header
	now      func() time.Time
	bound    trace.Time // of real time; 0: none
	mu       sync.Mutex // guards what follows
	began    time.Time  // in real time, when the trace did, once there are events
	events   []trace.Event
	file     *os.File        // nil: none is wanted
	writer   *trace.Writer   // on file
	timeline *trace.Timeline // nil: none is wanted
}

func (r *recorder) open(path string) (err error) {
	if r.file, err = create(path); err != nil {
		return err
	}
	r.writer, err = trace.NewWriter(r.file, r.header)
	return err
}

func (r *recorder) event(e trace.Event) error {
	r.mu.Lock()
	if len(r.events) == 0 && r.bound != 0 {
		r.began = r.now().Add(-time.Duration(e.At))
	}
	r.events = append(r.events, e)
	r.mu.Unlock()
	var errs []error
	if r.writer != nil {
		errs = append(errs, r.writer.Event(e))
	}
	if r.timeline != nil {
		errs = append(errs, r.timeline.Event(e))
	}
	return errors.Join(errs...)
}

func (r *recorder) close(end trace.End) error {
	var errs []error
	if r.writer != nil {
		errs = append(errs, r.writer.End(end), r.file.Close())
	}
	if r.timeline != nil {
		errs = append(errs, r.timeline.End(end))
	}
	return errors.Join(errs...)
}

// create makes a file that only its owner can read: a trace may hold what a user's scenario holds.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}

// result is what came of one run, as --format json and the verdict's file have it.
type result struct {
	reports.Run
	trace    trace.Trace // if the runner remembers it
	lost     error       // why the verdict's file could not be written
	full     verdict.Verdict
	timeline bytes.Buffer // for when the run has ended
}

// reason is, in a line, what makes the run inconclusive.
func (r *result) reason() string {
	for _, f := range r.Findings {
		if f.Oracle == "completeness" {
			seen, _, _ := strings.Cut(f.Seen, "\n")
			return fmt.Sprintf("  expected %s, seen %s", f.Expected, seen)
		}
	}
	return "  no reason is known"
}
