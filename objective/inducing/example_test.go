package inducing_test

import (
	"context"
	"fmt"

	"github.com/gpc-tune/gpc-tune/objective/inducing"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// The cases that the ones chosen before explain least.
func Example() {
	x, err := kernel.NewInputs([][]float64{{0}, {0.1}, {5}, {5.1}, {10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := inducing.Greedy{}.Select(context.Background(), kernel.SE{}, []float64{0, 0}, x, 3, 1)
	fmt.Println(c.Cases, err)
	// Output:
	// [0 4 2] <nil>
}
