package objective

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Functionals are the posterior mean and variance of the weighted sums g_k = Σ_i w_ik f(z_i) of a
// latent process, with w of shape m×G and m cases in z. Both are exact under the joint posterior of
// f. With Neighbours, new values are independent given the training cases. Otherwise a sum has the
// prior covariances K(X, Z) w_k with the training cases, and the prior variance w_kᵀ K(Z, Z) w_k.
// From these its posterior follows as the posterior of one latent value does, GPML (3.21) and
// (3.24). The kernel's noise is left out. class is as in Latent.
func (p *Point) Functionals(z *kernel.Inputs, w *mat.Dense, class int) (mean, variance []float64) {
	m, count := w.Dims()
	if m != z.N() {
		panic(fmt.Sprintf("objective: weights of %d cases, want %d", m, z.N()))
	}
	class = min(class, p.processes()-1)
	j := min(class, len(p.objective.model.Kernels)-1)
	k, theta := p.objective.model.Kernels[j], p.objective.Layout.kernel(p.Theta, j)
	single, smooth, prior := p.prior(z, j)
	rows, _ := single.Dims()
	mean, variance = make([]float64, count), make([]float64, count)
	kernel.SmoothDiag(k, smooth, theta, z)
	if approx.Sums(p.Posterior, mean, variance, single, smooth, w, class) {
		for k := range mean {
			mean[k] += mat.Dot(w.ColView(k), mat.NewVecDense(m, prior))
		}
		return mean, variance
	}
	var square, cross, weighted mat.Dense
	square.ReuseAs(m, m)
	p.objective.structure.among(&square, k, theta, z)
	cross.ReuseAs(rows, count)
	cross.Mul(single, w)
	weighted.Mul(&square, w)
	diag, offset := make([]float64, count), make([]float64, count)
	for i := range m {
		for k := range count {
			diag[k] += w.At(i, k) * weighted.At(i, k)
			offset[k] += w.At(i, k) * prior[i]
		}
	}
	p.Posterior.Latent(mean, variance, &cross, diag, class)
	for k := range mean {
		mean[k] += offset[k]
	}
	return mean, variance
}

// Slopes are the probabilities E[p(y = +1|f)] of the second of two classes, and their derivatives
// with respect to E[f], for latent values of these means and variances. ok is false for other
// labels.
func (p *Point) Slopes(mean, variance []float64) (proba, slope []float64, ok bool) {
	lik, matches := p.lik.(likelihood.MomentMatcher)
	if !matches || p.objective.data.Y.Classes != 2 || p.processes() != 1 {
		return nil, nil, false
	}
	for i, mu := range mean {
		logp, d := lik.Moments(1, mu, variance[i])
		q := math.Exp(logp)
		proba, slope = append(proba, q), append(slope, q*d[0])
	}
	return proba, slope, true
}

// Similarities are the prior correlations of latent values at the training cases, or at the
// inducing inputs, with latent values at the cases z, n×m, without the kernel's noise (see
// correlations). With a kernel for each class the mean over the kernels is taken.
func (p *Point) Similarities(z *kernel.Inputs) *mat.Dense {
	x, kernels := p.objective.data.X, p.objective.model.Kernels
	out := mat.NewDense(x.N(), z.N(), nil)
	for j, k := range kernels {
		of := correlations(k, p.objective.Layout.kernel(p.Theta, j), x, z)
		of.Scale(1/float64(len(kernels)), of)
		out.Add(out, of)
	}
	return out
}
