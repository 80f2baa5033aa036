package reports_test

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// This example reads scores and hyperparameters by name: a report is plain data.
func Example() {
	for _, c := range reporttest.Two().Configurations {
		information, _ := c.Scores.Value("information_bits")
		wrong, _ := c.Scores.Value("errors")
		fmt.Printf("%s: %.3f bits a case, %v of %d wrong\n", c.Kernel, information.Value, wrong.Value, c.Scores.N)
	}
	// Output:
	// se: 0.500 bits a case, 0 of 90 wrong
	// linear: 0.175 bits a case, 9 of 90 wrong
}
