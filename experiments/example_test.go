package experiments_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/gpc-tune/gpc-tune/experiments"
)

// This example tunes a model on a bundled data set and evaluates it by cross-validation.
func Example() {
	const file = `
data: {dataset: crabs, preprocess: standardize}
model: {kernel: se, likelihood: probit, inference: ep}
tune: {method: bfgs, restarts: 1}
evaluate: {kfold: {k: 3}}
`
	ctx := context.Background()
	plan, err := experiments.Parse(ctx, "crabs.yaml", []byte(file))
	if err != nil {
		log.Fatal(err) // experiments.Problems: every mistake, with its place
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
	for _, c := range report.Configurations {
		errors, _ := c.Scores.Value("errors")
		fmt.Printf("%s with %s: %v of %d wrong\n", c.Kernel, c.Inference, errors.Value, c.Scores.N)
	}
	// Output: se with ep: 4 of 200 wrong
}
