package utility

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// separate divides a covariance, up to a term common to all classes, into a diagonal Λ and R = A
// Aᵀ. The columns of A are ordered by their size. The unit of an entry is √(λ_c + v), the standard
// deviation of √λ_c e_c + g_c, with v the variance of the noise. Columns with a variance below 1e-7
// are left out. ok is false if the covariance is not finite.
func (noise Noise) separate(covariance *mat.SymDense) (lambda []float64, a blas64.General, ok bool) {
	s, trace, ok := centred(covariance)
	if !ok {
		return nil, a, false
	}
	lambda = noise.diagonalPart(s, trace)
	classes := len(lambda)
	n, mean := float64(classes), floats.Sum(lambda)/float64(classes)
	sd := make([]float64, classes)
	for c, v := range lambda {
		sd[c] = math.Sqrt(v + noise.Variance)
	}
	var e mat.EigenSym
	rest := symmetric(classes, func(c, d int) float64 { // S - HΛH
		v := s.At(c, d) + (lambda[c]+lambda[d]-mean)/n
		if c == d {
			v -= lambda[c]
		}
		return v / sd[c] / sd[d]
	})
	if !e.Factorize(rest, true) {
		return nil, a, false
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values, columns := e.Values(nil), 0
	for columns < classes-1 && values[classes-1-columns] > 1e-7 {
		columns++
	}
	a = linalg.NewGeneral(classes, columns)
	for j := range columns {
		root := math.Sqrt(values[classes-1-j])
		for c := range classes {
			a.Data[c*columns+j] = sd[c] * root * vectors.At(c, classes-1-j)
		}
	}
	return lambda, a, true
}

// centred is S = H Σ H, H = I - 11ᵀ/C, with its trace; ok is false if it is not finite. It is
// computed from the covariance of f_c - f_r, because the term common to all classes may be larger
// by orders of magnitude.
func centred(covariance *mat.SymDense) (s *mat.SymDense, trace float64, ok bool) {
	classes, r := covariance.SymmetricDim(), 0
	n := float64(classes)
	for c := range classes {
		if covariance.At(c, c) < covariance.At(r, r) {
			r = c
		}
	}
	difference := func(i, j int) float64 {
		return covariance.At(i, j) - covariance.At(i, r) - covariance.At(j, r) + covariance.At(r, r)
	}
	means, all := make([]float64, classes), 0.0
	for c := range means {
		for d := range means {
			means[c] += difference(c, d) / n
		}
		all += means[c] / n
	}
	s = symmetric(classes, func(c, d int) float64 { return difference(c, d) - means[c] - means[d] + all })
	for c := range classes {
		trace += max(s.At(c, c), 0)
		if v := s.At(c, c); v-v != 0 {
			return nil, 0, false
		}
	}
	return s, trace, trace-trace == 0
}

// diagonalPart is Λ. Up to a term common to all, the precision of independent values with variances
// 1/w_c has the diagonal w_c - w_c²/Σw. Λ + v has the w for which this is the diagonal of the
// precision of f + g. Λ is then scaled down if necessary, so that R has no negative eigenvalue, and
// then increased as far as that allows: see maximize.
func (noise Noise) diagonalPart(s *mat.SymDense, trace float64) (lambda []float64) {
	classes := s.SymmetricDim()
	n := float64(classes)
	lambda = make([]float64, classes)
	// precision is the inverse of S + v I on vectors with sum zero; nil if it is not definite.
	precision := func(v float64) *mat.SymDense {
		x := symmetric(classes, func(c, d int) float64 {
			if c == d {
				return s.At(c, d) + (trace+v)/n + v
			}
			return s.At(c, d) + (trace+v)/n
		})
		if !invert(x, 1/(n*(trace+2*v))) {
			return nil
		}
		return x
	}
	rounding := 1e-12*trace + 1e-10
	whole, own := precision(noise.Variance+rounding), precision(rounding)
	if whole == nil || own == nil {
		return lambda
	}
	w := make([]float64, classes)
	for c := range w {
		w[c] = whole.At(c, c)
	}
	for range 60 {
		total := floats.Sum(w)
		for c := range w {
			w[c] = (w[c] + whole.At(c, c)/max(1-w[c]/total, 1e-3)) / 2
		}
	}
	for c := range lambda {
		lambda[c] = max(0, min(1/w[c]-noise.Variance, 1/own.At(c, c)))
	}
	var e mat.EigenSym
	scaled := symmetric(classes, func(c, d int) float64 {
		return math.Sqrt(lambda[c]) * own.At(c, d) * math.Sqrt(lambda[d])
	})
	if !e.Factorize(scaled, false) {
		clear(lambda)
	} else if top := e.Values(nil)[classes-1]; top > 1 {
		floats.Scale(1/top, lambda)
	}
	noise.maximize(lambda, s, trace)
	return lambda
}

// invert replaces x by its inverse minus the term common to all entries. It returns false, with x
// undefined, if x is not definite up to rounding.
func invert(x *mat.SymDense, common float64) bool {
	u, ok := factor(x)
	if !ok {
		return false
	}
	inverse := linalg.InverseCholesky(u)
	fill(x, func(c, d int) float64 { return inverse.Data[c*u.Stride+d] - common })
	return true
}

// factor is the Cholesky factor of x, in place. ok is false if x is not definite up to rounding.
func factor(x *mat.SymDense) (u blas64.Triangular, ok bool) {
	u, ok = linalg.Cholesky(x.RawSymmetric())
	least, most := math.Inf(1), 0.0
	for i := range u.N {
		v := u.Data[i*(u.Stride+1)]
		least, most = min(least, v), max(most, v)
	}
	return u, ok && most < 1e8*least
}

// maximize changes lambda, given values λ⁰ that leave S - HΛH without negative eigenvalues, to the
// λ >= 0 with the largest Σ λ_c/(λ⁰_c + v) that do so too: weighted minimum-trace factor
// analysis (Bentler 1972), by Newton's method with a logarithmic barrier. If S is a diagonal plus a
// few factors, the remainder is mostly those factors. It changes nothing if S is nearly singular.
func (noise Noise) maximize(lambda []float64, s *mat.SymDense, trace float64) {
	classes := len(lambda)
	v := func() []float64 { return make([]float64, classes) }
	b := barrier{
		s: s, trace: trace, at: v(), next: v(), weights: v(), inverse: mat.NewSymDense(classes, nil),
		spare: mat.NewSymDense(classes, nil), hessian: mat.NewSymDense(classes, nil),
	}
	for c, v := range lambda {
		b.at[c], b.weights[c] = max(v/2, 1e-6*trace/float64(classes)), 1/(v+noise.Variance)
	}
	if !b.rest(b.inverse, b.at) {
		return
	}
	for height := 0.1; height > 1e-10; height /= 4 {
		for range 3 {
			if !b.step(height) {
				break
			}
		}
	}
	copy(lambda, b.at)
}

// barrier is the state of maximize.
type barrier struct {
	s           *mat.SymDense
	trace       float64
	at, weights []float64
	inverse     *mat.SymDense // rest(at)

	next           []float64 // temporary, as all below
	spare, hessian *mat.SymDense
}

// rest sets dst to the inverse of S - HΛH on vectors with sum zero, and reports whether it exists.
func (b *barrier) rest(dst *mat.SymDense, lambda []float64) bool {
	classes := len(lambda)
	n, s := float64(classes), b.s.RawSymmetric().Data
	mean := floats.Sum(lambda) / n
	fill(dst, func(c, d int) float64 {
		v := s[c*classes+d] + (lambda[c]+lambda[d]-mean+b.trace)/n
		if c == d {
			v -= lambda[c]
		}
		return v
	})
	return invert(dst, 1/(n*b.trace))
}

// step is a Newton step with this barrier height; it reports whether another is worthwhile.
func (b *barrier) step(height float64) bool {
	classes, inverse := len(b.at), b.inverse.RawSymmetric().Data
	fill(b.hessian, func(c, d int) float64 {
		v := inverse[c*classes+d] * inverse[c*classes+d]
		if c == d {
			v += 1 / (b.at[c] * b.at[c])
		}
		return v
	})
	gradient := make([]float64, classes)
	for c, v := range b.at {
		gradient[c] = b.weights[c]/height - inverse[c*(classes+1)] + 1/v
	}
	u, ok := factor(b.hessian)
	if !ok {
		return false
	}
	step := slices.Clone(gradient)
	linalg.SolveTriVec(blas.Trans, u, step)
	linalg.SolveTriVec(blas.NoTrans, u, step)
	for scale := 1.0; scale > 1e-6; scale /= 2 {
		floats.AddScaledTo(b.next, b.at, scale, step)
		if floats.Min(b.next) > 0 && b.rest(b.spare, b.next) {
			b.at, b.next, b.inverse, b.spare = b.next, b.at, b.spare, b.inverse
			return !(floats.Dot(step, gradient) < 0.1)
		}
	}
	return false
}

func symmetric(n int, at func(i, j int) float64) *mat.SymDense {
	s := mat.NewSymDense(n, nil)
	fill(s, at)
	return s
}

// fill sets the entries of s.
func fill(s *mat.SymDense, at func(i, j int) float64) {
	raw := s.RawSymmetric()
	for i := range raw.N {
		row := raw.Data[i*raw.Stride : i*raw.Stride+raw.N]
		for j := i; j < len(row); j++ {
			row[j] = at(i, j)
		}
	}
}
