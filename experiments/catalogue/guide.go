package catalogue

import (
	"fmt"
	"io"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// writeKeys writes docs/file.md: every key of the file, section by section, with what it says, its
// default and an example.
func writeKeys(w io.Writer) error {
	var text strings.Builder
	text.WriteString("# The experiment file\n\nEvery key of the YAML file, as `gpc-tune explain KEY` and the schema " +
		"(`gpc-tune schema`) have it.\nWhat kernels, likelihoods, inference methods, strategies, splitters and " +
		"scores there are,\n`gpc-tune list` says. This page is made by\n`go test ./experiments/catalogue -update`.\n")
	cell := strings.NewReplacer("|", `\|`).Replace
	for _, s := range spec.Sections {
		fmt.Fprintf(&text, "\n## %s: %s\n\n", s.Name, s.Doc)
		rows := [][]string{{"key", "what it says", "default", "example"}, {"---", "---", "---", "---"}}
		for _, k := range s.Keys {
			example := ""
			if k.Example != "" {
				example = "`" + k.Example + "`"
			}
			rows = append(rows, []string{"`" + k.Name + "`", cell(k.Doc), cell(k.Default), cell(example)})
		}
		for _, row := range rows {
			text.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
