package reports

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
)

// The page has no other scripts and styles than those that its policy names by their hashes, whatever the runs say; and nothing that a
// browser would ask for.
func TestPageStandsAlone(t *testing.T) {
	r := sample(t)
	r.Runs[0].Description = `</script><script>alert(1)</script><!-- <img src="https://example.com/x">`
	r.Runs[0].Scenario = `"><script>alert(2)</script>`
	r.Coverage[0].Transitions[0].Scenarios = []string{r.Runs[0].Scenario}
	r.Coverage[0].Transitions[0].Reason = r.Runs[0].Description
	r.Deviations[0].Statement = r.Runs[0].Description
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]+)"`).FindStringSubmatch(html)
	if policy == nil {
		t.Fatal("there is no policy")
	}
	allowed := strings.NewReplacer("&#43;", "+", "&#39;", "'").Replace(policy[1])
	if !strings.HasPrefix(allowed, "default-src 'none'; ") || strings.Contains(allowed, "unsafe") {
		t.Errorf("the policy is %s", allowed)
	}
	for _, m := range regexp.MustCompile(`(?s)<(script|style)>(.*?)</`).FindAllStringSubmatch(html, -1) {
		if !strings.Contains(allowed, m[1]+"-src "+hashed(m[2])) {
			t.Errorf("the policy does not allow the %s that begins with %.60q", m[1], m[2])
		}
	}
	scripts := regexp.MustCompile(`<script[^>]*>`).FindAllString(html, -1)
	if want := 2 + strings.Count(html, `id="timeline-`); len(scripts) != want || want == 2 {
		t.Errorf("%d scripts, and not %d: %.200q", len(scripts), want, scripts)
	}
	if m := regexp.MustCompile(`(?i)(<script[^>]*src|<(link|img|iframe|object|embed|audio|video|base)\b|url\(|@import|fetch\(|XMLHttpRequest|innerHTML)`).FindString(
		html[:strings.Index(html, `<script type="application/json"`)] + html[strings.LastIndex(html, "<script>"):]); m != "" {
		t.Errorf("the page has %q", m)
	}
}

// Text, and the ways of transitions, stand out from what is behind them: at least 4.5 to 1 (WCAG 2.2, 1.4.3), in the light and in the dark.
func TestContrast(t *testing.T) {
	style, err := web.ReadFile("web/style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{":root", "[data-theme=dark]"} {
		_, block, ok := strings.Cut(string(style), "\n"+theme+" {")
		if theme == ":root" {
			_, block, ok = strings.Cut(string(style), theme+" {")
		}
		if !ok {
			t.Fatalf("there is no %s", theme)
		}
		block, _, _ = strings.Cut(block, "}")
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6})`).FindAllStringSubmatch(block, -1) {
			colours[m[1]] = luminance(t, m[2])
		}
		for _, text := range []string{"fg", "muted", "accent", "pass", "known", "fail", "inconclusive", "unreachable", "uncovered"} {
			for _, back := range []string{"bg", "panel"} {
				light, dark := max(colours[text], colours[back]), min(colours[text], colours[back])
				if ratio := (light + 0.05) / (dark + 0.05); ratio < 4.5 {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f", theme, text, back, ratio)
				}
			}
		}
	}
}

// luminance of a colour, as WCAG 2.2 defines it.
func luminance(t *testing.T, rgb string) (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		var v int
		if _, err := fmt.Sscanf(rgb[2*i:2*i+2], "%x", &v); err != nil {
			t.Fatal(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
