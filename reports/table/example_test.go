package table_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
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

// This example prints cells of the summary, and the scores as CSV for programs.
func Example() {
	r := crabs()
	summary := table.Summary(r)
	summary.Lift()
	fmt.Println(summary.ColumnNames()[:3])
	for _, row := range summary.Rows {
		fmt.Println(table.Texts(row)[:3])
	}
	var text strings.Builder
	if err := table.ScoresCSV(&text, r); err != nil {
		log.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	fmt.Println(len(rows), "rows of CSV,", err)
	// Output:
	// [# status kernel]
	// [1 best linear]
	// [0 in the set se]
	// 11 rows of CSV, <nil>
}
