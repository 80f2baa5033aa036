package likelihood

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Softmax is p(y = c|f) = exp(f_c)/Σ_d exp(f_d) for C latent values f, the multiple logistic [GPML (3.34)]. It has no
// parameters. A number added to every f_c changes nothing.
type Softmax struct{}

var _ Multinomial = Softmax{}

func (Softmax) Domain() Domain         { return Categorical }
func (Softmax) Params() []param.Spec   { return nil }
func (Softmax) At([]float64) Bound     { return Softmax{} }
func (Softmax) Likelihood() Likelihood { return Softmax{} }

// Probabilities sets pi to the softmax of f and g to the derivatives of log p(y|f), and returns that. What is close to 0
// is right to its last places, g[y] = 1 - pi[y] and log p included.
func (Softmax) Probabilities(pi, g, f []float64, y int) (logp float64) {
	top := 0
	for c, v := range f {
		if v > f[top] {
			top = c
		}
	}
	rest := 0.0 // Σ exp(f_c - f_top) over the others
	for c, v := range f {
		pi[c] = math.Exp(v - f[top])
		if c != top {
			rest += pi[c]
		}
	}
	others := 0.0
	for c := range f {
		pi[c] /= 1 + rest
		g[c] = -pi[c]
		if c != y {
			others += pi[c]
		}
	}
	g[y] = others
	return floor(f[y] - f[top] - math.Log1p(rest))
}

// Average sets pi to E[p(y = c|f)] for f ~ N(mean, covariance). A number added to every f_c changes nothing, so only the
// covariance of their differences matters. z holds N points in as many dimensions as there are differences, C-1, that
// represent a standard normal distribution; any first part of them must do so too. Each point fixes all f but one, and
// the average over that one has a closed form nearly (Logit.LogZ):
//
//	E[p(y = c|f)] = E[ E[σ(f_c - log Σ_{d≠c} exp f_d) | f_d, d ≠ c] ]
//
// Points are added, twice as many each time, until pi changes by less than 2.5e-5 or all are used.
func (Softmax) Average(pi, mean []float64, covariance *mat.SymDense, z blas64.General) {
	classes := len(mean)
	if covariance.SymmetricDim() != classes || len(pi) != classes || z.Rows != classes-1 {
		panic(fmt.Sprintf("likelihood: %d probabilities, %d means, covariance %d×%d, points in %d dimensions", len(pi), classes, covariance.SymmetricDim(), covariance.SymmetricDim(), z.Rows))
	}
	spread, given, variance := conditionals(covariance)
	tables := make([]logisticNormalTable, classes)
	for c, v := range variance {
		tables[c] = tabulate(v)
	}
	const block = 256
	f, m := linalg.NewGeneral(classes, block), linalg.NewGeneral(classes, block)
	first, second, ratio, total := make([]float64, block), make([]float64, block), make([]float64, block), make([]float64, block)
	largest := make([]int, block)
	sum, last := make([]float64, classes), make([]float64, classes)
	for k, check := 0, 8*block; k < z.Cols; k += block {
		n := min(block, z.Cols-k)
		points := blas64.General{Rows: z.Rows, Cols: n, Stride: z.Stride, Data: z.Data[k:]}
		row := func(a blas64.General, c int) []float64 { return a.Data[c*block : c*block+n] }
		for c, v := range mean {
			for j := range n {
				row(f, c)[j], row(m, c)[j] = v, v
			}
		}
		f.Cols, m.Cols = n, n
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, spread, points, 1, f) // samples of f, and of E[f_c | f_d, d ≠ c]
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, given, points, 1, m)

		// With f_a the largest and f_b the second, Σ_{d≠c} exp f_d = exp f_a (1 + exp(f_b - f_a) Σ_{d≠a,c} exp(f_d - f_b)) for
		// c ≠ a, and exp f_b Σ_{d≠a} exp(f_d - f_b) for c = a. f_a, above f_b, is replaced by f_b and then taken off.
		for j := range n {
			first[j], second[j] = math.Inf(-1), math.Inf(-1)
		}
		for c := range classes {
			for j, v := range row(f, c) {
				switch {
				case v > first[j]:
					largest[j], first[j], second[j] = c, v, first[j]
				case v > second[j]:
					second[j] = v
				}
			}
		}
		for j := range n {
			ratio[j], total[j] = second[j]-first[j], -1
		}
		linalg.Exp(ratio[:n], ratio[:n])
		for c := range classes {
			e := row(f, c)
			for j, v := range e {
				e[j] = min(v-second[j], 0)
			}
			linalg.Exp(e, e)
			for j, v := range e {
				total[j] += v
			}
		}
		for c := range classes {
			e, table := row(f, c), &tables[c]
			for j, v := range row(m, c) {
				base, others := first[j], 1+ratio[j]*(total[j]-e[j])
				if c == largest[j] {
					base, others = second[j], total[j]
				}
				sum[c] += table.at(v - base - math.Log(others))
			}
		}
		if k+n == check || k+n == z.Cols {
			all, change := floats.Sum(sum), 0.0
			for c, v := range sum {
				pi[c] = v / all
				change = max(change, math.Abs(pi[c]-last[c]))
			}
			if change < 2.5e-5 {
				return
			}
			copy(last, pi)
			check *= 2
		}
	}
}

// conditionals expresses f up to a common term, which does not matter, by a vector z of C-1 independent standard normals:
// f - mean = A z, while E[f_c | f_d, d ≠ c] - mean_c = (M z)_c, and the variance of f_c is then v_c.
//
// With r a class of least variance, T the covariance of the differences h_c = f_c - f_r and T = L Lᵀ, A is L with a row of
// zeros for r. The precision of f, up to the common term, has T⁻¹ in the rows of the others and maps A z to G z,
// G = L⁻ᵀ with a row for r that makes the columns sum to zero. So v_c = 1/|G_c|² and M_c = A_c - v_c G_c.
func conditionals(covariance *mat.SymDense) (a, m blas64.General, v []float64) {
	classes := covariance.SymmetricDim()
	order := make([]int, classes) // of decreasing variance given those before; last comes r
	r := 0
	for c := range order {
		order[c] = c
		if covariance.At(c, c) < covariance.At(r, r) {
			r = c
		}
	}
	d := classes - 1
	order[r], order[d] = d, r
	t := func(i, j int) float64 {
		return covariance.At(order[i], order[j]) - covariance.At(order[i], r) - covariance.At(order[j], r) + covariance.At(r, r)
	}
	l := linalg.NewGeneral(d, d)
	rest := make([]float64, d) // variances given those before
	for i := range rest {
		rest[i] = t(i, i)
	}
	for p := range d {
		q := p
		for i := p; i < d; i++ {
			if rest[i] > rest[q] {
				q = i
			}
		}
		order[p], order[q], rest[p], rest[q] = order[q], order[p], rest[q], rest[p]
		for j := range p {
			l.Data[p*d+j], l.Data[q*d+j] = l.Data[q*d+j], l.Data[p*d+j]
		}
		// What is below rounding error is one with the others; a variance of 1e-20 changes nothing.
		pivot := math.Sqrt(max(rest[p], 1e-15*t(p, p), 1e-20))
		l.Data[p*d+p] = pivot
		for i := p + 1; i < d; i++ {
			x := t(i, p)
			for j := range p {
				x -= l.Data[i*d+j] * l.Data[p*d+j]
			}
			l.Data[i*d+p] = x / pivot
			rest[i] -= l.Data[i*d+p] * l.Data[i*d+p]
		}
	}
	inverse := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: d, Stride: d, Data: make([]float64, d*d)}
	for i := range d {
		for j := range i + 1 {
			inverse.Data[j*d+i] = l.Data[i*d+j]
		}
	}
	linalg.InverseTri(inverse) // L⁻ᵀ
	a, m, v = linalg.NewGeneral(classes, d), linalg.NewGeneral(classes, d), make([]float64, classes)
	g := linalg.NewGeneral(classes, d)
	row := func(x blas64.General, c int) []float64 { return x.Data[c*d : (c+1)*d] }
	for i, c := range order[:d] {
		copy(row(a, c), l.Data[i*d:i*d+i+1])
		copy(row(g, c)[i:], inverse.Data[i*d+i:(i+1)*d])
		floats.Sub(row(g, r), row(g, c))
	}
	for c := range classes {
		v[c] = 1 / floats.Dot(row(g, c), row(g, c))
		floats.AddScaledTo(row(m, c), row(a, c), -v[c], row(g, c))
	}
	return a, m, v
}

// logisticNormalTable interpolates Z(a) = E[σ(a + √v x)], x ~ N(0, 1), to about 1e-6: by a cubic polynomial in each
// interval, that has the values and slopes of Z at its ends.
type logisticNormalTable struct {
	from, density float64 // where the first interval begins, intervals per unit
	cubic         [][4]float64
}

func tabulate(v float64) logisticNormalTable {
	s := math.Sqrt(v + 3) // about the standard deviation of the distribution function Z
	step := s / 6
	half := int((16 + 5.3*s) / step)
	t := logisticNormalTable{from: -float64(half) * step, density: 1 / step, cubic: make([][4]float64, 2*half)}
	z0, slope0 := 0.5, 0.0
	for i := range half + 1 {
		logZ, d, _ := Logit{}.LogZ(1, float64(i)*step, v)
		z1 := math.Exp(logZ)
		slope1 := z1 * d * step
		if i > 0 {
			rise := z1 - z0
			c2, c3 := 3*rise-2*slope0-slope1, slope0+slope1-2*rise
			t.cubic[half+i-1] = [4]float64{z0, slope0, c2, c3}
			t.cubic[half-i] = [4]float64{1 - z1, slope1, 3*rise - 2*slope1 - slope0, c3} // Z(-a) = 1 - Z(a)
		}
		z0, slope0 = z1, slope1
	}
	return t
}

func (t *logisticNormalTable) at(a float64) float64 {
	x := (a - t.from) * t.density
	i := 0
	switch last := len(t.cubic) - 1; {
	case x >= float64(last):
		i, x = last, min(x, float64(last+1))
	case x > 0:
		i = int(x)
	default:
		x = 0
	}
	x -= float64(i)
	c := &t.cubic[i]
	return c[0] + x*(c[1]+x*(c[2]+x*c[3]))
}
