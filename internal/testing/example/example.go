// Package example has the report of a small experiment, for examples.
package example

import (
	"context"
	"log"
	"os"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Crabs runs an experiment with two kernels on the crabs data.
func Crabs() *reports.Report {
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
