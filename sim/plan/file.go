package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/velosim/velosim/sim/model"
	"github.com/velosim/velosim/sim/phase"
	"github.com/velosim/velosim/sim/scenario"
)

// planned is the ID of the fault that a plan adds.
const planned = "planned"

// document is a scenario's file as it was written: without defaults.
type document yaml.MapSlice

func parse(file []byte) (document, error) {
	var doc yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(file, &doc, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("failed to read the scenario: %w", err)
	}
	return document(doc), nil
}

// with is a copy of the document in which the field has another value; nil: it has none.
func (d document) with(field string, value any) document {
	i := slices.IndexFunc(d, func(item yaml.MapItem) bool { return item.Key == field })
	switch {
	case i < 0 && value == nil:
		return d
	case i < 0:
		return append(slices.Clone(d), yaml.MapItem{Key: field, Value: value})
	case value == nil:
		return slices.Delete(slices.Clone(d), i, i+1)
	}
	d = slices.Clone(d)
	d[i].Value = value
	return d
}

func (d document) list(field string) []any {
	for _, item := range d {
		if list, ok := item.Value.([]any); ok && item.Key == field {
			return slices.Clone(list)
		}
	}
	return nil
}

// struck is the document with a fault more.
func (d document) struck(f fault) document {
	if f.at.Nth == 1 {
		f.at.Nth = 0 // the default
	}
	return d.with("faults", append(d.list("faults"), plain(scenario.Fault{ID: planned, At: f.at, Do: f.do})))
}

// scripted is the document in which a method of the step's plugin misbehaves; nil: it does anyway.
func (d document) scripted(s *scenario.Scenario, step Step, b *scenario.Behaviour) document {
	plugins := d.list("plugins")
	i := slices.IndexFunc(s.Plugins, func(p scenario.Plugin) bool { return p.Name == step.At.Call.Plugin })
	method := strings.ToLower(step.At.Call.Method[:1]) + step.At.Call.Method[1:]
	if i < 0 || i >= len(plugins) {
		return nil
	}
	plugin, _ := plugins[i].(yaml.MapSlice)
	script := document(plain(b).(yaml.MapSlice))
	for _, item := range plugin {
		if item.Key != method {
			continue
		}
		own, _ := item.Value.(yaml.MapSlice)
		for _, x := range own {
			if slices.Contains([]any{"error", "hang", "panic"}, x.Key) {
				return nil
			}
			script = script.with(x.Key.(string), x.Value)
		}
	}
	plugins[i] = yaml.MapSlice(document(plugin).with(method, yaml.MapSlice(script)))
	return d.with("plugins", plugins)
}

// plain is a value as a file has it.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // what scenarios consist of are plain data
	}
	var out any
	if err := yaml.UnmarshalWithOptions(b, &out, yaml.UseOrderedMap()); err != nil {
		panic(err) // it was just written
	}
	return out
}

// finish makes a file of the document, as a plan of another scenario. The error says what is wrong with the plan.
func (d document) finish(name, about string, of *scenario.Scenario) ([]byte, *scenario.Scenario, error) {
	expect := scenario.Expect{Strikes: &[]string{}}
	if len(of.Restores) == 0 { // what a restore makes, it does not where it fails; else the cluster is to be left as it is without the fault
		expect.Manifests = of.Expect.Manifests
	}
	if len(d.list("faults")) > len(of.Faults) {
		expect.Strikes = &[]string{planned}
	}
	d = d.with("metadata", plain(scenario.Metadata{Name: name})).with("expect", nil).with("expect", plain(expect)) // last
	s, errs := scenario.Parse(name, d.text(about))
	if len(errs) > 0 {
		return nil, nil, errs
	}
	must := expected(&expect, s, of)
	file := d.with("expect", plain(expect)).text(about + " " + must)
	if s, errs = scenario.Parse(name, file); len(errs) > 0 {
		return nil, nil, errs
	}
	return file, s, nil
}

// expected fills in what a plan expects of each object that the scenario expects something of, and says the same in words: where users
// need it, it ends as the model predicts.
func expected(e *scenario.Expect, s, of *scenario.Scenario) string {
	object := of.Object()
	if s.Object() != object {
		e.Object = object
	}
	must := "It must come to an end."
	for _, p := range model.Predict(phase.Demanded(), s) {
		_, speaks := of.Expect.Objects[p.Object]
		if !speaks && p.Object != object || p.Unknown != "" {
			continue
		}
		var ends []string
		for _, end := range p.Ends() {
			switch {
			case end == phase.Deleting:
				ends = append(ends, scenario.Deleted)
			case end.Final():
				ends = append(ends, end.String())
			}
		}
		single := len(p.Ends()) == 1 && len(ends) == 1
		switch {
		case p.Object == object && len(ends) > 0:
			must = fmt.Sprintf("%s must end %s.", object, strings.Join(ends, " or "))
			if single {
				e.Phase = ends[0]
			}
		case single:
			if e.Objects == nil {
				e.Objects = map[string]scenario.Outcome{}
			}
			e.Objects[p.Object] = scenario.Outcome{Phase: ends[0]}
		}
	}
	return must
}

// text is the file: a field or an entry of a list a line.
func (d document) text(about string) []byte {
	var b bytes.Buffer
	for line := range strings.SplitSeq(wrap(about, 128), "\n") {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	for _, item := range d {
		list, ok := item.Value.([]any)
		if !ok {
			fmt.Fprintf(&b, "%v: %s\n", item.Key, flow(item.Value))
			continue
		}
		fmt.Fprintf(&b, "%v:\n", item.Key)
		for _, entry := range list {
			fmt.Fprintf(&b, "- %s\n", flow(entry))
		}
	}
	return b.Bytes()
}

func flow(v any) string {
	b, err := yaml.MarshalWithOptions(v, yaml.Flow(true))
	if err != nil {
		panic(err) // it was read from a file
	}
	return strings.TrimSpace(string(b))
}

// wrap breaks a text into lines of at most so many characters.
func wrap(text string, width int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
