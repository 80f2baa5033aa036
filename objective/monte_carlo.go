package objective

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// MonteCarlo averages p(y|f) over random draws of f from its Gaussian posterior at the new case, as
// GPML Algorithm 3.4 does: a probability π has the standard error √(Var π(f)/samples), at most
// ½/√samples. The random numbers of a case depend on Seed and the inputs of this case alone.
type MonteCarlo struct {
	Samples int    `yaml:"samples" within:"[1,10000000]"` // default 1000
	Seed    uint64 `yaml:"-"`
}

// Random averages draw random numbers.
type Random interface {
	Average
	Seeded(seed uint64) Average
}

// Seeded returns the average with another seed.
func (a MonteCarlo) Seeded(seed uint64) Average {
	a.Seed = seed
	return a
}

// Uses accepts likelihoods of classes.
func (a MonteCarlo) Uses(lik likelihood.Likelihood) error {
	if a.Samples < 0 {
		return fmt.Errorf("monte_carlo: samples = %d must not be negative (0 means the default, 1000)", a.Samples)
	}
	return ofClasses("monte_carlo", lik)
}

func (a MonteCarlo) Predict(dst *mat.Dense, p *Point, z *kernel.Inputs) {
	means, variances := p.Latents(z)
	joint, squash := p.covariances(z), squash(p.lik, p.objective.data.Y.Classes)
	dst.Zero()
	f, draw := make([]float64, len(means)), mat.NewVecDense(len(means), nil)
	spread := mat.NewDense(len(means), len(means), nil) // A of f = E[f] + A x, x ~ N(0, I)
	for i := range z.N() {
		spread.Zero()
		for c := range means {
			spread.Set(c, c, math.Sqrt(variances[c][i]))
		}
		if joint != nil {
			squareRoot(spread, joint[i])
		}
		rng := rand.New(rand.NewPCG(a.Seed, random.Content(z.X.RawRowView(i))))
		for range cmp.Or(a.Samples, 1000) {
			for c := range f {
				draw.SetVec(c, rng.NormFloat64())
			}
			for c := range f {
				f[c] = means[c][i] + mat.Dot(spread.RowView(c), draw)
			}
			squash(dst.RawRowView(i), f)
		}
	}
	normalise(dst)
}

// covariances has for each case of z the covariance matrix of its latent values; nil where the
// processes are independent.
func (p *Point) covariances(z *kernel.Inputs) []*mat.SymDense {
	posterior, ok := p.Posterior.(approx.JointLatent)
	if !ok {
		return nil
	}
	cross, diag, _ := p.priors(z)
	s := make([]*mat.SymDense, z.N())
	for i := range s {
		s[i] = mat.NewSymDense(p.objective.data.Y.Classes, nil)
	}
	posterior.LatentCovariance(s, cross, diag)
	return s
}

// squareRoot sets a to a square root of a covariance. Eigenvalues below 0, by rounding, count as 0.
func squareRoot(a *mat.Dense, covariance *mat.SymDense) {
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		panic("objective: a latent covariance has no eigenvalues")
	}
	eigen.VectorsTo(a)
	for c, lambda := range eigen.Values(nil) {
		for r := range covariance.SymmetricDim() {
			a.Set(r, c, a.At(r, c)*math.Sqrt(max(lambda, 0)))
		}
	}
}
