package property_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/velosim/velosim/property"
	"github.com/velosim/velosim/sim/verdict"
	"github.com/velosim/velosim/sim/world"
	"github.com/velosim/velosim/sim/world/executable"
)

var (
	runs     = flag.Int("runs", 300, "how many scenarios to run in virtual time")
	first    = flag.Int("first", 1, "the number of the first one")
	folder   = flag.String("findings", "../out/property", "the folder that findings are written to")
	shrink   = flag.Duration("shrink", 30*time.Second, "how long to shrink a finding, in wall time")
	maxKinds = flag.Int("kinds", 20, "how many kinds of findings to shrink")
)

// TestVirtual runs scenarios on Velero's own controllers. Interrupted, it says what it knows, and where to go on.
func TestVirtual(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes about a minute")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	finder, err := executable.FromEnvironment(os.Stderr, false)
	if err != nil {
		t.Fatal(err)
	}
	path, err := finder.Find(ctx, "virtual")
	if err != nil {
		t.Fatal(err)
	}
	pool, err := world.OpenPool(t.Context(), path, runtime.NumCPU(), world.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if *folder, err = filepath.Abs(*folder); err != nil {
		t.Fatal(err)
	}
	s := soak{t: t, began: time.Now(), results: map[verdict.Result]int{}, missed: map[string]int{}, deviations: map[string]int{}, found: map[string][]property.Run{}, ended: map[int]bool{}}
	for r := range property.Search(ctx, pool, *first, *runs) {
		s.take(r)
	}
	s.summary()
	s.shrink(ctx, path)
}

// soak is what is known so far.
type soak struct {
	t           *testing.T
	began, told time.Time
	results     map[verdict.Result]int
	missed      map[string]int // points that never came
	deviations  map[string]int // runs that show them, by rule
	unpredicted int
	found       map[string][]property.Run // by kind
	ended       map[int]bool              // by number
}

func (s *soak) take(r property.Run) {
	s.ended[r.Number] = true
	switch {
	case r.Finding == nil:
		s.results[r.Verdict.Result]++
	default:
		kind := property.Kind(*r.Finding)
		if s.found[kind] == nil {
			file, replay, err := property.Write(*folder, r) // at once: it is never lost
			if err != nil {
				s.t.Error(err)
			}
			fmt.Printf("found %s\n  %s\n  %s\n", kind, file, replay)
		}
		s.found[kind] = append(s.found[kind], r)
	}
	for _, rule := range r.Verdict.Deviations {
		s.deviations[rule]++
	}
	for _, point := range r.Missed() {
		if r.Finding == nil {
			s.missed[point]++
		}
	}
	if r.Unpredicted != "" {
		s.unpredicted++
	}
	if time.Since(s.told) > 10*time.Second {
		s.told = time.Now()
		fmt.Println(s)
	}
}

// String is the state in a line.
func (s *soak) String() string {
	n := len(s.ended)
	found := 0
	for _, rs := range s.found {
		found += len(rs)
	}
	return fmt.Sprintf("%d of %d: %d pass, %d known deviations, %d inconclusive, %d findings of %d kinds; %d not predicted; %.1f a second",
		n, *runs, s.results[verdict.Pass], s.results[verdict.KnownDeviation], s.results[verdict.Inconclusive], found, len(s.found), s.unpredicted,
		float64(n)/time.Since(s.began).Seconds())
}

func (s *soak) summary() {
	fmt.Println(s)
	if next := s.next(); next < *first+*runs {
		fmt.Printf("interrupted; go on with: make soak SEED=%d N=%d\n", next, *first+*runs-next)
		s.t.Error("interrupted")
	}
	if n := len(s.ended); n >= 100 && s.results[verdict.Inconclusive]*10 > n*3 {
		s.t.Errorf("%d of %d runs are inconclusive: the generator draws points that never come", s.results[verdict.Inconclusive], n)
	}
	list("known deviations:", s.deviations)
	list("points that never came:", s.missed)
	kinds := slices.Collect(maps.Keys(s.found))
	slices.SortFunc(kinds, func(a, b string) int { return len(s.found[b]) - len(s.found[a]) })
	for _, kind := range kinds {
		var numbers []string
		for _, r := range s.found[kind] {
			numbers = append(numbers, fmt.Sprint(r.Number))
		}
		fmt.Printf("%4d  %s\n      %s\n", len(numbers), kind, strings.Join(numbers[:min(10, len(numbers))], " "))
	}
}

// list prints how often each was seen, the most frequent first.
func list(title string, counts map[string]int) {
	fmt.Println(title)
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	for _, name := range names {
		fmt.Printf("%5d  %s\n", counts[name], name)
	}
}

// next is the first number that has not ended.
func (s *soak) next() int {
	n := *first
	for s.ended[n] {
		n++
	}
	return n
}

// shrink confirms a finding of each kind, shrinks it, and writes it.
func (s *soak) shrink(ctx context.Context, path string) {
	w, err := world.Open(s.t.Context(), path, world.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Close()
	for i, kind := range slices.Sorted(maps.Keys(s.found)) {
		r := s.found[kind][0]
		s.t.Errorf("%s: %d times; expected %s, saw %s", kind, len(s.found[kind]), r.Finding.Expected, r.Finding.Seen)
		if i >= *maxKinds || ctx.Err() != nil {
			continue
		}
		same := true
		for range 2 {
			same = same && r.Repeat(ctx, w)
		}
		if same {
			r = property.Shrink(ctx, w, r, *shrink)
		}
		file, replay, err := property.Write(*folder, r)
		if err != nil {
			s.t.Error(err)
		}
		fmt.Printf("%s\n  %s\n  %s\n", property.Kind(*r.Finding), file, replay)
	}
}
