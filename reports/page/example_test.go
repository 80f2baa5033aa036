package page_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// crabs is the report of a small experiment.
func crabs() *reports.Report {
	ctx := context.Background()
	plan, err := experiments.Parse(ctx, "crabs.yaml", []byte(`
data: {dataset: crabs, preprocess: standardize}
model: {kernel: [se, linear], likelihood: probit, inference: laplace}
tune: {method: bfgs, restarts: 1}
evaluate: {kfold: {k: 3}}
`))
	if err != nil {
		log.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	report, _, err := experiments.Run(ctx, plan, folder, experiments.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return report
}

// This example writes a report as a document in a format chosen by name.
func Example() {
	r := crabs()
	format, err := page.FormatNamed("markdown")
	if err != nil {
		log.Fatal(err)
	}
	var text bytes.Buffer
	if err := format.Render(&text, r); err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
			fmt.Print(line)
		}
	}
	// Output:
	// # crabs
	// ## Results
	// ## #0 crabs · se · probit · laplace
	// ## #1 crabs · linear · probit · laplace
	// ## Provenance
}
