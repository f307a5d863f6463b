package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	k8syaml "sigs.k8s.io/yaml"
)

// TestManifests reads what examples/ci offers to a cluster, as strictly as its API server does.
func TestManifests(t *testing.T) {
	b, err := os.ReadFile("../../examples/ci/indexed-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]any{"PersistentVolumeClaim": &corev1.PersistentVolumeClaim{}, "Job": &batchv1.Job{}, "CronJob": &batchv1.CronJob{}}
	for _, document := range strings.Split(string(b), "\n---\n") {
		var kind struct{ Kind string }
		if err := k8syaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatal(err)
		}
		if err := k8syaml.UnmarshalStrict([]byte(document), kinds[kind.Kind]); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
		if job, ok := kinds[kind.Kind].(*batchv1.Job); ok {
			shardsOf(t, document, int(*job.Spec.Completions))
		}
		delete(kinds, kind.Kind)
	}
	if len(kinds) > 0 {
		t.Errorf("they are not there: %v", kinds)
	}
}

// TestWorkflow reads the workflow.
func TestWorkflow(t *testing.T) {
	b, err := os.ReadFile("../../examples/ci/github-actions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct{ Matrix struct{ Shard []int } }
			Steps    []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(b, &workflow); err != nil {
		t.Fatal(err)
	}
	if len(workflow.Jobs["run"].Steps) < 5 || len(workflow.Jobs["judge"].Steps) < 5 {
		t.Errorf("jobs: %+v", workflow.Jobs)
	}
	shards := workflow.Jobs["run"].Strategy.Matrix.Shard
	for i, shard := range shards {
		if shard != i+1 {
			t.Errorf("the shards are %v", shards)
		}
	}
	shardsOf(t, string(b), len(shards))
}

// shardsOf checks that whatever is run is run in as many shards.
func shardsOf(t *testing.T, text string, shards int) {
	t.Helper()
	runs, sharded := strings.Count(text, "velosim run "), regexp.MustCompile(`--shard .*?/(\d+) `).FindAllStringSubmatch(text, -1)
	if runs == 0 || len(sharded) != runs {
		t.Errorf("%d commands, %d of them with --shard", runs, len(sharded))
	}
	for _, m := range sharded {
		if m[1] != strconv.Itoa(shards) {
			t.Errorf("%q, and there are %d shards", m[0], shards)
		}
	}
}

// TestCommandsOfExamples: the commands of velosim in examples/ci have flags that there are, with values that they take.
func TestCommandsOfExamples(t *testing.T) {
	command := regexp.MustCompile(`(?m)velosim ((?:run|report|gate) [^|\n]*)`)
	for _, file := range []string{"github-actions.yaml", "indexed-job.yaml"} {
		b, err := os.ReadFile("../../examples/ci/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(`\$\{\{ matrix.shard \}\}|\$shard`).ReplaceAllString(string(b), "1")
		text = strings.ReplaceAll(text, "$durations", "--durations report.json")
		found := command.FindAllStringSubmatch(text, -1)
		if len(found) < 3 {
			t.Errorf("%s: %d commands", file, len(found))
		}
		for _, m := range found {
			parses(t, file, m[1])
		}
	}
}

// TestCommandsOfPages: so have those in the blocks of code of the README and docs, each on a line of its own, before what is said of it.
func TestCommandsOfPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			for part := range strings.SplitSeq(line, "&&") {
				command, ok := strings.CutPrefix(strings.TrimSpace(part), "velosim ")
				if !code || !ok {
					continue
				}
				command, _, _ = strings.Cut(command, "  ") // what is said of it follows
				parses(t, page, command)
				found++
			}
		}
	}
	if found < 25 {
		t.Errorf("only %d commands", found)
	}
}

// parses checks a command and its flags, without running it.
func parses(t *testing.T, file, command string) {
	t.Helper()
	root := newRoot(&cli{in: strings.NewReader(""), out: io.Discard, err: io.Discard, now: time.Now})
	cmd, rest, err := root.Find(strings.Fields(command))
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateRequiredFlags()
	}
	if err != nil {
		t.Errorf("%s: velosim %s: %v", file, command, err)
	}
}
