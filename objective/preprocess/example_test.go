package preprocess_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/preprocess"
)

// A map is fitted on training inputs and applied to any inputs.
func Example() {
	m, _, err := preprocess.Fit(mat.NewDense(3, 2, []float64{1, 10, 2, 20, 3, 30}), "standardize", "error")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", m.Apply(mat.NewDense(1, 2, []float64{2, 30})).RawRowView(0))
	// Output:
	// [0.000 1.225]
}
