package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
)

// This file recognises arguments of another kind than a command asks for, such as an experiment
// file in place of the folder of its run. The command then uses the matching argument, or names the
// right command.

// runIn returns the manifest of the run in a folder; false: the path is no such folder.
func runIn(path string) (m record.Manifest, is bool) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return m, false
	}
	m, err := journal.ReadManifest(path)
	return m, err == nil
}

// isModel reports whether a path leads to a model file.
func isModel(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 100)
	n, _ := io.ReadFull(f, head) // a shorter file is no model file
	head = bytes.TrimSpace(head[:n])
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"gpc-tune/model/`))
}

// isExperiment reports whether a name is the name of an experiment file.
func isExperiment(name string) bool {
	return strings.HasPrefix(name, spec.Bundled) || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name))
}

// isCases reports whether the name of a path is the name of a file of cases.
func isCases(path string) bool {
	file, _ := tables.Located(path)
	_, err := os.Stat(file)
	return err == nil && slices.Contains(extensionsOfCases(), strings.ToLower(filepath.Ext(file)))
}

// extensionsOfCases returns the extensions in the names of files of cases, in lower case.
func extensionsOfCases() []string {
	return []string{".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".jsonl", ".ndjson", ".gz", ".bz2", ".zst", ".svm",
		".libsvm"}
}

// command is a command line as it can be typed.
func command(args ...string) string {
	return terminal.CommandLine(append([]string{"gpc-tune"}, args...)...)
}

// takesRuns lets the first arguments of c, which are folders of runs, be the experiment files that
// were run in runs/NAME.
func takesRuns(c *cobra.Command, arguments int) {
	c.PreRunE = func(c *cobra.Command, args []string) error {
		for i, arg := range args[:min(arguments, len(args))] {
			switch {
			case isModel(arg) && c.Name() != "show":
				return usage("%s is a model file, and %s takes the folder of a run; %s shows the model, and %s serves "+
					"it", arg, c.Name(), command("show", arg), command("serve-model", arg))
			case isExperiment(arg):
				s, err := spec.Load(arg, nil)
				if err != nil {
					return err
				}
				args[i] = filepath.Join("runs", s.Name)
				if _, ran := runIn(args[i]); !ran && c.Name() != "serve" {
					return usage("%s has no run in %s; %s writes one", arg, args[i], command("run", arg))
				}
				fmt.Fprintf(c.ErrOrStderr(), "the run of %s is in %s\n", arg, args[i])
			}
		}
		return nil
	}
}

// modelArgument returns an error if a path leads to another kind of file than a model file. The
// error names the command to give.
func modelArgument(c *cobra.Command, path string, others ...string) error {
	_, ran := runIn(path)
	switch {
	case ran || isExperiment(path):
		return usage("%s takes a model file; %s writes one", c.Name(), command("fit", path, "-m", "model.json"))
	case !isModel(path) && len(others) > 0 && isModel(others[0]):
		return usage("the model file comes first: %s", command(c.Name(), others[0], path))
	}
	return nil
}

// casesArgument returns an error if a path leads to another kind of file than a file of cases. The
// error names the command to give.
func casesArgument(c *cobra.Command, path string) error {
	m, ran := runIn(path)
	switch {
	case ran:
		return usage("%s is the folder of a run of %s, and %s takes a file of cases; %s shows the run", path, m.Source,
			c.Name(), command("report", path))
	case isModel(path):
		return usage("%s is a model file, and %s takes a file of cases; %s shows the model", path, c.Name(),
			command("show", path))
	case isExperiment(path):
		return usage("%s is an experiment file, and %s takes a file of cases; %s checks the file", path, c.Name(),
			command("validate", path))
	}
	return nil
}
