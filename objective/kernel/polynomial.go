package kernel

import "github.com/gpc-tune/gpc-tune/approx/param"

// Polynomial is the inhomogeneous polynomial kernel k(x, x') = σ² (1 + x·x'/d)^p over d input
// columns [GPML section 4.2.2]. The degree p is an option, not a hyperparameter. theta is ln σ.
type Polynomial struct {
	Degree    uint          `yaml:"degree" within:"[1,1000]"` // 0: the default of 2
	Amplitude param.Setting `yaml:"amplitude"`
}

func (k Polynomial) Settings() []Setting         { return []Setting{amplitude(k.Amplitude)} }
func (k Polynomial) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// Memory implements Kernel: the inner products.
func (k Polynomial) Memory(n, m, dim int) int64 { return words(n * n) }

// at is k of the inner product p over dim columns.
func (k Polynomial) at(variance, p float64, dim int) float64 {
	degree := k.Degree
	if degree == 0 {
		degree = 2
	}
	t := 1 + p/float64(dim)
	for ; degree > 0; degree >>= 1 {
		if degree&1 == 1 {
			variance *= t
		}
		t *= t
	}
	return variance
}

func (k Polynomial) Fill(dst Block, theta []float64) {
	products(dst)
	v, dim := variance(theta[0]), dst.X.Dim()
	dst.each(func(_ int, row []float64) {
		for j, p := range row {
			row[j] = k.at(v, p, dim)
		}
	})
}

func (k Polynomial) Pull(grad, theta []float64, own, g Block) {
	grad[0] += 2 * g.total(given(k, theta, own, g))
}
