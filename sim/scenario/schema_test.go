package scenario_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/velosim/velosim/scenarios"
	"github.com/velosim/velosim/sim/scenario"
)

// golden compares what was generated with a file, or writes it with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run with -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; run with -update (-file +generated):\n%s", file, diff)
	}
}

// TestSchema keeps the schema that editors use in step with the types.
func TestSchema(t *testing.T) {
	b, err := json.MarshalIndent(schema(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "../../scenarios/scenario.schema.json", append(b, '\n'))
}

// schema of a scenario file, generated from the types, their comments, and what the parser accepts.
func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Mapper: mapped}
	if err := r.AddGoComments("github.com/velosim/velosim/sim/scenario", ".", jsonschema.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	comments := r.CommentMap
	r.CommentMap = nil
	r.LookupComment = func(of reflect.Type, field string) string {
		if field == "" {
			return inFile(of, comments[of.PkgPath()+"."+of.Name()])
		}
		return inFile(of, comments[of.PkgPath()+"."+of.Name()+"."+field])
	}
	s := r.Reflect(&scenario.Scenario{})
	s.Title = "Scenario of velosim"
	s.Properties.Delete("description") // it is the comment at the head of the file
	refine(s, "Scenario")
	for name, of := range s.Definitions {
		refine(of, name)
	}
	return s
}

// durations are those of time.ParseDuration that are not negative.
const durations = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`

// mapped are the types that are not written as Go has them.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[scenario.Duration]():
		return &jsonschema.Schema{Title: "duration", Type: "string", Pattern: durations}
	case reflect.TypeFor[scenario.Spec]():
		return &jsonschema.Schema{Title: "fields of Velero's API", Type: "object", MinProperties: new(uint64(1))}
	case reflect.TypeFor[scenario.Manifest]():
		s, metadata := object("apiVersion", "kind"), object("namespace", "name")
		s.Title, metadata.Description = "Kubernetes object", "`metadata` of the object."
		s.Properties.Set("metadata", metadata)
		s.Required = append(s.Required, "metadata")
		return s
	}
	return nil
}

// object is one that has these strings, and whatever else.
func object(properties ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: properties}
	for _, name := range properties {
		s.Properties.Set(name, &jsonschema.Schema{Type: "string", MinLength: new(uint64(1)), Description: "`" + name + "` of the object."})
	}
	return s
}

// refine says what the types do not: the values of a struct's fields, and which of them exclude each other.
func refine(s *jsonschema.Schema, name string) {
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		field := p.Value
		switch {
		case field.Type == "integer":
			field.Minimum = json.Number(map[bool]string{true: "1", false: "0"}[slices.Contains([]string{"nth", "backups", "concurrentBackups"}, p.Key)])
		case field.Type == "array":
			field.MaxItems = new(uint64(scenario.MaxItems))
			values(field.Items, name, p.Key)
		case field.Type == "string" && field.Pattern == "":
			field.MinLength = new(uint64(1))
			values(field, name, p.Key)
		}
		if slices.Contains([]string{"reports", "worlds", "releases", "resources", "path", "includedNamespaces", "must", "objects"}, p.Key) {
			least := uint64(1)
			if field.Type == "array" {
				field.MinItems = &least
			} else {
				field.MinProperties = &least
			}
		}
		if p.Key == "version" {
			field.Minimum, field.Enum = "", []any{1, 2}
		}
	}
	switch name {
	case "Scenario":
		exclude(s, "backup", "backups")
		exclude(s, "restore", "restores")
	case "Point":
		for _, one := range []string{"phase", "call", "store", "write"} {
			s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: []string{one}})
		}
	case "Deviation":
		s.Required = append(s.Required, "phase")
	case "Do":
		s.MinProperties, s.MaxProperties = new(uint64(1)), new(uint64(1))
	case "Behaviour", "Execute", "Ready":
		exclude(s, "error", "hang")
		exclude(s, "error", "panic")
		exclude(s, "hang", "panic")
	case "Start":
		exclude(s, "exit", "handshake")
		exclude(s, "exit", "protocol")
		exclude(s, "handshake", "protocol")
	case "Step":
		exclude(s, "completed", "failed")
	}
}

// exclude lets only one of two fields be there; one that is false is not.
func exclude(s *jsonschema.Schema, a, b string) {
	both := &jsonschema.Schema{Required: []string{a, b}}
	for _, name := range both.Required {
		if field, _ := s.Properties.Get(name); field.Type == "boolean" {
			both.Properties = jsonschema.NewProperties()
			both.Properties.Set(name, &jsonschema.Schema{Const: true})
		}
	}
	s.AllOf = append(s.AllOf, &jsonschema.Schema{Not: both})
}

// TestSchemaAgreesWithParse: what Parse accepts the schema accepts, and of what Parse rejects it rejects all but what is listed.
func TestSchemaAgreesWithParse(t *testing.T) {
	v := compiled(t)
	accepts := func(file string, text []byte) bool {
		b, err := yaml.YAMLToJSONStrict(text)
		if err != nil {
			return false // nor would an editor's schema come to bear
		}
		value, err := validator.UnmarshalJSON(strings.NewReader(string(b)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		err = v.Validate(value)
		if _, parseErrs := scenario.Parse(file, text); parseErrs == nil && err != nil {
			t.Errorf("%s: Parse accepts it, the schema does not: %v", file, err)
		}
		return err == nil
	}
	for _, name := range scenarios.Names() {
		b, err := scenarios.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if !accepts(name, b) {
			t.Errorf("%s is not accepted", name)
		}
	}
	for name, text := range map[string]string{"full": strings.ReplaceAll(full, "\ufeff", ""), "many": many, "unstarted": unstarted, "minimal": minimal, "week": minimal + week} {
		if !accepts(name, []byte(text)) {
			t.Errorf("%s is not accepted", name)
		}
	}
	files, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	var accepted strings.Builder
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if accepts(file, b) {
			accepted.WriteString(filepath.Base(file) + "\n")
		}
	}
	golden(t, "testdata/schema-accepts.golden", []byte(accepted.String()))
	if n := strings.Count(accepted.String(), "\n"); 2*n > len(files) {
		t.Errorf("the schema accepts %d of %d invalid files", n, len(files))
	}
}

// compiled is the schema, ready to validate.
func compiled(t testing.TB) *validator.Schema {
	t.Helper()
	b, err := json.Marshal(schema(t))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := validator.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource("scenario.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	v, err := c.Compile("scenario.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return v
}
