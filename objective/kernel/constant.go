package kernel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Constant is the kernel k(x, x') = σ² [GPML table 4.1], an unknown offset of the latent function.
// theta is ln σ.
type Constant struct {
	Amplitude param.Setting `yaml:"amplitude"`
}

func (k Constant) Settings() []Setting         { return []Setting{amplitude(k.Amplitude)} }
func (k Constant) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }
func (k Constant) Memory(n, m, dim int) int64  { return 0 }

func (k Constant) Fill(dst Block, theta []float64) {
	v := variance(theta[0])
	dst.each(func(_ int, row []float64) {
		for j := range row {
			row[j] = v
		}
	})
}

func (k Constant) Pull(grad, theta []float64, _, g Block) {
	rows, _ := g.sums()
	grad[0] += 2 * variance(theta[0]) * floats.Sum(rows)
}
