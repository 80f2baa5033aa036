package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/columns"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/stores"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// This file completes arguments and values of flags in shells.

// arguments maps the words for arguments in usage lines to their completions.
var arguments = map[string]cobra.CompletionFunc{
	"FILE.yaml":  experimentNames,
	"DIR":        folders,
	"RUN":        folders,
	"MODEL.json": filesOf("json"),
	"NAME":       named("datasets"),
}

// values maps the names of flags, in every command, to their completions. A flag whose help lists
// its values, as in "none | standardize | whiten", is completed to these.
var values = map[string]cobra.CompletionFunc{
	"kernel":        named("kernels"),
	"likelihood":    named("likelihoods"),
	"inference":     named("inference"),
	"data":          named("datasets"),
	"formats":       named("formats"),
	"what":          fixed(exportNames()...),
	"label":         columnNames,
	"configuration": configurations,
	"figure":        figures,
}

// choices matches alternatives in a help text.
var choices = pattern.Of(`\w+( \| \w+)+`)

// completed adds completions of arguments and flags to c and its subcommands, unless they have
// their own.
func completed(c *cobra.Command) {
	for _, word := range strings.Fields(c.Use)[1:] {
		if by := arguments[strings.Trim(word, "[]")]; by != nil && c.ValidArgsFunction == nil && c.ValidArgs == nil {
			c.ValidArgsFunction = by
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		by := values[f.Name]
		if listed := choices().FindString(f.Usage); by == nil && listed != "" {
			by = fixed(strings.Split(listed, " | ")...)
		}
		if _, has := c.GetFlagCompletionFunc(f.Name); by != nil && !has && f.Value.Type() != "bool" {
			_ = c.RegisterFlagCompletionFunc(f.Name, by) // cannot fail: the flag exists and has no completion yet
		}
	})
	for _, below := range c.Commands() {
		completed(below)
	}
}

// fixed completes to one of the given words.
func fixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// named completes to the names of a list of gpc-tune list, with their descriptions, or to files.
func named(kind string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		for _, k := range catalogue.All() {
			for _, e := range k.Entries {
				if k.Name == kind && strings.HasPrefix(e.Name, begun) {
					words = append(words, cobra.CompletionWithDesc(e.Name, e.Doc))
				}
			}
		}
		return words, cobra.ShellCompDirectiveDefault
	}
}

// experimentNames completes to experiments of the gallery and to YAML files.
func experimentNames(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	words, directive := named("gallery")(c, args, begun)
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		files, _ := filepath.Glob(begun + pattern) // an invalid pattern matches no file
		words = append(words, files...)
	}
	return words, directive
}

// folders completes to folders.
func folders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// filesOf completes to files with this extension.
func filesOf(extension string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 { // followed by data
			return nil, cobra.ShellCompDirectiveDefault
		}
		return []cobra.Completion{extension}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// topics completes to the topics of gpc-tune explain.
func topics(_ *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	all := append(catalogue.Names(), "exit-codes")
	for _, e := range exitCodes {
		all = append(all, strconv.Itoa(e.code))
	}
	for _, name := range all {
		if len(args) == 0 && strings.HasPrefix(name, begun) {
			words = append(words, name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// columnNames completes to the columns of the file given by --data or by the argument.
func columnNames(c *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	if f := c.Flag("data"); f != nil {
		args = []string{f.Value.String()}
	}
	if len(args) > 0 {
		if t, err := columns.Read(args[0], ""); err == nil {
			for _, of := range t.Columns {
				words = append(words, cobra.CompletionWithDesc(of.Name, of.Found))
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// configurations completes to the numbers of the configurations of a run folder.
func configurations(_ *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	if folder, ok := begunRun(args); ok {
		for i, of := range folder.Manifest.Configurations {
			words = append(words, cobra.CompletionWithDesc(strconv.Itoa(i), of.String()))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// figures completes to the names of the figures of a run folder.
func figures(_ *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	if folder, ok := begunRun(args); ok {
		if report, err := folder.Timed(); err == nil {
			for _, f := range picture.All(report) {
				words = append(words, cobra.CompletionWithDesc(f.Name, f.Title))
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// begunRun is the run folder of a command line, if it can be read. Problems are not printed while
// the user types.
func begunRun(args []string) (*runs.Folder, bool) {
	if len(args) == 0 {
		return nil, false
	}
	folder, err := runs.ReadFolder(args[0])
	return folder, err == nil
}

// exportNames are the tables of gpc-tune export.
func exportNames() (names []string) {
	for _, e := range table.Exported() {
		names = append(names, e.Name)
	}
	for _, s := range stores.All {
		names = append(names, s.Name)
	}
	return names
}
