package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
)

// schemaCommand is `gpc-tune schema`.
func schemaCommand() *cobra.Command {
	var names, docs []string
	for _, s := range catalogue.Schemas {
		names, docs = append(names, s.Name), append(docs, "  "+s.Name+": "+s.Doc)
	}
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of the YAML file, or of an output",
		Long: "Print a JSON Schema (draft 2020-12), by default that of the YAML file:\n" + strings.Join(docs, "\n") + `

An editor with a YAML language server completes and checks a file that begins with
  # yaml-language-server: $schema=gpc-tune.schema.json
What only data or several keys together show, gpc-tune validate finds.`,
		Example:   "  gpc-tune schema > gpc-tune.schema.json\n  gpc-tune schema results",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			if err := catalogue.WriteSchema(forPrograms(c), append(args, names[0])[0]); err != nil {
				return usageError{err}
			}
			return nil
		},
	}
}
