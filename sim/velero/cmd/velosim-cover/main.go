// Velosim-cover tells how much of the code of Velero's phase controllers the catalogue reaches in the virtual world, function by
// function, beside what Velero's own unit tests reach. With -missed it lists the statements that no run has reached. Of all of them
// unreached.txt says why: it fails where that does not agree with what it has measured.
//
// "make cover-velero" runs it in the folder sim/velero. It builds the world with coverage, lets velosim run the catalogue on it,
// and lays the profile over Velero's source. It imports nothing of ours.
//
// The figures of the unit tests (unit-1.18.3.txt) were measured once, in the same folder, with etcd and kube-apiserver for those of
// them that need an API server:
//
//	export KUBEBUILDER_ASSETS=$(../../bin/velosim setup --assets)
//	go test -vet=off -overlay=$(../../bin/velosim setup --overlay) -coverprofile=unit github.com/vmware-tanzu/velero/pkg/controller
//	go tool cover -func=unit | grep -E '/(backup|restore)_(queue_|operations_|finalizer_)?(controller|tracker)\.go:' | sed 's,.*/,,'
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// unitTests is what Velero's own tests reach, as "go tool cover -func" prints it, of the release that sim/velero/go.mod requires.
//
//go:embed unit-1.18.3.txt
var unitTests string

// unreached says why nothing reaches what the catalogue does not.
//
//go:embed unreached.txt
var unreached string

func main() {
	velosim := flag.String("velosim", "../../bin/velosim", "the `PATH` of velosim")
	seeds := flag.Int("seeds", 8, "run each scenario with `N` seeds")
	missed := flag.Bool("missed", false, "list the statements that no run has reached")
	file := flag.String("json", "", "write the coverage of each controller into `FILE`, for velosim report --code")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := cover(ctx, os.Stdout, *velosim, *file, *seeds, *missed); err != nil {
		fmt.Fprintln(os.Stderr, "velosim-cover:", err)
		os.Exit(1)
	}
}

func cover(ctx context.Context, out io.Writer, velosim, file string, seeds int, missed bool) error {
	profile, err := measure(ctx, velosim, seeds)
	if err != nil {
		return err
	}
	blocks, err := parseProfile(strings.NewReader(profile), controllerPackage)
	if err != nil {
		return fmt.Errorf("the profile of the catalogue: %w", err)
	}
	unit, err := parseUnitTests(unitTests)
	if err != nil {
		return fmt.Errorf("unit-1.18.3.txt: %w", err)
	}
	sources, err := findSources(ctx)
	if err != nil {
		return err
	}
	controllers, err := readControllers(os.DirFS(sources), phaseControllers(), blocks, unit)
	if err != nil {
		return err
	}
	reasons, err := parseReasons(unreached)
	if err != nil {
		return fmt.Errorf("unreached.txt: %w", err)
	}
	wrong := explain(controllers, reasons)
	printTable(out, controllers)
	if err := writeJSON(file, seeds, controllers); err != nil {
		return err
	}
	if missed {
		printMissed(out, controllers)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("unreached.txt is not true:\n  %s", strings.Join(wrong, "\n  "))
	}
	return nil
}
