package page_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// This example writes a report as a document in a format chosen by name.
func Example() {
	r := reporttest.Two()
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
	// # two
	// ## Results
	// ## Strange cases
	// ## #0 toy · se · probit · laplace
	// ## #1 toy · linear · probit · laplace
	// ## Provenance
}
