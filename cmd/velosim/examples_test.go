package main

import (
	"io"
	"os"
	"regexp"
	"slices"
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
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(b, &workflow); err != nil {
		t.Fatal(err)
	}
	if len(workflow.Jobs["run"].Steps) < 5 || len(workflow.Jobs["judge"].Steps) < 5 {
		t.Errorf("jobs: %+v", workflow.Jobs)
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
		found := command.FindAllStringSubmatch(text, -1)
		if len(found) < 3 {
			t.Errorf("%s: %d commands", file, len(found))
		}
		for _, m := range found {
			args := strings.Fields(m[1])
			root := newRoot(&cli{in: strings.NewReader(""), out: io.Discard, err: io.Discard, now: time.Now})
			cmd, rest, err := root.Find(args)
			if err != nil {
				t.Errorf("%s: %v", m[0], err)
				continue
			}
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%s: %v", m[0], err)
			}
			if slices.Contains(cmd.Flags().Args(), "") {
				t.Errorf("%s: an empty argument", m[0])
			}
		}
	}
}
