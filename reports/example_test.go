package reports_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
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

// This example reads scores and hyperparameters by name: a report is plain data.
func Example() {
	for _, c := range crabs().Configurations {
		information, _ := c.Scores.Value("information_bits")
		wrong, _ := c.Scores.Value("errors")
		fmt.Printf("%s: %.3f bits a case, %v of %d wrong\n", c.Kernel, information.Value, wrong.Value, c.Scores.N)
	}
	// Output:
	// se: 0.869 bits a case, 5 of 200 wrong
	// linear: 0.879 bits a case, 7 of 200 wrong
}
