package param_test

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// A hyperparameter in natural units, and on the scale on which it is searched.
func Example() {
	start := 2.0
	s := param.Setting{Init: &start}.Spec("length_scale", param.Log, 1)
	fmt.Printf("%s = %.4f\n", s.ThetaName(), s.Map.Theta(s.Init))
	// Output:
	// log_length_scale = 0.6931
}

// A prior's density is with respect to the searched scale.
func ExamplePrior() {
	value, slope := param.Gamma{Shape: 2, Rate: 1}.LogDensity(0)
	fmt.Printf("%.4f %.4f\n", value, slope)
	// Output:
	// -1.0000 1.0000
}
