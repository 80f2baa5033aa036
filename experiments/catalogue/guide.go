package catalogue

import (
	"fmt"
	"io"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// writeKeys writes docs/file.md: every key of the file, section by section, with its meaning, its
// default and an example.
func writeKeys(w io.Writer) error {
	var text strings.Builder
	text.WriteString("# The experiment file\n\nAll keys of the YAML file. `gpc-tune explain KEY` prints the same " +
		"texts, and the JSON Schema\n(`gpc-tune schema`) has them too. `gpc-tune list` lists the kernels, " +
		"likelihoods, inference methods,\nstrategies, splitters and scores.\n\n`go test ./experiments/catalogue " +
		"-update` writes this page.\n")
	cell := strings.NewReplacer("|", `\|`).Replace
	for _, s := range spec.Sections {
		fmt.Fprintf(&text, "\n## %s: %s\n\n", s.Name, s.Doc)
		rows := [][]string{{"key", "meaning", "default", "example"}, {"---", "---", "---", "---"}}
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
