package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/velosim/velosim/sim/plugintest/contract"
)

// card is one of everything that a card shows, of a plugin that says what it should not.
func card() contract.Card {
	check := func(name string, outcome contract.Outcome, evidence ...string) contract.Checked {
		return contract.Checked{
			Name: name, Outcome: outcome, Evidence: evidence,
			Demands: "Done never decreases, and is at most the total.",
			Source:  "design/Implemented/general-progress-monitoring.md, \"Progress\"",
			Velero:  "It shows what the plugin says, and goes on polling.",
			Fix:     "Return the greatest figure that was reached.",
		}
	}
	first := check("applies-to-parses", contract.Pass, "AppliesTo selects configmaps")
	first.Demands = "What AppliesTo returns is a selector that Velero can resolve: resources that the cluster has, and a label selector that parses."
	return contract.Card{
		Plugin: "./my-plugin\x1b]0;title\a", World: "envtest", Velero: "1.18.3", Build: "0123abcd",
		Registers: []string{"BackupItemActionV2 example.io/mover", "RestoreItemActionV2 example.io/\u202erevom\nworld      virtual"},
		Checks: []contract.Checked{
			first,
			check("progress-monotone", contract.Fail,
				"Progress backup-1/mover-1: 5 of 10 at 1m10s,\n    then 3 of 10\r\n\tat 1m20s",
				"<script>alert(1)</script> | ]]> & `x` \x00\x1b[31m\u202e\u2028\xff\u009b",
				"a long line of words "+strings.Repeat("and so on ", 30)+"ends here", strings.Repeat("x", 250)),
			check("operation-id-unique", contract.Fail, "\nthe first line is empty, and this one is so long that it does not fit into a row of the table"),
			check("survives-restart", contract.Inconclusive, "no item fits the plugin"),
			check("cancel-ends", contract.Inconclusive),
			check("panics-not", contract.Pass),
			check("additional-items-exist", contract.NotApplicable, "Execute returned no additional items"),
		},
	}
}

var cardAt = time.Date(2026, 12, 1, 2, 3, 4, 0, time.FixedZone("east", 3600))

func TestCardFormats(t *testing.T) {
	// The style and its hash change with every colour of the report's page.
	style := regexp.MustCompile(`(?s)(<style>).*(</style>)|(sha256-)[^=]*`)
	for file, write := range map[string]func(io.Writer) error{
		"card.txt":  func(w io.Writer) error { return CardText(w, card()) },
		"card.xml":  func(w io.Writer) error { return CardJUnit(w, card(), cardAt) },
		"card.html": func(w io.Writer) error { return CardHTML(w, card()) },
		"card.json": func(w io.Writer) error { return CardJSON(w, card()) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		golden(t, filepath.Join("testdata", file), style.ReplaceAll(b.Bytes(), []byte("$1$3…$2")))
	}
}

// A terminal gets lines that fit, and nothing that it would obey, whatever the plugin says.
func TestCardTextIsPlain(t *testing.T) {
	c := card()
	c.Checks[3].Demands = strings.Repeat("é", 300) + "\x1b[2J"
	var b bytes.Buffer
	if err := CardText(&b, c); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > cardWidth {
			t.Errorf("%d characters: %s", n, line)
		}
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl) }) {
			t.Errorf("not escaped: %q", line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("spaces at the end: %q", line)
		}
	}
	if got, want := lines[len(lines)-2], "7 checks: 2 pass, 2 fail, 2 inconclusive, 1 not applicable"; got != want {
		t.Errorf("the last line is %q, and not %q", got, want)
	}
	head := slices.Index(lines, "")
	if want := 3 + len(c.Registers); head != want { // a newline in a name makes no line that another field could be taken for
		t.Errorf("%d lines before the table, and not %d: %q", head, want, lines[:head])
	}
	rows := lines[head+1:]
	for i, x := range c.Checks { // newlines in evidence break no row
		if f := strings.TrimSpace(strings.TrimPrefix(rows[i], string(x.Outcome))); !strings.HasPrefix(f, x.Name) {
			t.Errorf("row %d is %q, and not of %s", i, rows[i], x.Name)
		}
	}
}

func TestCardOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := CardJSON(&b, contract.Card{}); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); !strings.Contains(s, `"checks": []`) || !strings.Contains(s, `"registers": []`) {
		t.Errorf("lists are not lists: %s", s)
	}
	for checks, want := range map[string]contract.Card{
		"0 checks: 0 pass, 0 fail, 0 inconclusive, 0 not applicable": {},
		"1 check: 1 pass, 0 fail, 0 inconclusive, 0 not applicable":  {Checks: []contract.Checked{{Outcome: contract.Pass}}},
	} {
		if got := cardSummary(want); got != checks {
			t.Errorf("%q, and not %q", got, checks)
		}
	}
}

// JSON keeps what the plugin said, but for bytes that are no text.
func TestCardJSONMeansTheSame(t *testing.T) {
	var b bytes.Buffer
	if err := CardJSON(&b, card()); err != nil {
		t.Fatal(err)
	}
	var got contract.Card
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := card()
	want.Checks[1].Evidence[1] = strings.ToValidUTF8(want.Checks[1].Evidence[1], "\ufffd")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCardJUnitIsXML reads back what was written of text that XML cannot hold.
func TestCardJUnitIsXML(t *testing.T) {
	var b bytes.Buffer
	if err := CardJUnit(&b, card(), cardAt); err != nil {
		t.Fatal(err)
	}
	var all cardSuites
	if err := xml.Unmarshal(b.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	s := all.Suite
	if all.Tests != 7 || s.Tests != 7 || s.Failures != 2 || s.Errors != 2 || s.Skipped != 1 || s.Timestamp != "2026-12-01T01:03:04Z" {
		t.Errorf("%d tests, %d failures, %d errors, %d skipped, at %s", s.Tests, s.Failures, s.Errors, s.Skipped, s.Timestamp)
	}
	properties := []junitProperty{{"plugin", `./my-plugin\u001b]0;title\u0007`}, {"world", "envtest"}, {"velero", "1.18.3"}}
	if diff := cmp.Diff(properties, s.Properties); diff != "" {
		t.Errorf("properties (-want +got):\n%s", diff)
	}
	for i, x := range card().Checks {
		one := s.Cases[i]
		got := map[contract.Outcome]bool{
			contract.Pass: one.Out != "", contract.Fail: one.Failure != nil,
			contract.Inconclusive: one.Error != nil, contract.NotApplicable: one.Skipped != nil,
		}
		for outcome, is := range got {
			if one.Name != x.Name || is != (outcome == x.Outcome) {
				t.Errorf("%s, which is %s: %s %v", one.Name, x.Outcome, outcome, is)
			}
		}
	}
	evidence := "- <script>alert(1)</script> | ]]> & `x` " + `\u0000\u001b[31m\u202e\u2028\xff\u009b` + "\n"
	if f := s.Cases[1].Failure; f == nil || !strings.Contains(f.Text, evidence) ||
		f.Message != "Progress backup-1/mover-1: 5 of 10 at 1m10s," {
		t.Errorf("the failure is %+v", f)
	}
}

// The page's policy names its style by its hash, and allows no script; and the page has nothing that a browser would ask for.
func TestCardPageStandsAlone(t *testing.T) {
	c := card()
	hostile := `"><script>alert(2)</script></style><!-- <img src="https://example.com/x" onerror=alert(3)>`
	c.Plugin, c.World, c.Velero, c.Build, c.Registers[0] = hostile, hostile, hostile, hostile, hostile
	x := &c.Checks[0]
	x.Name, x.Demands, x.Source, x.Velero, x.Fix, x.Evidence = hostile, hostile, hostile, hostile, hostile, []string{hostile}
	var b bytes.Buffer
	if err := CardHTML(&b, c); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindAllStringSubmatch(html, -1)
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]+)"`).FindStringSubmatch(html)
	if len(styles) != 1 || policy == nil {
		t.Fatalf("%d styles, policy %q", len(styles), policy)
	}
	want := "default-src 'none'; style-src " + hashed(styles[0][1]) + "; base-uri 'none'; form-action 'none'"
	if got := strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(policy[1]); got != want {
		t.Errorf("the policy is %s, and not %s", got, want)
	}
	asks := regexp.MustCompile(`(?i)(<(script|link|img|iframe|object|embed|audio|video|base)\b|url\(|@import|<[^>]* (on\w+|src|style)=|href="[^#])`)
	if m := asks.FindString(html); m != "" {
		t.Errorf("the page has %q", m)
	}
}

// openCard opens the page of a card in place of a report, so that the same is demanded of it: no complaint in the console, and no request.
func openCard(t *testing.T, c contract.Card, width, height int64, dark bool) *tab {
	t.Helper()
	p := open(t, many(t, 1), width, height, dark)
	var file string
	p.eval(`decodeURIComponent(location.pathname)`, &file)
	var b bytes.Buffer
	if err := CardHTML(&b, c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.Reload(), chromedp.WaitVisible(`table.checks`, chromedp.ByQuery))
	return p
}

func TestCardPage(t *testing.T) {
	for _, theme := range []struct {
		dark       bool
		background string
	}{{false, "rgb(251, 251, 250)"}, {true, "rgb(20, 23, 26)"}} {
		t.Run(fmt.Sprintf("dark=%v", theme.dark), func(t *testing.T) {
			p := openCard(t, card(), 1280, 900, theme.dark)
			p.screenshot(fmt.Sprintf("card-dark=%v", theme.dark))
			var background string
			if p.eval(`getComputedStyle(document.body).backgroundColor`, &background); background != theme.background {
				t.Errorf("the background is %s", background)
			}
			var opened, words []string
			p.eval(`[...document.querySelectorAll("details[open]")].map((d) => d.closest("tr").querySelector("th").innerText)`, &opened)
			if diff := cmp.Diff([]string{"progress-monotone", "operation-id-unique"}, opened); diff != "" {
				t.Errorf("opened (-want +got):\n%s", diff)
			}
			p.eval(`[...document.querySelectorAll("td.badge")].map((d) => d.innerText)`, &words)
			if diff := cmp.Diff([]string{"pass", "fail", "fail", "inconclusive", "inconclusive", "pass", "not applicable"}, words); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			if got := p.text("details[open]"); !strings.Contains(got, "<script>alert(1)</script> | ]]> & `x` "+`\u0000\u001b[31m`) {
				t.Errorf("the evidence is %q", got)
			}
		})
	}
}

// Down to the details of a check that passed, without a mouse; and on a small screen nothing is cut.
func TestCardPageByKeyboard(t *testing.T) {
	p := openCard(t, card(), 390, 800, false)
	p.screenshot("card-narrow")
	var fits bool
	if p.eval("document.documentElement.scrollWidth <= innerWidth", &fits); !fits {
		t.Error("the page is wider than the window")
	}
	p.press(tabKey, enter) // skip to the checks
	p.until(`location.hash === "#checks"`)
	p.press(tabKey)
	p.until(`document.activeElement === document.querySelector("summary")`)
	shown := `document.querySelector("details dl").getClientRects().length > 0 && document.querySelector("details").open`
	for range 2 {
		p.until(`!(` + shown + `)`)
		p.press(enter)
		p.until(shown)
		p.press(" ")
	}
	// What has the focus says which check it is of.
	var unnamed []string
	p.eval(`[...document.querySelectorAll("summary")].filter((e) => {
		const of = e.getAttribute("aria-labelledby").split(" ").map((id) => document.getElementById(id));
		return of.length !== 2 || of[0] !== e.closest("tr").querySelector("th") || of[1] !== e || !e.innerText;
	}).map((e) => e.outerHTML)`, &unnamed)
	if len(unnamed) > 0 {
		t.Errorf("without a name: %v", unnamed)
	}
}
