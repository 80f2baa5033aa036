package kernel

import (
	"errors"
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Setting is one hyperparameter of a kernel as a user sets it. Every kernel hyperparameter is
// positive and on the log scale.
type Setting struct {
	Name      string  // natural name without a path: "length_scale"
	Default   float64 // start in natural units if the user gives none; NaN: the data decide
	PerColumn bool    // one hyperparameter for every input column: "length_scale[1]", …
	param.Setting
}

// Check checks the setting that the user wrote (see param.Setting).
func (s Setting) Check() error { return s.Setting.Check(s.Name, param.Log) }

// Configurable kernels list their settings. All kernels of Table are Configurable, except
// combinations of kernels.
type Configurable interface {
	// Settings lists the hyperparameters in the order of theta, an amplitude first.
	Settings() []Setting
}

// Check returns all errors in a user's declaration of one kernel of Table: values of settings, and
// options that exclude each other.
func Check(k Kernel) error {
	var errs []error
	if c, ok := k.(Configurable); ok {
		for _, s := range c.Settings() {
			errs = append(errs, s.Check())
		}
	}
	if c, ok := k.(interface{ checkOptions() error }); ok {
		errs = append(errs, c.checkOptions())
	}
	return errors.Join(errs...)
}

// amplitudeName is the setting σ of a kernel that is σ² times a function of the rest of theta; it
// is the first.
const amplitudeName = "amplitude"

func amplitude(s param.Setting) Setting {
	return Setting{Name: amplitudeName, Default: 1, Setting: s}
}

func lengthScale(s param.Setting, ard bool) Setting {
	return Setting{Name: "length_scale", Default: math.NaN(), PerColumn: ard, Setting: s}
}

// specs lists the hyperparameters of the settings for inputs with dim columns.
func specs(dim int, settings ...Setting) []param.Spec {
	var out []param.Spec
	for _, s := range settings {
		if !s.PerColumn {
			out = append(out, s.Spec(s.Name, param.Log, s.Default))
			continue
		}
		for k := range dim {
			of := s.Spec(fmt.Sprintf("%s[%d]", s.Name, k+1), param.Log, s.Default)
			of.Column = k + 1
			out = append(out, of)
		}
	}
	return out
}

// natural is a hyperparameter in natural units, limited to 1e±50, far outside the default bounds.
// So squares, and their products with squared distances, are finite, and 0·∞ does not occur.
func natural(theta float64) float64 {
	return math.Min(math.Max(param.Log.Natural(theta), 1e-50), 1e50)
}

// variance is the square of an amplitude.
func variance(theta float64) float64 {
	v := natural(theta)
	return v * v
}

// inverses is the factor 1/l of every column, from one length scale for all columns or from one for
// each.
func inverses(theta []float64, dim int) []float64 {
	inv := make([]float64, dim)
	for k := range inv {
		inv[k] = 1 / natural(theta[k%len(theta)])
	}
	return inv
}

// fold adds the derivatives by the columns' length scales to grad: one by one, or their sum if all
// columns have one length scale.
func fold(grad, perColumn []float64) {
	for k, v := range perColumn {
		grad[k%len(grad)] += v
	}
}
