package flawed_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plugintest/contract"
)

// The suite finds each planted fault, and what README.md says that follows from them; of the good plugin it finds nothing.
func TestContractSuite(t *testing.T) {
	if os.Getenv("VELOSIM_ENVTEST") == "" {
		t.Skip("VELOSIM_ENVTEST is not set: it runs plugins on a real server for minutes (make test does)")
	}
	bin := t.TempDir()
	for name, pkg := range map[string]string{"velosim": "../../cmd/velosim", "mover": "../mover", "forgetful": "./forgetful", "erratic": "./erratic", "careless": "./careless"} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, name), pkg).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", pkg, err, out)
		}
	}
	want := readme(t)
	want["mover"] = nil
	for plugin, fails := range want {
		t.Run(plugin, func(t *testing.T) {
			t.Parallel()
			card := test(t.Context(), t, filepath.Join(bin, "velosim"), filepath.Join(bin, plugin))
			var failed []string
			for _, c := range card.Checks {
				if c.Outcome == contract.Fail {
					failed = append(failed, c.Name)
				}
			}
			slices.Sort(failed)
			if diff := cmp.Diff(fails, failed); diff != "" {
				var text []byte
				text, _ = json.MarshalIndent(card.Checks, "", "  ") //nolint:errcheck // it was read from JSON
				t.Errorf("failed checks (-README +card):\n%s\n%s", diff, text)
			}
			if plugin == "mover" && card.Outcome() != contract.Pass {
				t.Errorf("the outcome of the good plugin is %s: %+v", card.Outcome(), card.Checks)
			}
		})
	}
}

// test is the card of the plugin.
func test(ctx context.Context, t *testing.T, velosim, plugin string) (card contract.Card) {
	t.Helper()
	cmd := exec.CommandContext(ctx, velosim, "plugin", "test", plugin, "--json", "-", "--within", "10s", "--call-within", "5s")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 3 || exit.ExitCode() == 2) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &card); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return card
}

// readme is which checks fail by README.md, by plugin.
func readme(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	fails := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| \d+ \| (\w+) \| .* \| ([a-z-]+) \|$`).FindAllStringSubmatch(string(b), -1) {
		fails[row[1]] = append(fails[row[1]], row[2])
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z]+) \| ([a-z-]+) \| [^|]* \|$`).FindAllStringSubmatch(string(b), -1) {
		if row[1] != "plugin" {
			fails[row[1]] = append(fails[row[1]], row[2])
		}
	}
	planted := regexp.MustCompile(`(?m)^\| \d+ \|`).FindAll(b, -1)
	if len(planted) < 10 || len(fails) != 3 {
		t.Fatalf("README.md has %d faults of %d plugins", len(planted), len(fails))
	}
	for _, names := range fails {
		slices.Sort(names)
		for _, name := range names {
			if _, ok := contract.Named(name); !ok {
				t.Errorf("README.md names a check %s, which there is not", name)
			}
		}
	}
	return fails
}
