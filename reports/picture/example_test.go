package picture_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
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

// This example lists every figure that a report has data for, and draws one for print.
func Example() {
	r := crabs()
	for _, f := range picture.All(r) {
		fmt.Println(f.Name)
	}
	f, err := picture.Named(r, "roc-0")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	err = figure.PDF(&file, f)
	fmt.Println(bytes.HasPrefix(file.Bytes(), []byte("%PDF")), err)
	// Output:
	// against-crabs
	// roc-0
	// precision-recall-0
	// information-crabs-kfold
	// paths-0
	// traces-0
	// latent-0
	// latent-1
	// averaging-0
	// averaging-1
	// true <nil>
}
