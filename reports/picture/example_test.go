package picture_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/gpc-tune/gpc-tune/internal/testing/example"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
)

// This example lists every figure that a report has data for, and draws one for print.
func Example() {
	r := example.Crabs()
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
	// latent-1
	// latent-0
	// averaging-1
	// averaging-0
	// true <nil>
}
