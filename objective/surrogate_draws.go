package objective

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Draws are functions drawn from the posterior of a Surrogate, at its hyperparameters. With the
// constant mean m, noise of variance σ², and a function g and noise ε drawn from their priors, each
// is (pathwise conditioning; Wilson et al. 2020, eq. 12)
//
//	f(x) = m + g(x) + k(x, X) (K + σ²I)⁻¹ (y - m - g(X) - ε)
//
// g is a sum of random Fourier features (Rahimi & Recht 2007). The frequencies of Matérn-5/2 have a
// t distribution with 5 degrees of freedom, in units of 1/length scale. Frequencies are drawn for
// each function, so that over the functions g has the covariance of the kernel. With the same
// frequencies for all functions, the error of one sample of frequencies would remain.
type Draws struct {
	of     *Surrogate
	priors []priorDraw // one for each draw
	// values × (1 + draws): (K + σ²I)⁻¹ (y - m - g(X) - ε), with g = ε = 0 in the first column
	solved *mat.Dense
}

// priorDraw is a function g from the prior: Σ_k weights_k cos(x·frequencies_k + phases_k).
type priorDraw struct {
	frequencies *mat.Dense // columns of x × features
	phases      []float64
	weights     *mat.VecDense
}

// fourierFeatures is the number of terms of a function that is drawn from the prior.
const fourierFeatures = 64

// kernelTheta, mean and noise are the parts of theta, all on the theta scale.
func (s *Surrogate) kernelTheta() []float64 { return s.point.objective.Layout.kernel(s.point.Theta, 0) }
func (s *Surrogate) constant() float64      { return s.point.objective.Layout.mean(s.point.Theta)[0] }
func (s *Surrogate) noise() float64 {
	return math.Exp(s.point.objective.Layout.likelihood(s.point.Theta)[0])
}

// Noise is the standard deviation of the noise of the values, in their units.
func (s *Surrogate) Noise() float64 { return s.sd * s.noise() }

// covariance returns the Cholesky factor of K + σ²I, and y - m of the standardised values.
func (s *Surrogate) covariance() (factor *mat.Cholesky, residuals []float64, err error) {
	n, _ := s.x.Dims()
	k := mat.NewSymDense(n, nil)
	kernel.Gram(s.point.objective.model.Kernels[0], k, s.kernelTheta(), &kernel.Inputs{X: s.x})
	residuals = make([]float64, n)
	for i, v := range s.y {
		k.SetSym(i, i, k.At(i, i)+s.noise()*s.noise())
		residuals[i] = v - s.constant()
	}
	factor = new(mat.Cholesky)
	if !factor.Factorize(k) {
		return nil, nil, fmt.Errorf("the covariance matrix of %d values could not be factorised", n)
	}
	return factor, residuals, nil
}

// LeftOut returns for every value the prediction from the other values, at the same
// hyperparameters: y_i - [(K + σ²I)⁻¹ (y - m)]_i / [(K + σ²I)⁻¹]_ii, GPML (5.12).
func (s *Surrogate) LeftOut() ([]float64, error) {
	factor, residuals, err := s.covariance()
	if err != nil {
		return nil, err
	}
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		return nil, err
	}
	var solved mat.VecDense
	solved.MulVec(&inverse, mat.NewVecDense(len(residuals), residuals))
	out := make([]float64, len(residuals))
	for i, y := range s.y {
		out[i] = s.mean + s.sd*(y-solved.AtVec(i)/inverse.At(i, i))
	}
	return out, nil
}

// Draw draws functions, which depend on the surrogate and the seed alone.
func (s *Surrogate) Draw(draws int, seed uint64) (*Draws, error) {
	factor, residuals, err := s.covariance()
	if err != nil {
		return nil, err
	}
	n, columns := s.x.Dims()
	amplitude, lengths := s.kernelTheta()[0], s.kernelTheta()[1:]
	rng := rand.New(param.Source(seed, 0))
	d := &Draws{of: s, solved: mat.NewDense(n, 1+draws, nil)}
	for range draws {
		w := priorDraw{mat.NewDense(columns, fourierFeatures, nil), nil, mat.NewVecDense(fourierFeatures, nil)}
		for k := range fourierFeatures {
			chiSquared := 0.0 // drawn with 5 degrees of freedom
			for range 5 {
				chiSquared += math.Pow(rng.NormFloat64(), 2)
			}
			for i := range columns {
				w.frequencies.Set(i, k, rng.NormFloat64()*math.Sqrt(5/chiSquared)/math.Exp(lengths[i]))
			}
			w.phases = append(w.phases, 2*math.Pi*rng.Float64())
			w.weights.SetVec(k, math.Exp(amplitude)*math.Sqrt(2./fourierFeatures)*rng.NormFloat64())
		}
		d.priors = append(d.priors, w)
	}
	prior, right := d.prior(s.x), mat.NewDense(n, 1+draws, nil)
	for i := range n {
		right.Set(i, 0, residuals[i])
		for r := range draws {
			right.Set(i, 1+r, residuals[i]-prior.At(i, r)-s.noise()*rng.NormFloat64())
		}
	}
	return d, factor.SolveTo(d.solved, right)
}

// prior returns g at the rows of z, a column for each draw.
func (d *Draws) prior(z *mat.Dense) *mat.Dense {
	m, _ := z.Dims()
	out := mat.NewDense(m, len(d.priors), nil)
	var terms mat.Dense
	var g mat.VecDense
	for r, w := range d.priors {
		terms.Mul(z, w.frequencies)
		terms.Apply(func(_, k int, v float64) float64 { return math.Cos(v + w.phases[k]) }, &terms)
		g.MulVec(&terms, w.weights)
		out.ColView(r).(*mat.VecDense).CopyVec(&g)
	}
	return out
}

// At returns the functions at the rows of z, which has the columns of the surrogate's points: in
// column 0 the posterior mean, in column r the r-th draw.
func (d *Draws) At(z *mat.Dense) *mat.Dense {
	s := d.of
	n, _ := s.x.Dims()
	m, _ := z.Dims()
	cross := mat.NewDense(n, m, nil)
	kernel.Cross(s.point.objective.model.Kernels[0], cross, s.kernelTheta(), &kernel.Inputs{X: s.x},
		&kernel.Inputs{X: z})
	var out mat.Dense
	out.Mul(cross.T(), d.solved)
	prior := d.prior(z)
	out.Apply(func(i, r int, v float64) float64 {
		if r > 0 {
			v += prior.At(i, r-1)
		}
		return s.mean + s.sd*(s.constant()+v)
	}, &out)
	return &out
}
