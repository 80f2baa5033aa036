package comparator_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// The class frequencies, which every classifier should improve on.
func Example() {
	d, err := objective.NewData([][]float64{{1}, {2}, {3}, {4}}, []string{"a", "a", "b", "a"})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := comparator.BaseRate{}.Fit(context.Background(), d, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	proba := mat.NewDense(1, 2, nil)
	c.PredictProba(proba, &kernel.Inputs{X: mat.NewDense(1, 1, []float64{7})})
	fmt.Println(proba.RawRowView(0))
	// Output:
	// [0.75 0.25]
}
