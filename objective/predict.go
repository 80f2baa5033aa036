package objective

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// batches calls f for consecutive parts of z, or z itself if it is small enough, with the index of
// their first case.
func batches(z *kernel.Inputs, f func(first int, z *kernel.Inputs)) {
	if z.N() <= batch {
		f(0, z) // the same z keeps its distances for the next theta
		return
	}
	for i := 0; i < z.N(); i += batch {
		part := z.X.Slice(i, min(i+batch, z.N()), 0, z.Dim()).(*mat.Dense)
		f(i, &kernel.Inputs{X: part})
	}
}

// prior returns K(X, Z), k(z_i, z_i) and m(z_i) under kernel j.
func (p *Point) prior(z *kernel.Inputs, j int) (cross *mat.Dense, diag, mean []float64) {
	o, l := p.objective, p.objective.Layout
	s, m := o.structure, z.N()
	n := s.rows()
	if err := z.Check(o.data.X.Dim()); err != nil {
		panic(fmt.Sprintf("objective: new cases: %v", err))
	}
	var data []float64
	if o.room != nil {
		if cap(o.room.cross[j]) < n*m {
			o.room.cross[j] = make([]float64, n*m)
		}
		data = o.room.cross[j][:n*m]
	}
	cross = mat.NewDense(n, m, data)
	diag, mean = make([]float64, z.N()), make([]float64, z.N())
	theta := l.kernel(p.Theta, j)
	s.cross(cross, o.model.Kernels[j], theta, z)
	kernel.Diag(o.model.Kernels[j], diag, theta, z)
	o.model.mean().At(mean, l.mean(p.Theta), z)
	return cross, diag, mean
}

// priors returns the results of prior for all kernels.
func (p *Point) priors(z *kernel.Inputs) (cross []*mat.Dense, diag, mean [][]float64) {
	for j := range p.objective.model.Kernels {
		k, d, m := p.prior(z, j)
		cross, diag, mean = append(cross, k), append(diag, d), append(mean, m)
	}
	return cross, diag, mean
}

// Latent sets mean[i] and variance[i] of the latent process of a class (0 where there is one
// process only) at the i-th case of z, prior mean and the kernel's noise included. If variance is
// nil, only the mean is computed, which takes n operations a case in place of n².
func (p *Point) Latent(mean, variance []float64, z *kernel.Inputs, class int) {
	if len(mean) != z.N() || variance != nil && len(variance) != z.N() {
		panic(fmt.Sprintf("objective: len(mean) = %d and len(variance) = %d, want %d", len(mean), len(variance), z.N()))
	}
	batches(z, func(first int, z *kernel.Inputs) {
		cross, diag, prior := p.prior(z, min(class, len(p.objective.model.Kernels)-1))
		m, v := mean[first:first+z.N()], variance
		if v != nil {
			v = v[first : first+z.N()]
		}
		p.Posterior.Latent(m, v, cross, diag, class)
		for i := range m {
			m[i] += prior[i]
		}
	})
}

// Latents are the mean and variance of every latent process at the cases of z, see Latent. There
// are likelihood.Processes of them.
func (p *Point) Latents(z *kernel.Inputs) (means, variances [][]float64) {
	for range p.processes() {
		variances = append(variances, make([]float64, z.N()))
	}
	return p.latents(z, variances), variances
}

// LatentMeans are the means of Latents, without the variances.
func (p *Point) LatentMeans(z *kernel.Inputs) (means [][]float64) {
	return p.latents(z, make([][]float64, p.processes()))
}

func (p *Point) latents(z *kernel.Inputs, variances [][]float64) (means [][]float64) {
	for c, v := range variances {
		means = append(means, make([]float64, z.N()))
		p.Latent(means[c], v, z, c)
	}
	return means
}

// processes is the number of latent processes.
func (p *Point) processes() int {
	return likelihood.Processes(p.objective.model.Likelihood, p.objective.data.Y.Classes)
}

// LeaveOneOut is the mean of log p(y_i|y_-i) over the training cases at the same theta, in nats,
// from one fit. With approx.OneVsRest the log probabilities of all classes' models are added. It is
// NaN if the inference method does not compute it.
func (p *Point) LeaveOneOut() (float64, error) {
	if !p.objective.caps.LeaveOneOut {
		return math.NaN(), nil
	}
	f, err := p.Posterior.(approx.LeaveOneOut).LeaveOneOut()
	if err != nil {
		return math.NaN(), err
	}
	return f.Value() / p.objective.data.count(), nil
}

// PredictMoments sets mean[i] and variance[i] of a new target at the i-th case of z, noise
// included, GPML (2.25)-(2.26). The model's targets must be numbers.
func (p *Point) PredictMoments(mean, variance []float64, z *kernel.Inputs) {
	p.Latent(mean, variance, z, 0)
	noise := p.lik.(likelihood.GaussianNoise).NoiseVariance()
	for i := range variance {
		variance[i] += noise
	}
}
