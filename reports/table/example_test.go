package table_test

import (
	"encoding/csv"
	"fmt"
	"log"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// This example prints cells of the summary, and the scores as CSV for programs.
func Example() {
	r := reporttest.Two()
	summary := table.Summary(r)
	summary.MoveConstantsToCaption()
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
	// [0 best se]
	// [1  linear]
	// 11 rows of CSV, <nil>
}
