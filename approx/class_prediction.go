package approx

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// classPrediction is the posterior of several latent processes at new inputs.
type classPrediction struct {
	lik       likelihood.Polytomous
	posterior prior.ClassesPosterior
	classes   int
	points    int // lattice points of an average; 0: until the error estimate is small enough
	deviation AverageDeviation
}

// JointLatent is a posterior with several latent processes, which the data correlate.
type JointLatent interface {
	// LatentCovariance sets dst[j], C×C, to the covariance of f_1(z_j) … f_C(z_j). cross and diag
	// are as in Posterior.PredictProba.
	LatentCovariance(dst []*mat.SymDense, cross []*mat.Dense, diag [][]float64)
}

// Latent implements Posterior.
func (p *classPrediction) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	p.posterior.Latent(mean, variance, class, cross, diag)
}

// LatentCovariance implements JointLatent.
func (p *classPrediction) LatentCovariance(dst []*mat.SymDense, cross []*mat.Dense, diag [][]float64) {
	p.posterior.Covariances(cross, diag, false, func(j int, s *mat.SymDense) { dst[j].CopySym(s) })
}

// PredictProba implements Posterior by averaging over the latent Gaussian as GPML Algorithm 3.4
// does, but without random numbers.
func (p *classPrediction) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	m := len(diag[0])
	checkProbabilities(dst, m, p.classes)
	mu := mat.NewDense(p.classes, m, nil)
	for c := range p.classes {
		row := mu.RawRowView(c)
		if mean != nil {
			copy(row, share(mean, c))
		}
		p.posterior.Mean(row, c, share(cross, c))
	}
	p.posterior.Covariances(cross, diag, true, func(j int, s *mat.SymDense) {
		p.deviation.Add(p.lik.Average(dst.RawRowView(j), mat.Col(nil, j, mu), s, p.points))
	})
}

// AverageError implements Averager.
func (p *classPrediction) AverageError() float64 { return p.deviation.AverageError() }

func (p *classPrediction) condense() (State, bool) {
	s, ok := p.posterior.Condensed()
	return s, ok
}

// share is the entry of a class in a list with one entry for all or one per class.
func share[T any](list []T, class int) T { return list[min(class, len(list)-1)] }
