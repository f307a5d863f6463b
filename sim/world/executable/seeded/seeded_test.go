package seeded_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velosim/velosim/sim/world/executable/seeded"
)

// program prints what Go leaves to chance: in a bubble with a seed, and outside.
const program = `package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
	_ "unsafe"
)

//go:linkname bubbleSeed runtime.bubbleSeed
var bubbleSeed uint64

// before is made before the bubble.
var before = func() map[string]int {
	m := map[string]int{}
	for i := range 40 {
		m[strconv.Itoa(i)] = i
	}
	return m
}()

// pools are emptied by the garbage collector, so that more or fewer maps are made.
func pools() {
	for range 3 {
		if _, err := json.Marshal(before); err != nil {
			panic(err)
		}
	}
}

// timers of one instant.
func timers() string {
	order := make(chan string, 10)
	for i := range 10 {
		go func() {
			time.Sleep(time.Second)
			order <- strconv.Itoa(i)
		}()
	}
	all := ""
	for range 10 {
		all += <-order
	}
	return all
}

func chance() string {
	pools()
	m := map[string]int{}
	for i := range 40 {
		m[strconv.Itoa(i)] = i
	}
	a, b := make(chan int, 40), make(chan int, 40)
	for range 40 {
		a <- 0
		b <- 1
	}
	taken := ""
	for range 40 {
		select {
		case n := <-a:
			taken += strconv.Itoa(n)
		case n := <-b:
			taken += strconv.Itoa(n)
		}
	}
	f, err := os.CreateTemp("", "")
	if err != nil {
		panic(err)
	}
	os.Remove(f.Name())
	return fmt.Sprint(slices.Collect(maps.Keys(m)), slices.Collect(maps.Keys(before)), taken, rand.Uint64(), f.Name())
}

func main() {
	if os.Args[1] == "outside" {
		fmt.Println(chance())
		return
	}
	runtime.GOMAXPROCS(1)
	for range len(os.Args) - 2 {
		runtime.GC()
		pools()
	}
	bubbleSeed, _ = strconv.ParseUint(os.Args[1], 10, 64)
	synctest.Test(new(testing.T), func(*testing.T) {
		c := make(chan string)
		for range 3 {
			go func() { c <- chance() }()
			fmt.Println(<-c)
		}
		fmt.Println(chance() + timers())
	})
}
`

func build(t *testing.T) func(args ...string) string {
	t.Helper()
	goroot, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := seeded.Overlay(strings.TrimSpace(string(goroot)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/chance\n\ngo 1.26\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "chance")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay="+overlay, "-o", path, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
}

func TestChanceFollowsTheSeed(t *testing.T) {
	chance := build(t)
	one, two := chance("1"), chance("2")
	for _, args := range [][]string{{"1"}, {"1", "after garbage collections"}, {"1", "after", "more"}} {
		if again := chance(args...); again != one {
			t.Errorf("seed 1, then %v:\n%s\n%s", args, one, again)
		}
	}
	lines := append(strings.Split(strings.TrimSpace(one), "\n"), strings.Split(strings.TrimSpace(two), "\n")...)
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l] = true
	}
	if len(lines) != 8 || len(seen) != 8 {
		t.Errorf("of 4 goroutines in 2 bubbles, some draw the same:\n%s", strings.Join(lines, "\n"))
	}
	if first := chance("outside"); first == chance("outside") {
		t.Error("outside a bubble, chance follows a seed too")
	}
}

func TestOverlayOfAnotherGo(t *testing.T) {
	goroot := t.TempDir()
	if err := os.MkdirAll(filepath.Join(goroot, "src", "runtime"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(goroot, "src", "runtime", "runtime2.go"), []byte("package runtime\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := seeded.Overlay(goroot, t.TempDir()); !errors.Is(err, seeded.ErrUnknown) || !strings.Contains(err.Error(), "runtime2.go") {
		t.Errorf("Overlay = %v", err)
	}
}
