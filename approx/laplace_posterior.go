package approx

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// laplacePosterior is the posterior of Laplace's method with one latent process.
type laplacePosterior struct {
	*sites
	modeModel
	mode   *point
	moving *sites // for derivatives of the mode: -∂²log p(y|f)/∂f² instead of W
}

func newLaplacePosterior(
	work *Work, tolerance float64, cov []Cov, y Targets, lik likelihood.Bound,
) (*laplacePosterior, error) {
	s, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	s.work = work
	return &laplacePosterior{sites: s, modeModel: newModeModel(s.cases, s, lik, tolerance)}, nil
}

// part is the model of every third case; it provides a start. Its matrices, of m ≤ n/3 cases, are
// stored below the diagonal of the factor of all: K in the last m rows and its own factor in m rows
// above them, both in the first m columns.
func (p *laplacePosterior) part() (latentModel, []int) {
	cases := everyThird(len(p.y))
	if cases == nil {
		return nil, nil
	}
	p.room()
	n, m := len(p.y), len(cases)
	block := func(row int) blas64.General {
		return blas64.General{Rows: m, Cols: m, Stride: p.u.Stride, Data: p.u.Data[row*p.u.Stride:]}
	}
	mean, y := make([]float64, m), make([]float64, m)
	for a, i := range cases {
		mean[a], y[a] = p.mean[i], p.y[i]
	}
	prior := []Cov{{K: principal(block(n-m), p.k, cases), Mean: mean}}
	part, err := newLaplacePosterior(nil, 1, prior, Targets{Classes: 2, Value: y}, p.lik)
	if err != nil {
		return nil, nil
	}
	part.model, part.u = p.model, upper(block(n-2*m))
	return part, cases
}

// everyThird lists every third case, nil if there are too few.
func everyThird(n int) (cases []int) {
	if n < 150 {
		return nil
	}
	for i := 2; i < n; i += 3 {
		cases = append(cases, i)
	}
	return cases
}

// principal sets dst to the submatrix of some cases, in ascending order.
func principal(dst blas64.General, k blas64.Symmetric, cases []int) *mat.SymDense {
	n := len(cases)
	linalg.Rows(n, func(a0, a1 int) {
		for a := a0; a < a1; a++ {
			from, to := k.Data[cases[a]*k.Stride:], dst.Data[a*dst.Stride+a:a*dst.Stride+n]
			for b, j := range cases[a:] {
				to[b] = from[j]
			}
		}
	})
	var s mat.SymDense
	s.SetRawSymmetric(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: dst.Stride, Data: dst.Data})
	return &s
}

// finish makes the posterior at a point, given the length of the Newton step there. W and the
// factor of B must be those of the point, so that everything belongs to the same f.
func (p *laplacePosterior) finish(at *point, length float64, iterations int) (Posterior, error) {
	// At the mode a = g. Numerically, a is more accurate in the directions that K magnifies, and g
	// in those that K suppresses; one more Newton step of a combines both.
	for i, d := range at.delta {
		p.b[i] = at.a[i] + d
	}
	p.mode, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	p.evidence = functional{value: at.psi - linalg.LogDet(p.u), adjoint: func(dst *Cov) { p.adjoint(dst, at) },
		likelihood: p.likelihoodGradient(at)}
	p.evidence.err = p.move(at)
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding, floors: at.floors}, target)
}

// move fills p.moving. At the mode the gradient of Ψ is 0, independently of W, so that a change of
// ∇log p by δ moves it by (K⁻¹ - ∂²log p/∂f²)⁻¹ δ. If that matrix is not positive definite, the
// point is not a mode, and there is no gradient.
func (p *laplacePosterior) move(at *point) error {
	p.moving = p.sites
	if at.floors == 0 {
		return nil
	}
	p.moving = &sites{cases: &cases{mean: p.mean, y: p.y, lik: p.lik, b: p.b}, k: p.k, root: make([]float64, len(p.y))}
	if err := p.moving.factorise(at.concave); err != nil {
		return fmt.Errorf("%w: with %d of the likelihood's curvatures below 0 laplace ended where the posterior "+
			"density has no maximum", ErrNoGradient, at.floors)
	}
	return nil
}

// adjoint sets dst to GPML (5.20)-(5.24) as a weight on dK and on dm: the mode moves with both.
//
//	G = ½ g gᵀ - ½ R + ½ (u gᵀ + g uᵀ),   ∂L/∂m = g + u
func (p *laplacePosterior) adjoint(dst *Cov, at *point) {
	n := len(p.y)
	u, _, _ := p.implicit(dst.K, at)
	raw := dst.K.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			g, ui, si := p.b[i], u[i], p.root[i]
			row, b, u, root := raw.Data[i*raw.Stride+i:i*raw.Stride+n], p.b[i:n], u[i:n], p.root[i:n]
			for j, r := range row {
				row[j] = (g*b[j] - r*(si*root[j]) + ui*b[j] + g*u[j]) / 2
			}
		}
	})
	for i, g := range p.b {
		if dst.Mean != nil {
			dst.Mean[i] = g + u[i]
		}
	}
}

// implicit computes what derivatives need at the mode: it sets inverse to B⁻¹, and returns the
// Σ_ii, 0 where W_i is 0, and
//
//	u = (I + W K)⁻¹ s,   s_i = ∂(-½ log|B|)/∂f_i = ½ Σ_ii ∂³log p(y_i|f_i)/∂f³
//
// with Σ s = K u, so that a change of ∇log p by δ moves the mode by Σ δ and L by (K u)ᵀδ. A W_i
// that was floored stays 0, and so does s_i; in W K and Σ, which determine how the mode moves, it
// is below 0.
func (p *laplacePosterior) implicit(inverse *mat.SymDense, at *point) (u, ku, variance []float64) {
	n := len(p.y)
	u, ku, variance = make([]float64, n), make([]float64, n), make([]float64, n)
	p.inverseTo(inverse)
	for i, w := range at.w {
		// W_i Σ_ii = 1 - [B⁻¹]_ii. The error of the quotient grows as W_i falls, but the third
		// derivative falls with it.
		if variance[i] = 1 - inverse.At(i, i); w > 0 {
			variance[i] /= w
		}
		u[i] = variance[i] / 2 * at.d3[i]
	}
	p.multiply(ku, u)
	p.moving.shrink(u, u, ku)
	p.multiply(ku, u)
	return u, ku, variance
}

// likelihoodGradient returns the function that adds ∂L/∂θ for the likelihood's parameters: of log
// p, of -½ log|B| through W, and through the mode.
func (p *laplacePosterior) likelihoodGradient(at *point) func(grad []float64) {
	return p.byParameters(at, func() (ku, variance []float64) {
		_, ku, variance = p.implicit(mat.NewSymDense(len(p.y), nil), at)
		return ku, variance
	})
}
