package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/velosim/velosim/reports"
	"github.com/velosim/velosim/sim/plugintest/contract"
)

// pluginOptions are the flags of plugin test.
type pluginOptions struct {
	items, velero, dir         string
	within, call, cancelWithin time.Duration
	html, junit, json          string
}

func pluginCommand(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Test a plugin executable of your own",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(pluginTestCommand(c))
	return cmd
}

func pluginTestCommand(c *cli) *cobra.Command {
	var o pluginOptions
	cmd := &cobra.Command{
		Use:   "test PATH",
		Short: "Find out whether a plugin executable keeps Velero's contract, and print its report card",
		Long: `Test starts a plugin executable as Velero does, asks what it registers, and calls its item actions: for items that it applies to and
others, one after another and at the same time, polls their operations in new processes, cancels them, and looks for what is left behind.
Then it runs backups and restores on the real server with it: undisturbed, past their timeout, and with the server killed while it waits.
It prints a report card: each demand of the contract, whether the plugin meets it, what was seen, what Velero does with a plugin that
does not, and how to correct it.

The cluster has some objects of the kinds that plugins are commonly for. If the plugin is for others, give a file with objects, and with the
definitions of custom resources. The plugin gets KUBECONFIG and what a pod has to reach the API server by.

Exit codes: 0 no check fails; 1 one does; 2 the command line or --items is wrong; 3 a check is inconclusive, or there was no world to run in.`,
		Example: `  velosim plugin test ./my-plugin
  velosim plugin test ./my-plugin --items volumes.yaml --within 2m --html card.html --junit card.xml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("it takes the path of one plugin executable, not %d; see %s --help", len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return c.pluginTest(cmd.Context(), o, args[0]) },
	}
	f := cmd.Flags()
	veleroFlag(cmd, &o.velero)
	f.StringVar(&o.items, "items", "", "have the objects of the YAML `FILE` in the cluster, and its CustomResourceDefinitions (default: some of common kinds)")
	f.DurationVar(&o.within, "within", 30*time.Second, "how long an operation may take")
	f.DurationVar(&o.call, "call-within", 10*time.Second, "how long a call may take until it counts as one that hangs")
	f.DurationVar(&o.cancelWithin, "cancel-within", 10*time.Second, "how long an operation may go on after Cancel")
	f.StringVar(&o.dir, "out", "", "write the traces and verdicts into the folder `DIR`")
	f.StringVar(&o.html, "html", "", "write the card as a page for a browser into `FILE`")
	f.StringVar(&o.junit, "junit", "", "write it as JUnit XML into `FILE`")
	f.StringVar(&o.json, "json", "", "write it as JSON into `FILE`; \"-\" is stdout, in place of the text")
	return cmd
}

func (o pluginOptions) check() error {
	for flag, d := range map[string]time.Duration{"within": o.within, "call-within": o.call, "cancel-within": o.cancelWithin} {
		if d < time.Second || d > time.Hour {
			return fmt.Errorf("--%s %s: write a duration from 1s to 1h", flag, d)
		}
	}
	return nil
}

func (c *cli) pluginTest(ctx context.Context, o pluginOptions, plugin string) error {
	if err := o.check(); err != nil {
		return err
	}
	items, err := o.read()
	if err != nil {
		return err
	}
	if o.dir != "" {
		if err := os.MkdirAll(o.dir, 0o700); err != nil {
			return fmt.Errorf("failed to make --out: %w", err)
		}
	}
	paths, err := runOptions{world: "envtest", plugins: []string{plugin}}.pluginPaths(nil)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "--plugin "))
	}
	t := &pluginTester{cli: c, options: o, items: items, path: paths[0]}
	evidence, err := t.evidence(ctx)
	if err != nil {
		return err
	}
	card := contract.Judge(plugin, evidence)
	if err := c.writeCard(o, card); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &exitError{exitInconclusive, errors.New("interrupted: the card lacks what was not over")}
	}
	return cardExit(card)
}

// read reads --items.
func (o pluginOptions) read() (contract.Items, error) {
	if o.items == "" {
		return contract.CommonItems()
	}
	b, err := readFile(o.items)
	if err != nil {
		return contract.Items{}, fmt.Errorf("failed to read --items: %w", err)
	}
	return contract.ParseItems(o.items, b)
}

// writeCard prints the card, and writes it as the flags say.
func (c *cli) writeCard(o pluginOptions, card contract.Card) error {
	var failed []error
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{o.html, func(w io.Writer) error { return reports.CardHTML(w, card) }},
		{o.junit, func(w io.Writer) error { return reports.CardJUnit(w, card, c.now()) }},
		{o.json, func(w io.Writer) error { return reports.CardJSON(w, card) }},
	} {
		if file.path != "" && file.path != "-" {
			failed = append(failed, writeFile(file.path, file.write))
		}
	}
	show := reports.CardText
	if o.json == "-" {
		show = reports.CardJSON
	}
	failed = append(failed, show(c.out, card))
	if err := errors.Join(failed...); err != nil {
		return &exitError{exitInconclusive, err}
	}
	return nil
}

func cardExit(card contract.Card) error {
	switch card.Outcome() {
	case contract.Fail:
		return &exitError{code: exitFailure}
	case contract.Inconclusive:
		return &exitError{code: exitInconclusive}
	}
	return nil
}

// definitions writes those of custom resources into a file of its own, for the world; the file is removed with the folder.
func definitions(all []string) (file string, remove func(), err error) {
	if len(all) == 0 {
		return "", func() {}, nil
	}
	dir, err := os.MkdirTemp("", "velosim-items-")
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(dir, "crds.yaml")
	return file, func() { os.RemoveAll(dir) }, os.WriteFile(file, []byte(strings.Join(all, "\n---\n")), 0o600)
}
