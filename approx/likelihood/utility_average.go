package likelihood

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// DefaultPoints is the maximum number of lattice points by default, and MostPoints the largest
// number allowed.
const (
	DefaultPoints = 1 << 16
	MostPoints    = 1 << 20
)

const (
	averageTarget   = 1e-5 // the error at which Average stops adding points
	quadratureError = 5e-7 // bound of the errors of tables and of the quadrature of utilityMaximum
)

// average is Polytomous.Average; ofTwo is log p(y = 0|f) of two classes, averaged over f_0 - f_1.
// Let f = mean + √Λ e + u with Λ diagonal, e standard normal and u ~ N(0, R). The average over e is
// an integral in one dimension, utilityMaximum. Only the average over u = A z, A Aᵀ = R, needs
// points: see separate. For posteriors of independent processes R is small; for a diagonal
// covariance, or three classes, it is mostly 0.
//
// If u has one axis, a trapezoidal rule of integrals is used. If the variance of u along every axis
// is at most 8 times the variance of f_c + g_c given u, a sparse grid of integrals averages over u,
// until its error estimate is at most 1e-5. If it is larger, or 8192 integrals do not suffice, a
// lattice averages over u and the largest f_c + g_c, until its estimate is at most 1e-5 or
// DefaultPoints are used. With points > 0 the lattice is always used, with these points, rounded
// down to a multiple of 8, regardless of the estimate. The estimate of the largest error of a
// probability is intended to hold in 95 of 100 cases; mostly the error is much smaller.
//
// The probabilities depend on the arguments only, sum to 1 and are positive. They are NaN if the
// mean or the covariance has an entry that is not finite.
func (noise utilityNoise) average(
	pi, mean []float64, covariance *mat.SymDense, points int, ofTwo func(mean, variance float64) float64,
) (deviation float64) {
	classes := len(mean)
	if covariance.SymmetricDim() != classes || len(pi) != classes {
		n := covariance.SymmetricDim()
		panic(fmt.Sprintf("likelihood: %d probabilities, %d means, covariance %d×%d", len(pi), classes, n, n))
	}
	lambda, a, ok := noise.separate(covariance)
	for _, m := range mean {
		ok = ok && m-m == 0
	}
	switch {
	case !ok:
		for c := range pi {
			pi[c] = math.NaN()
		}
		return math.NaN()
	case classes == 2:
		variance := max(0, covariance.At(0, 0)-covariance.At(0, 1)-covariance.At(0, 1)+covariance.At(1, 1))
		for c := range pi {
			pi[c] = math.Exp(ofTwo(mean[c]-mean[1-c], variance))
		}
		return 0
	}
	g, centre := newUtilityMaximum(noise, mean, lambda), make([]float64, classes)
	defer utilityPool.Put(g)
	g.add(centre, make([]float64, classes))
	switch copy(pi, centre); {
	case a.Cols == 0:
	case points > 0:
		deviation = g.lattice(pi, a, min(points, MostPoints), 0)
	default:
		spread := 0.0 // variance of u along the first axis
		for c := range classes {
			x := a.Data[c*a.Stride] / g.sd[c]
			spread += x * x
		}
		deviation = math.Inf(1)
		const target = averageTarget - quadratureError
		switch {
		case a.Cols == 1:
			deviation = g.line(pi, a, target)
		case spread <= 8:
			deviation = g.sparseGrid(pi, a, target)
		}
		if deviation > target {
			other := make([]float64, classes)
			if d := g.lattice(other, a, DefaultPoints, target); d < deviation {
				deviation = d
				copy(pi, other)
			}
		}
	}
	deviation += quadratureError
	// probabilities of the grid may be negative: then they are moved towards those at the centre,
	// by at most the error estimate
	for c, p := range pi {
		if p < deviation {
			pi[c] = max(p, min(centre[c], p+deviation))
		}
	}
	floats.Scale(1/linalg.Sum(pi), pi)
	return deviation
}

// separate divides a covariance, up to a term common to all classes, into a diagonal Λ and R = A
// Aᵀ. The columns of A are ordered by their size. The unit of an entry is √(λ_c + v), the standard
// deviation of √λ_c e_c + g_c, with v the variance of the noise. Columns with a variance below 1e-7
// are left out. ok is false if the covariance is not finite.
func (noise utilityNoise) separate(covariance *mat.SymDense) (lambda []float64, a blas64.General, ok bool) {
	s, trace, ok := centred(covariance)
	if !ok {
		return nil, a, false
	}
	lambda = noise.diagonalPart(s, trace)
	classes := len(lambda)
	n, mean := float64(classes), floats.Sum(lambda)/float64(classes)
	sd := make([]float64, classes)
	for c, v := range lambda {
		sd[c] = math.Sqrt(v + noise.variance)
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
func (noise utilityNoise) diagonalPart(s *mat.SymDense, trace float64) (lambda []float64) {
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
	whole, own := precision(noise.variance+rounding), precision(rounding)
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
		lambda[c] = max(0, min(1/w[c]-noise.variance, 1/own.At(c, c)))
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
func (noise utilityNoise) maximize(lambda []float64, s *mat.SymDense, trace float64) {
	classes := len(lambda)
	v := func() []float64 { return make([]float64, classes) }
	b := barrier{
		s: s, trace: trace, at: v(), next: v(), weights: v(), inverse: mat.NewSymDense(classes, nil),
		spare: mat.NewSymDense(classes, nil), hessian: mat.NewSymDense(classes, nil),
	}
	for c, v := range lambda {
		b.at[c], b.weights[c] = max(v/2, 1e-6*trace/float64(classes)), 1/(v+noise.variance)
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
