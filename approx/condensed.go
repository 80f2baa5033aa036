package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// condenser posteriors have inducing inputs, and predict from a number of values that does not
// depend on the number of cases.
type condenser interface{ condense() (State, bool) }

// Condense returns the numbers from which a posterior with m inducing inputs predicts, given the
// covariance of these inputs. They are, for every latent process, the coefficients K_zz⁻¹ E[f_z]
// and the factor U_M, row by row: m (m+3)/2 numbers (see prior.InducingPosterior). For C classes
// with one joint posterior, Cm takes the place of m. ok is false if predictions need the cases.
func Condense(p Posterior) (s State, ok bool) {
	if c, is := p.(condenser); is {
		return c.condense()
	}
	return nil, false
}

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

// Expand rebuilds the posterior of m from the s of Condense, for predictions only; they are
// bit-identical. Only K of cov is read. The evidence is NaN.
func Expand(m Approximation, cov []Cov, classes int, lik likelihood.Bound, s State) (Posterior, error) {
	if o, is := m.(OneVsRest); is {
		return o.each(cov, Targets{Classes: classes}, s, func(cov []Cov, _ Targets, s State) (Posterior, error) {
			return Expand(o.Binary, cov, 2, lik, s)
		})
	}
	gone := outcome{state: s, evidence: functional{
		value: math.NaN(), err: fmt.Errorf("%w: the training cases are not known", ErrNoEvidence),
	}}
	gone.diagnostics.Converged = true
	if likelihood.Processes(lik.Likelihood(), classes) > 1 {
		posterior, err := prior.ReadClasses(cov, classes, s)
		if err != nil {
			return nil, err
		}
		c := &condensedClasses{outcome: gone}
		c.lik, c.posterior, c.classes = lik.(likelihood.Polytomous), posterior, classes
		if l, is := m.(Laplace); is {
			c.points = l.Points
		}
		return c, nil
	}
	posterior, err := prior.Read(cov[0].K, s)
	if err != nil {
		return nil, err
	}
	return &condensed{posterior: posterior, lik: lik.(likelihood.MomentMatcher), outcome: gone}, nil
}

// condensedClasses is a posterior of several latent processes without its cases.
type condensedClasses struct {
	classPrediction
	outcome
}

// condensed is a posterior of one latent process without its cases.
type condensed struct {
	posterior prior.InducingPosterior
	lik       likelihood.MomentMatcher
	outcome
}

// Latent implements Posterior.
func (p *condensed) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, _ int) {
	p.posterior.Latent(mean, variance, cross, diag)
}

// PredictProba implements Posterior.
func (p *condensed) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageOneProcess(p, p.lik, dst, cross, diag, mean)
}
