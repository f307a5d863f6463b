package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
)

//go:embed web
var web embed.FS

// page is what the template shows.
type page struct {
	*Report
	Outcome string
	Policy  string
	Style   template.CSS
	Script  template.JS
	Data    template.JS
	// Machines are drawn for every target.
	Machines  []drawing
	Timelines []packedTimeline
	// Left are the runs whose timelines are left out.
	Left int
}

type packedTimeline struct {
	ID   int
	Data template.HTML // base64, of which nothing is to be escaped
}

// maxTimelines bounds what the timelines take of a page, in bytes.
const maxTimelines = 24 << 20

// WriteHTML writes the report as one page for a browser, which needs nothing else, and asks for nothing: its policy forbids it. If timelines of
// all runs would take more than 24 MiB, those of what is not green come first, then the first run of each scenario on each target.
func (r *Report) WriteHTML(w io.Writer) error {
	files := map[string]string{}
	for _, name := range []string{"style.css", "page.js", "timeline.js", "page.tmpl"} {
		b, err := web.ReadFile("web/" + name)
		if err != nil {
			return err
		}
		files[name] = string(b)
	}
	// Each is followed by a line end in the template, which a hash of it covers, too.
	style, script := "\n"+files["style.css"], "\n"+files["timeline.js"]+files["page.js"]
	p := page{
		Report: r, Outcome: r.outcome(), Style: template.CSS(style[1:]), Script: template.JS(script[1:]),
		Policy: "default-src 'none'; script-src " + hashed(script) + "; style-src " + hashed(style) + "; base-uri 'none'; form-action 'none'",
	}
	for _, c := range r.Coverage {
		p.Machines = append(p.Machines, draw(c))
	}
	p.Timelines, p.Left = r.timelines()
	data, err := json.Marshal(struct { // which writes no "<"
		Runs       []Run             `json:"runs"`
		Coverage   []Coverage        `json:"coverage"`
		Deviations []Deviation       `json:"deviations"`
		Links      map[string]string `json:"links"`
	}{r.Runs, r.Coverage, r.Deviations, r.upstream()})
	if err != nil {
		return err
	}
	p.Data = template.JS(data)
	t, err := template.New("page").Funcs(template.FuncMap{"percent": percent, "first": FirstSentence, "link": Link}).Parse(files["page.tmpl"])
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// hashed is how a content security policy names a text.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// timelines are those that the page has room for, by the place of their run.
func (r *Report) timelines() (all []packedTimeline, left int) {
	first := map[string]bool{}
	room := maxTimelines
	taken := map[int]bool{}
	take := func(of func(Result) bool) {
		for i, result := range r.results {
			if taken[i] || result.packed == "" || !of(result) || len(result.packed) > room {
				continue
			}
			taken[i] = true
			room -= len(result.packed)
		}
	}
	take(func(result Result) bool { return !result.Green() })
	take(func(result Result) bool {
		key := result.Scenario + " " + result.Target().String()
		was := first[key]
		first[key] = true
		return !was
	})
	take(func(Result) bool { return true })
	for i, result := range r.results {
		switch {
		case taken[i]:
			all = append(all, packedTimeline{i, template.HTML(result.packed)})
		case result.packed != "":
			left++
		}
	}
	return all, left
}

// upstream are the links to the reports that are named.
func (r *Report) upstream() map[string]string {
	links := map[string]string{}
	add := func(names []string) {
		for _, name := range names {
			if link := Link(name); link != "" {
				links[name] = link
			}
		}
	}
	for _, run := range r.Runs {
		add(run.Reports)
	}
	for _, d := range r.Deviations {
		add(d.Reports)
	}
	return links
}
