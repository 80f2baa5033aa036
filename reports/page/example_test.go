package page_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/testing/example"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// This example writes a report as a document in a format chosen by name.
func Example() {
	r := example.Crabs()
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
	// ## #1 crabs · linear · probit · laplace
	// ## #0 crabs · se · probit · laplace
	// ## Provenance
}
