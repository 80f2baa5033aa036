package reports_test

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/testing/example"
)

// This example reads scores and hyperparameters by name: a report is plain data.
func Example() {
	for _, c := range example.Crabs().Configurations {
		information, _ := c.Scores.Value("information_bits")
		wrong, _ := c.Scores.Value("errors")
		fmt.Printf("%s: %.3f bits a case, %v of %d wrong\n", c.Kernel, information.Value, wrong.Value, c.Scores.N)
	}
	// Output:
	// se: 0.869 bits a case, 5 of 200 wrong
	// linear: 0.879 bits a case, 7 of 200 wrong
}
