package objective

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// MostDense is the number of cases up to which the matrix of the covariance is affordable.
const MostDense = 4000

// Automatic leaves the structure of the covariance open, as an option of a method. For at most
// MostDense cases it is the matrix. For more cases New refuses it: a plan puts another structure in
// its place.
type Automatic int

// Auto is the value of Automatic that leaves the structure open. The other value is no option.
const Auto Automatic = 1

// Names are the names of the values.
func (Automatic) Names() []string { return []string{"none", "auto"} }

// UnmarshalText reads a value's name.
func (a *Automatic) UnmarshalText(text []byte) error { return registry.Choose(a, "structure", text) }

// PowerOr implements Structure.
func (Automatic) PowerOr(own float64) float64 { return own }

// Check implements Structure.
func (Automatic) Check([]kernel.Kernel, int, int) error { return nil }

// Rank implements Structure: n if the covariance is a matrix, else 0.
func (Automatic) Rank(n int) int {
	if n <= MostDense {
		return n
	}
	return 0
}

// Width implements Structure.
func (a Automatic) Width(n, _ int) int { return a.Rank(n) }

// Memory implements Structure. It is 0: no fit has this structure.
func (Automatic) Memory(approx.Approximation, approx.Size, int) int64 { return 0 }

func (Automatic) of(*kernel.Inputs, []kernel.Kernel) structure {
	panic("objective: the structure is open")
}
