package picture_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// This example lists every figure that a report has data for, and draws one for print.
func Example() {
	r := reporttest.Two()
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
	// against-toy
	// reliability-0
	// curves-toy-kfold
	// roc-0
	// precision-recall-0
	// true <nil>
}
