package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestCLIPage keeps the reference of the command line in step with the commands.
func TestCLIPage(t *testing.T) {
	const file = "../../docs/cli.md"
	want := cliPage(newRoot(&cli{in: strings.NewReader(""), out: io.Discard, err: io.Discard, now: time.Now}))
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not current (go test ./cmd/velosim -run CLIPage -update; -want +got):\n%s", file, diff)
	}
}

const cliIntroduction = `# The command line

<!-- Generated from the commands of cmd/velosim: go test ./cmd/velosim -run CLIPage -update -->

What ` + "`velosim help COMMAND`" + ` prints, on one page. Flags go anywhere after the command. Every command has ` + "`--help`" + `, too, and
` + "`velosim completion SHELL`" + ` prints what a shell needs to complete commands and flags.

| command | what it does |
|---|---|
`

// cliPage is the page, in Markdown.
func cliPage(root *cobra.Command) string {
	all := commands(root)
	var b strings.Builder
	b.WriteString(cliIntroduction)
	for _, cmd := range all {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", cmd.CommandPath(), slug(cmd.CommandPath()), cell(cmd.Short))
	}
	for _, cmd := range all {
		said := cmd.Long
		if said == "" {
			said = cmd.Short + "."
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", cmd.CommandPath(), markdown.Replace(strings.TrimSpace(said)))
		if !strings.Contains(said, "Exit codes:") {
			fmt.Fprintf(&b, "\nExit codes: those of [velosim](#velosim).\n")
		}
		if cmd.Runnable() {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", cmd.UseLine())
		}
		flags(&b, cmd)
		if cmd.Example != "" {
			fmt.Fprintf(&b, "\nFor example:\n\n```text\n%s\n```\n", unindent(cmd.Example))
		}
	}
	return b.String()
}

// commands are the command and all below it that its help shows.
func commands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, commands(sub)...)
		}
	}
	return all
}

// flags is a table of the command's flags.
func flags(b *strings.Builder, cmd *cobra.Command) {
	rows := 0
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("\n| flag | default | meaning |\n|---|---|---|\n")
		}
		value, meaning := pflag.UnquoteUsage(f)
		name := strings.TrimSpace("--" + f.Name + " " + value)
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.Annotations[cobra.BashCompOneRequiredFlag] != nil {
			meaning += "; required"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell(name), defaultOf(f), cell(meaning))
	})
}

// defaultOf is empty for what means nothing.
func defaultOf(f *pflag.Flag) string {
	if slices.Contains([]string{"", "false", "0", "[]", "0s"}, f.DefValue) {
		return ""
	}
	return "`" + f.DefValue + "`"
}

// markdown keeps what is a mark in Markdown from being one.
var markdown = strings.NewReplacer("*", `\*`, "<", `\<`)

func cell(text string) string { return strings.ReplaceAll(markdown.Replace(text), "|", `\|`) }

func unindent(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n  ", "\n"), "  ")
}
