package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// condenser posteriors have inducing inputs, and predict from numbers whose count does not depend
// on that of the cases.
type condenser interface{ condense() (State, bool) }

// Condense returns what predictions need of a posterior with m inducing inputs beside their
// covariance: for every latent process the weights K_zz⁻¹ E[f_z], and the factor U_M, row by row,
// m (m+3)/2 numbers (see lowRank). false: the posterior needs its cases.
func Condense(p Posterior) (s State, ok bool) {
	if c, is := p.(condenser); is {
		return c.condense()
	}
	return nil, false
}

func (p *inducedLaplace) condense() (State, bool) { return p.told(p.b).numbers(), true }
func (p *inducedSites) condense() (State, bool)   { return p.told(p.b).numbers(), true }

func (p *oneVsRest) condense() (s State, ok bool) {
	for _, c := range p.classes {
		own, is := Condense(c)
		if !is {
			return nil, false
		}
		s = append(append(s, float64(len(own))), own...)
	}
	return s, true
}

// Expand rebuilds, for predictions alone, the posterior of m that Condense made s of: they are the
// same to the last bit. Of cov only K is read. The evidence is NaN.
func Expand(m Approximation, cov []Cov, classes int, lik likelihood.Bound, s State) (Posterior, error) {
	if o, is := m.(OneVsRest); is {
		return o.each(cov, Targets{Classes: classes}, s, func(cov []Cov, _ Targets, s State) (Posterior, error) {
			return Expand(o.Binary, cov, 2, lik, s)
		})
	}
	told, err := toldBy(cov[0].K, s)
	if err != nil {
		return nil, err
	}
	p := &condensed{told: told, lik: lik.(likelihood.MomentMatcher)}
	p.state, p.diagnostics.Converged = s, true
	p.evidence = functional{value: math.NaN(), err: fmt.Errorf("%w: the training cases are not known", ErrNoEvidence)}
	return p, nil
}

// condensed is a posterior of one latent process whose cases are not known.
type condensed struct {
	told
	lik likelihood.MomentMatcher
	outcome
}

// Latent implements Posterior.
func (p *condensed) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, _ int) {
	p.latent(mean, variance, cross, diag)
}

// PredictProba implements Posterior.
func (p *condensed) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageTwoClasses(p, p.lik, dst, cross, diag, mean)
}

// numbers are w and then the rows of U_M.
func (t told) numbers() State {
	m := len(t.weights)
	s := append(make(State, 0, m*(m+3)/2), t.weights...)
	for i := range m {
		s = append(s, t.um.Data[i*t.um.Stride+i:i*t.um.Stride+m]...)
	}
	return s
}

// toldBy reads numbers, given K_zz.
func toldBy(k *mat.SymDense, s State) (t told, err error) {
	m := k.SymmetricDim()
	if len(s) != m*(m+3)/2 {
		return t, fmt.Errorf("a state of %d numbers for %d inducing inputs, want %d; it belongs to other inputs or "+
			"another method", len(s), m, m*(m+3)/2)
	}
	for i, v := range s {
		if !finite(v) {
			return t, fmt.Errorf("number %d of the state is %v; it was changed", i, v)
		}
	}
	var p lowRank
	if err := p.factorInducing(k.RawSymmetric()); err != nil {
		return t, err
	}
	t = told{u: p.u, um: p.u, weights: s[:m]}
	t.um.Data, s = make([]float64, m*t.um.Stride), s[m:]
	for i := range m {
		if !(s[0] > 0) {
			return t, fmt.Errorf("diagonal element %d of the factor in the state is %v, want more than 0", i, s[0])
		}
		copy(t.um.Data[i*t.um.Stride+i:], s[:m-i])
		s = s[m-i:]
	}
	return t, nil
}
