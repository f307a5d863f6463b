package envtest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
	"github.com/velosim/velosim/sim/trace"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
	"github.com/velosim/velosim/sim/world/executable"
)

// TestEnvtest runs the catalogue on the world of real processes. VELOSIM_VELERO is the release to run: 1.18.3, unless it is set.
// VELOSIM_ENVTEST asks for it, as a first run builds the control plane and the server, which takes a quarter of an hour.
func TestEnvtest(t *testing.T) {
	if os.Getenv("VELOSIM_ENVTEST") == "" {
		t.Skip("the world of real processes is tested by make test, which builds what it needs: set VELOSIM_ENVTEST=1")
	}
	RegisterFailHandler(Fail)
	suite, reporter := GinkgoConfiguration()
	if suite.LabelFilter == "" {
		suite.LabelFilter = "smoke"
	}
	RunSpecs(t, "The catalogue on a real server", suite, reporter)
}

// own are the scenarios of this world alone, in testdata.
var own = []string{
	"backup-server-killed-as-post-action-begins", "backup-server-killed-right-after-upload", "backup-server-killed-while-it-restarts", "restore-of-long-namespaces",
}

// smoke are the scenarios of make test: one of each kind, and none that takes long; and those of this world.
var smoke = append([]string{
	"backup-operation-completes", "backup-items-to-update", "backup-progress-errors-once", "backup-final-upload-fails", "backup-deleted",
	"backup-quiesced-and-resumed", "backup-server-killed-while-in-progress", "restore-operation-times-out", "server-does-not-start-after-plugin-exits",
}, own...)

// result is what came of a scenario.
type result struct {
	trace   trace.Trace
	verdict verdict.Verdict
}

var _ = Describe("Velero", Ordered, ContinueOnFailure, func() {
	all := map[string]*scenario.Scenario{}
	results := map[string]chan result{}
	var release phase.Rules
	var info world.Info

	add := func(name string, b []byte, err error) {
		s, errs := scenario.Parse(name, b)
		if err != nil || len(errs) > 0 {
			panic(fmt.Sprint(err, errs)) // it belongs to the tests
		}
		all[name], results[name] = s, make(chan result, 1)
	}
	for _, name := range scenarios.Names() {
		b, err := scenarios.Read(name)
		add(name, b, err)
	}
	// And what real time and a real API server alone make hard.
	for _, name := range own {
		b, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
		add(name, b, err)
	}

	// One world runs what is selected, several at a time; the specs wait for what they are about.
	BeforeAll(func(ctx SpecContext) {
		finder, err := executable.FromEnvironment(GinkgoWriter, false)
		Expect(err).NotTo(HaveOccurred())
		release, err = phase.ForRelease(version())
		Expect(err).NotTo(HaveOccurred())
		path, args, err := finder.Envtest(ctx, version(), true)
		Expect(err).NotTo(HaveOccurred())

		running, stop := context.WithCancel(context.Background())
		DeferCleanup(stop)
		pool, err := world.OpenPool(running, path, 24, world.Options{Args: args})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(pool.Close)
		info = pool.Info()
		var jobs []world.Job
		var names []string
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if suite, _ := GinkgoConfiguration(); selected(suite, labels(name, all[name])) && info.Unable(all[name]) == "" {
				s := all[name]
				job := world.Job{ID: len(jobs) + 1, Scenario: s.RealTime(), Seed: 1}
				job.Bound = verdict.RealBound(job.Scenario, info.Scale)
				jobs, names = append(jobs, job), append(names, name)
			}
		}
		world.LongestFirst(jobs)
		go func() {
			defer GinkgoRecover()
			for i, r := range world.Each(running, pool, jobs, func(ctx context.Context, w world.World, job world.Job) result {
				t := trace.Trace{Header: trace.Header{Schema: trace.Schema, Scenario: job.Scenario.Metadata.Name, World: "envtest", Velero: version(), Seed: job.Seed, Scale: w.Info().Scale}}
				began := time.Now()
				t.End, _ = w.Run(ctx, job, func(e trace.Event) error { t.Events = append(t.Events, e); return nil })
				s := all[names[job.ID-1]]
				v := verdict.Judge(s, t)
				Expect(keep(s, t, v, time.Since(began))).To(Succeed())
				return result{t, v}
			}) {
				results[names[jobs[i].ID-1]] <- r
			}
		}()
	})

	for name, s := range all {
		It(name, labels(name, s), func(ctx SpecContext) {
			if why := info.Unable(s); why != "" {
				Skip(why)
			}
			var r result
			Eventually(ctx, results[name]).WithTimeout(45 * time.Minute).Should(Receive(&r))
			var text strings.Builder
			r.verdict.Print(&text) //nolint:errcheck // to a Builder
			Expect(r.verdict.Result).To(Or(Equal(verdict.Pass), Equal(verdict.KnownDeviation)), text.String())

			for _, p := range model.Predict(release, s) {
				unexplored := strings.HasPrefix(p.Unknown, "the model does not explore")
				Expect(p.Unknown == "" || unexplored).To(BeTrue(), p.Unknown)
				if len(p.Paths) == 0 && len(path(r.trace, p.Object)) == 0 {
					continue // it is never created
				}
				misfit, err := model.Check(release, p.Object, r.trace, s.ActionsOf(p.Object)...)
				Expect(err).NotTo(HaveOccurred())
				Expect(misfit).To(BeNil(), "the model must accept the trace of %s", p.Object)
				stale := slices.Contains(r.verdict.Deviations, phase.StaleReadActedUpon) // which nothing foresees: see sim/model/doc.go
				Expect(unexplored || stale || p.Allows(path(r.trace, p.Object))).To(BeTrue(), "%s took %s; predicted: %v", p.Object, path(r.trace, p.Object), p.Paths)
			}
		})
	}
})

// keep writes what came of a run into the folder that VELOSIM_RESULTS names, as velosim run --out does, for velosim report.
func keep(s *scenario.Scenario, t trace.Trace, v verdict.Verdict, took time.Duration) error {
	dir := os.Getenv("VELOSIM_RESULTS")
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	run := reports.NewRun(s, t.Header, fmt.Sprintf("velosim run %s --world envtest --velero %s", s.Metadata.Name, version()))
	run.Judged(v, took)
	f, err := os.Create(filepath.Join(dir, run.FileName(false)+".ndjson"))
	if err != nil {
		return err
	}
	w, err := trace.NewWriter(f, t.Header)
	for _, e := range t.Events {
		if err == nil {
			err = w.Event(e)
		}
	}
	if err == nil {
		err = w.End(t.End)
	}
	return errors.Join(err, f.Close(), run.Write(dir, run.FileName(false)))
}

// version of Velero to run.
func version() string { return cmp.Or(os.Getenv("VELOSIM_VELERO"), "1.18.3") }

// labels of a scenario: its kind, the phases that it expects, its faults.
func labels(name string, s *scenario.Scenario) Labels {
	l := Labels{"backup"}
	if strings.HasPrefix(s.Object(), "restore/") {
		l = Labels{"restore"}
	}
	for _, p := range append(slices.Clone(s.Expect.Path), s.Expect.Phase) {
		if p != "" {
			l = append(l, p)
		}
	}
	for _, f := range s.Faults {
		switch {
		case f.Do.Kill != nil:
			l = append(l, "kill")
		case f.At.Store != nil:
			l = append(l, "store")
		}
	}
	if slices.Contains(smoke, name) {
		l = append(l, "smoke")
	}
	slices.Sort(l)
	return slices.Compact(l)
}

func selected(suite types.SuiteConfig, l Labels) bool {
	filter, err := types.ParseLabelFilter(suite.LabelFilter)
	return err == nil && filter(l)
}

func path(t trace.Trace, object string) model.Path {
	var p model.Path
	for _, e := range t.Events {
		if e.Object == object && e.Phase != nil {
			to, err := phase.Parse(e.Phase.To)
			Expect(err).NotTo(HaveOccurred())
			p = append(p, to)
		}
	}
	return p
}
