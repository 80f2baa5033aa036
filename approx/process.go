package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// eps is the spacing of float64 at 1.
const eps = 0x1p-52

// cases are the cases of a fit with one latent process, and its results.
type cases struct {
	mean   []float64 // prior mean m
	y      []float64
	weight weights
	lik    likelihood.MomentMatcher
	b      []float64 // K⁻¹(μ - m)
	outcome
}

// newCases checks the arguments except for the covariances.
func newCases(cov []Cov, y Targets, lik likelihood.Bound) (*cases, error) {
	n := y.Len()
	if processes := likelihood.Processes(lik.Likelihood(), y.Classes); len(cov) != 1 || processes != 1 || n == 0 {
		panic(fmt.Sprintf("approx: %d covariances, %d classes with %d processes and %d labels, want 1 covariance, 1 "+
			"process and at least 1 label", len(cov), y.Classes, processes, n))
	}
	w, err := newWeights(y)
	if err != nil {
		return nil, err
	}
	c := &cases{
		mean: cov[0].Mean, y: y.numbers(), weight: w, lik: lik.(likelihood.MomentMatcher), b: make([]float64, n),
	}
	if c.mean == nil {
		c.mean = make([]float64, n)
	}
	for i, v := range c.y {
		if !finite(v) {
			return nil, fmt.Errorf("target of case %d is %v, want a finite number", i, v)
		}
	}
	return c, nil
}

// process is a Gaussian posterior of one latent process: the prior times one Gaussian site per
// case.
type process struct {
	*cases
	prior prior.Prior
}

// newProcess checks the arguments of a Fit or Restore with one latent process. power is the power α
// of the correction for inducing inputs. merge lets equal cases share their latent value.
func newProcess(
	work *Work, cov []Cov, y Targets, lik likelihood.Bound, power float64, merge bool,
) (process, error) {
	c, err := newCases(cov, y, lik)
	if err != nil {
		return process{}, err
	}
	k, err := prior.New(work, cov[0], len(c.y), power, merge, c.weight)
	if err != nil {
		return process{}, err
	}
	c.diagnostics.Jitter, c.diagnostics.Unexplained = k.Describe()
	return process{c, k}, nil
}

// factorise factors the prior for sites of these precisions.
func (p *process) factorise(tau []float64) error {
	p.diagnostics.Factorizations++
	return p.prior.Factorise(tau)
}

// Latent implements Posterior.
func (p *process) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	p.prior.Latent(p.b, mean, variance, cross, diag)
}

// PredictProba implements Posterior.
func (p *process) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageOneProcess(p, p.lik, dst, cross, diag, mean)
}

func (p *process) sums(mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense, _ int) bool {
	return prior.Sums(p.prior, p.b, mean, variance, cross, diag, s)
}

func (p *process) condense() (State, bool) {
	s, ok := p.prior.Condensed(p.b)
	return s, ok
}

// averageOneProcess is PredictProba by averaging over the latent Gaussian, GPML (3.25): p(y) = ∫
// p(y|f) q(f) df. It panics for numeric targets, which have no classes; Latent has their mean and
// variance.
func averageOneProcess(
	p interface {
		Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int)
	}, lik likelihood.MomentMatcher, dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64,
) {
	if lik.Likelihood().Domain() == likelihood.Numeric {
		panic("approx: class probabilities of numeric targets")
	}
	m := len(diag[0])
	_, classes := dst.Dims()
	checkProbabilities(dst, m, classes)
	labels := likelihood.Labels(classes)
	mu, variance := make([]float64, m), make([]float64, m)
	p.Latent(mu, variance, cross[0], diag[0], 0)
	for j := range mu {
		if mean != nil {
			mu[j] += mean[0][j]
		}
		row, sum := dst.RawRowView(j), 0.0
		for c, y := range labels {
			logp, _ := lik.Moments(y, mu[j], variance[j])
			row[c] = math.Exp(logp)
			sum += row[c]
		}
		for c := range row { // the sum is 1 up to rounding in the likelihood
			row[c] /= sum
		}
	}
}

func checkProbabilities(dst *mat.Dense, m, classes int) {
	if r, c := dst.Dims(); r != m || c != classes {
		panic(fmt.Sprintf("approx: probabilities are %d×%d, want %d×%d", r, c, m, classes))
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// scaled is c x.
func scaled(x []float64, c float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = c * v
	}
	return y
}
