package reports

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// recorded are the results in testdata/results: real runs of virtual and envtest.
func recorded(t testing.TB) *Report {
	files, err := Files("testdata/results")
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for _, file := range files {
		r, err := Read(file)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	return New(results, Options{Velosim: "v1.0.0", Now: sample(t).Generated, Explorations: sample(t).Explorations, Code: sample(t).Code})
}

// "Why did this backup end PartiallyFailed?" takes a click on its name, and one on the event.
func TestPageSaysWhy(t *testing.T) {
	p := open(t, recorded(t), 1280, 900, false)
	p.screenshot("overview")
	p.click(`a[href="#scenarios"]`)
	p.do(chromedp.Click(`//table[@id="table"]//th/a[text()="backup-operation-times-out"]`, chromedp.BySearch))
	p.until(`document.querySelector("#run .why li") && document.querySelector(".timeline .canvas svg")`)
	if got := p.text("#run-title"); got != "backup-operation-times-out" {
		t.Errorf("the run is %q", got)
	}
	why := p.text(".why")
	for _, want := range []string{
		"backup/backup-1 ended PartiallyFailed, with 1 errors and 0 warnings; of 1 item operations 0 completed and 1 failed.",
		"Velero cancelled operation backup-1/mover-1 of example.io/mover, at 4h0m10.2s",
	} {
		if !strings.Contains(why, want) {
			t.Errorf("the page says\n%s\nand not: %s", why, want)
		}
	}
	p.click(`.why li:nth-child(2) button`)
	p.until(`document.querySelector(".timeline .detail strong")`)
	if got := p.text(".timeline .detail"); !strings.Contains(got, "cancelled") && !strings.Contains(got, "Cancel") {
		t.Errorf("the event is %q", got)
	}
	p.screenshot("run")
	var hash string
	if p.eval("location.hash", &hash); !regexp.MustCompile(`^#run=\d+&event=\d+$`).MatchString(hash) {
		t.Errorf("the link to it is %q", hash)
	}
	// Beside the same scenario on the real server.
	p.eval(`(() => { const s = document.querySelector("#run-body select"); s.value = s.options[1].value; s.dispatchEvent(new Event("change")); return 1 })()`, new(int))
	p.until(`document.querySelectorAll(".timeline").length === 2`)
}

func TestPageFilters(t *testing.T) {
	p := open(t, recorded(t), 1280, 900, true)
	var theme string
	if p.eval("document.documentElement.dataset.theme", &theme); theme != "dark" {
		t.Errorf("where the system is dark, the page is %s", theme)
	}
	rows := func() (n int) { p.eval(`document.querySelectorAll("#table tbody tr").length`, &n); return n }
	all := rows()
	if all < 8 {
		t.Fatalf("%d rows", all)
	}
	p.do(setValue("verdict", "known deviation"))
	known := rows()
	if known == 0 || known >= all {
		t.Errorf("%d of %d rows are known deviations", known, all)
	}
	p.do(setValue("verdict", ""), setValue("world", "envtest"), setValue("faults", "server"))
	p.until(`[...document.querySelectorAll("#table tbody tr")].every((tr) => tr.innerText.includes("envtest") && tr.innerText.includes("server"))`)
	if n := rows(); n == 0 || n >= all {
		t.Errorf("%d rows of envtest with faults of the server", n)
	}
	var hash string
	if p.eval("location.hash", &hash); hash != "#scenarios?world=envtest&faults=server" {
		t.Errorf("the link is %s", hash)
	}
	p.click("#filters button[type=reset]")
	p.until(fmt.Sprintf(`document.querySelectorAll("#table tbody tr").length === %d`, all))
	p.do(setValue("text", "PLUGIN-CALL-without backup-progress"))
	if n := rows(); n != 1 {
		t.Errorf("%d rows for the words of a rule and a name", n)
	}
	p.do(setValue("text", ""))
	p.click(`#table th button[data-sort=seconds]`)
	p.click(`#table th button[data-sort=seconds]`)
	var sorted bool
	if p.eval(`document.querySelector("#table th[aria-sort=descending]").innerText === "simulated" && parseInt(document.querySelector("#table tbody tr td.number").innerText) >= 4`, &sorted); !sorted {
		t.Errorf("the longest run is not first: %s", p.text("#table tbody tr"))
	}
	if p.eval("location.hash", &hash); hash != "#scenarios?sort=-seconds" {
		t.Errorf("the link to the order is %s", hash)
	}
	// A link to a filter.
	p.eval(`(() => { location.hash = "#scenarios?text=restore"; return 1 })()`, new(int))
	p.until(`document.querySelector("#filters").elements.text.value === "restore" && [...document.querySelectorAll("#table tbody th")].every((th) => th.innerText.startsWith("restore"))`)
	var order string
	if p.eval(`document.querySelector("#table th[aria-sort]").innerText`, &order); order != "scenario" {
		t.Errorf("a link that names no order is by %s", order)
	}
	p.click("#theme")
	if p.eval("document.documentElement.dataset.theme", &theme); theme != "light" {
		t.Errorf("after dark comes %s", theme)
	}
}

func TestPageDrawsTheMachines(t *testing.T) {
	p := open(t, recorded(t), 390, 800, true)
	p.screenshot("narrow")
	var edges, nodes int
	p.eval(`document.querySelectorAll("figure:not([hidden]) .edge").length`, &edges)
	p.eval(`document.querySelectorAll("figure:not([hidden]) .node").length`, &nodes)
	if edges < 60 || nodes < 20 {
		t.Errorf("%d edges and %d nodes", edges, nodes)
	}
	p.eval(`(() => { document.querySelector('figure[data-kind=backup]:not([hidden]) .edge.covered[data-id="Finalizing → Completed"]').dispatchEvent(new MouseEvent("click", {bubbles: true})); return 1 })()`, new(int))
	if got := p.text("#edge"); !strings.Contains(got, "Finalizing → Completed") || !strings.Contains(got, "backup-") {
		t.Errorf("the edge's scenarios: %q", got)
	}
	// Its scenarios in the table, and a link to them.
	var listed, shown []string
	p.eval(`[...document.querySelectorAll("#edge li")].map((li) => li.innerText)`, &listed)
	p.click(`#edge a[href^="#scenarios?transition="]`)
	p.until(`location.hash.startsWith("#scenarios?transition=") && !document.querySelector("#made").hidden`) // the table follows the address
	p.eval(`[...document.querySelectorAll("#table tbody tr")].map((tr) => tr.querySelector("th").innerText + tr.querySelector("td").innerText)`, &shown)
	for i := range listed {
		listed[i] += "virtual 1.18.3"
	}
	if diff := cmp.Diff(listed, shown); diff != "" {
		t.Errorf("scenarios of the transition, and rows:\n%s", diff)
	}
	// Without what only deviations make.
	deviating := func() (n int) {
		p.eval(`[...document.querySelectorAll("figure:not([hidden]) .edge.deviation")].filter((e) => e.getClientRects().length).length`, &n)
		return n
	}
	if n := deviating(); n < 30 {
		t.Errorf("%d transitions of deviations are drawn", n)
	}
	p.click("#deviating")
	if n := deviating(); n != 0 {
		t.Errorf("%d transitions of deviations are drawn, and should not", n)
	}
	p.click(`#targets button:nth-child(2)`)
	p.until(`document.querySelector("figure:not([hidden])").dataset.target === "envtest 1.18.3"`)
	// The page itself never scrolls sideways.
	var fits bool
	if p.eval("document.documentElement.scrollWidth <= innerWidth", &fits); !fits {
		t.Error("the page is wider than the window")
	}
}

// From the top of the page to an event of a run without a mouse.
func TestPageByKeyboard(t *testing.T) {
	p := open(t, recorded(t), 1280, 900, false)
	p.press(tabKey, enter) // skip to the scenarios
	p.until(`location.hash === "#scenarios"`)
	for range 40 {
		p.press(tabKey)
		var reached bool
		if p.eval(`document.activeElement.closest("#table tbody") !== null`, &reached); reached {
			break
		}
	}
	p.press(enter)
	p.until(`location.hash.startsWith("#run=") && document.querySelector(".timeline .canvas svg")`)
	p.eval(`(() => { document.querySelector(".canvas").focus(); return 1 })()`, new(int))
	p.press(right, right, right)
	p.until(`document.activeElement.classList.contains("item") && document.querySelector(".detail strong")`)
	before := p.text(".detail")
	p.press(right)
	if after := p.text(".detail"); after == before {
		t.Errorf("after another event it says the same: %q", after)
	}
	var width, wider float64
	p.eval(`document.querySelector(".canvas svg").getBoundingClientRect().width`, &width)
	p.press("+")
	if p.eval(`document.querySelector(".canvas svg").getBoundingClientRect().width`, &wider); wider <= width {
		t.Errorf("zoomed in, it is %v wide; before %v", wider, width)
	}
	// Every button, link and field has a name.
	var unnamed []string
	p.eval(`[...document.querySelectorAll("button, a, input, select")].filter((e) => !(e.innerText || e.getAttribute("aria-label") || e.labels?.length)).map((e) => e.outerHTML)`, &unnamed)
	if len(unnamed) > 0 {
		t.Errorf("without a name: %v", unnamed)
	}
}

// Text of scenarios and traces is shown as it is.
func TestPageOfHostileText(t *testing.T) {
	p := open(t, sample(t), 1280, 900, false)
	p.click(`#look a`)
	p.until(`document.querySelector("#run .finding")`)
	if got := p.text(".finding"); !strings.Contains(got, "<script>alert(1)</script>") {
		t.Errorf("the finding says %q", got)
	}
}

// many is a report of so many runs.
func many(t testing.TB, runs int) *Report {
	real, err := Read("testdata/results/virtual/backup-operation-times-out.verdict.json")
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	for i := range runs {
		r := real
		r.Scenario, r.Seed = fmt.Sprintf("scenario-%d", i/4), int64(i%4)
		results = append(results, r)
	}
	return New(results, Options{})
}

// TestPageOpensAtOnce: the goal is a second; a loaded machine has ten.
func TestPageOpensAtOnce(t *testing.T) {
	p := open(t, many(t, 1000), 1280, 900, false)
	var took float64
	p.eval(`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`, &took)
	t.Logf("a page of 1,000 runs opened in %.0f ms", took)
	if took <= 0 || took > 10_000 {
		t.Errorf("it took %.0f ms", took)
	}
}

func BenchmarkHTML(b *testing.B) {
	r := many(b, 1000)
	file, err := os.Create(filepath.Join(b.TempDir(), "report.html"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for b.Loop() {
		if _, err := file.Seek(0, 0); err != nil {
			b.Fatal(err)
		}
		if err := r.WriteHTML(file); err != nil {
			b.Fatal(err)
		}
	}
	if info, err := file.Stat(); err == nil {
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
	}
}
