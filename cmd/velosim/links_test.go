package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLinks: what the pages link to in the repository is there, and so is the heading that a link names.
func TestLinks(t *testing.T) {
	pages := []string{"../../README.md", "../../CONTRIBUTING.md", "../../CHANGELOG.md", "../../sim/phase/README.md"}
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading := regexp.MustCompile(`(?m)^#+ (.*)$`)
	found := 0
	for _, page := range append(pages, docs...) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			found++
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if anchor == "" || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(target)
			if err != nil {
				t.Fatal(err)
			}
			anchors := map[string]bool{}
			for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
				anchors[slug(h[1])] = true
			}
			if !anchors[anchor] {
				t.Errorf("%s: %s has no heading #%s", page, target, anchor)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d links", found)
	}
}

// slug is the anchor that GitHub makes of a heading.
func slug(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
