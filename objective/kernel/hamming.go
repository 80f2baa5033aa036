package kernel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Hamming is the kernel of categories, whose numbers are only compared for equality. With δ_k = 1
// where x_k and x'_k differ, else 0,
//
//	k(x, x') = σ² exp(-Σ_k δ_k/(2l²))    or, with ARD, l_k in place of l.
//
// A large l_k means that column k is of little relevance. It is the squared exponential kernel on
// inputs with a column for every category, which is 1/√2 in that category and else 0. The
// exponential of a weighted Hamming distance is also in Ru et al., Bayesian optimisation over
// multiple continuous and categorical inputs, 2020, and in BoTorch, whose length scales are 2l².
// theta is ln σ, ln l (one, or one for every column).
type Hamming struct {
	ARD         bool          `yaml:"ard"`
	Amplitude   param.Setting `yaml:"amplitude"`
	LengthScale param.Setting `yaml:"length_scale"`
}

func (k Hamming) Settings() []Setting {
	l := lengthScale(k.LengthScale, k.ARD)
	l.Default = 1
	return []Setting{amplitude(k.Amplitude), l}
}

func (k Hamming) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// Memory implements Kernel: nothing is kept.
func (k Hamming) Memory(_, _, _ int) int64 { return 0 }

// differing calls f for every element j of row i of a block, and for every column c in which the
// two cases of the element differ.
func differing(of Block, i int, f func(j, c int)) {
	x, first := of.X.X.RawRowView(i), of.First(i)
	for j := range of.Row(i) {
		for c, v := range of.Z.X.RawRowView(first + j) {
			if v != x[c] {
				f(j, c)
			}
		}
	}
}

func (k Hamming) Fill(dst Block, theta []float64) {
	weights, v := k.weights(theta, dst.X.Dim()), variance(theta[0])
	dst.each(func(i int, row []float64) { k.fill(dst, i, row, weights, v) })
}

// fill sets row to the covariances of row i of a block.
func (k Hamming) fill(of Block, i int, row, weights []float64, variance float64) {
	clear(row)
	differing(of, i, func(j, c int) { row[j] -= weights[c] })
	linalg.Exp(row, row)
	floats.Scale(variance, row)
}

// weights is 1/(2l²) for every column.
func (k Hamming) weights(theta []float64, dim int) []float64 {
	w := inverses(theta[1:], dim)
	for c, v := range w {
		w[c] = v * v / 2
	}
	return w
}

// Pull implements Kernel: with M = G∘K, 2 Σ M for ln σ and Σ M δ_k/l_k² for ln l_k.
func (k Hamming) Pull(grad, theta []float64, own, g Block) {
	d, v := g.X.Dim(), variance(theta[0])
	weights := k.weights(theta, d)
	sums := make([]float64, d+1) // Σ M δ_k, and Σ M
	linalg.SumRows(g.Rows(), sums, func(sums []float64, i0, i1 int) {
		m := make([]float64, len(g.Row(i0)))
		for i := i0; i < i1; i++ {
			gRow := g.Row(i)
			m = m[:len(gRow)]
			if own.known() {
				copy(m, own.Row(i))
			} else {
				k.fill(g, i, m, weights, v)
			}
			floats.Mul(m, gRow)
			for j := range m {
				m[j] *= g.Weight(j)
			}
			sums[d] += floats.Sum(m)
			differing(g, i, func(j, c int) { sums[c] += m[j] })
		}
	})
	grad[0] += 2 * sums[d]
	for c, w := range weights {
		sums[c] *= 2 * w
	}
	fold(grad[1:], sums[:d])
}
