package kernel

import "github.com/gpc-tune/gpc-tune/approx/param"

// Noise is the kernel k(x_i, x_j) = σ² δ_ij of white noise, δ_ij = 1 for the same row of the same
// set: cases with equal inputs have independent noise, and so has a test case. So it is on the
// diagonal of Gram, in Diag, and nothing in Cross. theta is ln σ.
type Noise struct {
	Amplitude param.Setting `yaml:"amplitude"`
}

func (k Noise) Settings() []Setting         { return []Setting{amplitude(k.Amplitude)} }
func (k Noise) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }
func (k Noise) Memory(n, m, dim int) int64  { return 0 }
func (k Noise) white()                      {}

func (k Noise) Fill(dst Block, theta []float64) {
	v := variance(theta[0])
	dst.each(func(_ int, row []float64) {
		clear(row)
		if dst.noisy() {
			row[0] = v
		}
	})
}

func (k Noise) Pull(grad, theta []float64, _, g Block) {
	if !g.noisy() {
		return
	}
	v := variance(theta[0])
	for i := range g.Rows() {
		grad[0] += 2 * v * g.Row(i)[0]
	}
}
