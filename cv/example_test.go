package cv_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
)

// Scores of probabilities for cases with known classes.
func ExampleEvaluate() {
	proba := mat.NewDense(3, 2, []float64{0.9, 0.1, 0.2, 0.8, 0.6, 0.4})
	p, err := cv.NewPredictions([]int{0, 1, 2}, []int{0, 1, 1}, proba, []int{5, 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	results, _, _ := cv.Evaluate(p)
	for _, r := range results[:4] {
		fmt.Printf("%s %.3f\n", r.Name, r.Value)
	}
	// Output:
	// information_bits 0.401
	// errors 1.000
	// error_rate 0.333
	// log_loss 0.415
}
