package prior

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

// inducing is a prior of lower rank, determined by m inducing inputs Z,
//
//	K̂ = Q + Λ,   Q = K_xz K_zz⁻¹ K_zx = VᵀV,   K_zz = UᵀU,   V = U⁻ᵀ K_zx,
//	Λ = N + α D,   D = diag(K - Q)
//
// with N the independent noise of every case and α the power of the correction (Quiñonero-Candela &
// Rasmussen 2005; Woodbury's identity). No n×n matrix is formed: computations take O(n m²) time.
type inducing struct {
	u           blas64.Triangular // of K_zz
	v           blas64.General    // V, m×n
	variance    []float64         // K̂_ii
	independent []float64         // Λ
	residual    []float64         // D
	power       float64           // α
	jitter      float64           // added to the diagonal of K_zz
	white       bool              // K_zz is the identity, and so is U
	// the inducing input with the largest prior variance, the unit of the jitter
	widest int
}

// leastShare is the smallest squared pivot of K_zz, relative to its largest diagonal entry, with
// which it is factored unchanged. If a pivot is smaller, that fraction of the entry is added to the
// diagonal: solves with U then keep half of the digits. The addition becomes part of the model: the
// inducing variables are noisy values of the process.
const leastShare = 1e-8

// newInducing factors K_zz and computes V. Case i is the mean of count[i] copies; nil: 1 each.
func newInducing(work *Work, cov Cov, n int, power float64, count []float64) (*inducing, error) {
	if err := cov.checkInducing(n); err != nil {
		return nil, err
	}
	m, vector := cov.K.SymmetricDim(), func() []float64 { return make([]float64, n) }
	p := &inducing{variance: vector(), independent: vector(), residual: vector(), power: power}
	if p.v = cov.Cross.RawMatrix(); !cov.Scratch {
		p.v = work.General(m, n)
	}
	if err := p.factorInducing(cov.K.RawSymmetric()); err != nil {
		return nil, err
	}
	eachPart(n, casesAtOnce, func(j0, j1 int) {
		part := columns(p.v, j0, j1)
		if !cov.Scratch {
			scaleColumns(part, columns(cov.Cross.RawMatrix(), j0, j1), nil)
		}
		if !p.white {
			linalg.SolveTri(blas.Trans, p.u, part)
		}
		q := p.residual[j0:j1]
		clear(q)
		linalg.AddSquares(1, part, q)
	})
	if err := p.checkCross(p.residual); err != nil {
		return nil, err
	}
	for i, explained := range p.residual {
		d := max(cov.Diag[i]-explained, 0) // which only rounding takes below
		p.residual[i] = d
		p.independent[i] = power * d
		if cov.Noise != nil {
			p.independent[i] += cov.Noise[i]
		}
		if count != nil {
			p.independent[i] /= count[i]
		}
		p.variance[i] = cov.Diag[i] - d + p.independent[i]
	}
	return p, nil
}

// leading is the prior with only the first r inducing inputs, in the same memory: the variance
// explained by the others becomes independent variance of each case, in addition to Λ.
func (p *inducing) leading(r int) *inducing {
	own := slices.Clone(p.independent)
	linalg.AddSquares(1, rows(p.v, r, p.points()), own)
	return &inducing{v: rows(p.v, 0, r), variance: p.variance, independent: own, residual: p.residual, power: p.power}
}

// factorInducing sets U, with as much jitter as necessary.
func (p *inducing) factorInducing(k blas64.Symmetric) error {
	m := k.N
	p.white = true
	for j := range m {
		row := k.Data[j*k.Stride+j : j*k.Stride+m]
		if row[0] > k.Data[p.widest*(k.Stride+1)] {
			p.widest = j
		}
		p.white = p.white && row[0] == 1 && !slices.ContainsFunc(row[1:], func(v float64) bool { return v != 0 })
	}
	least := leastShare * k.Data[p.widest*k.Stride+p.widest]
	for _, p.jitter = range []float64{0, least} {
		a := linalg.NewSym(m)
		for j := range m {
			copy(a.Data[j*a.Stride+j:(j+1)*a.Stride], k.Data[j*k.Stride+j:j*k.Stride+m])
			a.Data[j*a.Stride+j] += p.jitter
		}
		var ok bool
		if p.u, ok = linalg.Cholesky(a); ok && (p.jitter > 0 || leastPivot(p.u) >= least) {
			return nil
		}
	}
	return fmt.Errorf("%w: the covariance of %d inducing inputs, with variances up to %.3g; standardise the inputs "+
		"or lower the amplitude", ErrNotPositiveDefinite, m, least/leastShare)
}

// checkCross returns an error if K_zx had a number that is not finite, given |v|² of all columns of
// V. Such a number makes its column of V not finite from its own row on.
func (p *inducing) checkCross(squares []float64) error {
	if linalg.AllFinite(squares) {
		return nil
	}
	for k := range p.v.Rows {
		row := p.v.Data[k*p.v.Stride : k*p.v.Stride+p.v.Cols]
		if i := slices.IndexFunc(row, func(v float64) bool { return !finite(v) }); i >= 0 {
			return fmt.Errorf("%w: the covariance of inducing input %d and case %d is %v; an input or a "+
				"hyperparameter is out of range", ErrNotPositiveDefinite, k, i, row[i])
		}
	}
	return nil // the squares overflow
}

// cases is the number of cases, n, and points the number of inducing inputs, m.
func (p *inducing) cases() int  { return len(p.variance) }
func (p *inducing) points() int { return p.v.Rows }

func (p *inducing) Describe() (jitter, unexplained float64) {
	left, all := floats.Sum(p.residual), 0.0
	for i, v := range p.variance {
		all += v - p.independent[i] + p.residual[i]
	}
	if all > 0 {
		unexplained = left / all
	}
	return p.jitter, unexplained
}

// These implement Correction.
func (p *inducing) Power() float64                 { return p.power }
func (p *inducing) ResidualVariance(i int) float64 { return p.residual[i] }

// These implement Prior.
func (p *inducing) Variance(i int) float64   { return p.variance[i] }
func (p *inducing) LargestVariance() float64 { return max(0, slices.Max(p.variance)) }
func (p *inducing) Rank() int                { return p.cases() }

// project sets dst = V x, and lift adds c Vᵀ y to dst.
func (p *inducing) project(dst, x []float64) { linalg.Gemv(blas.NoTrans, 1, p.v, x, 0, dst) }
func (p *inducing) lift(dst []float64, c float64, y []float64) {
	linalg.Gemv(blas.Trans, c, p.v, y, 1, dst)
}

func (p *inducing) Multiply(dst, x []float64) {
	y := make([]float64, p.points())
	p.project(y, x)
	floats.MulTo(dst, p.independent, x)
	p.lift(dst, 1, y)
}

// whiten returns w = U⁻ᵀ K(Z, x*) for new inputs, whose covariance with the cases is wᵀV.
func (p *inducing) whiten(cross *mat.Dense, diag []float64) blas64.General {
	m, k := cross.Dims()
	if m != p.points() || len(diag) != k {
		panic(fmt.Sprintf("prior: cross is %d×%d and diag has %d entries, want %d×m and m",
			m, k, len(diag), p.points()))
	}
	w := linalg.NewGeneral(m, k)
	scaleColumns(w, cross.RawMatrix(), nil)
	linalg.SolveTri(blas.Trans, p.u, w)
	return w
}

func (p *inducing) Penalty(i int, tau float64) float64 {
	d := p.residual[i]
	if p.power < leastPower {
		return (1 - p.power) / 2 * d * tau
	}
	return (1 - p.power) / (2 * p.power) * math.Log1p(p.power*d*tau)
}

// leastPower is the α below which the first term of a series in α is exact in double precision.
const leastPower = 1e-6

func (p *inducing) PenaltySlope(i int, tau float64) float64 {
	return (1 - p.power) / 2 / (1 + p.power*p.residual[i]*tau)
}
