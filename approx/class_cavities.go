package approx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// classSites are the sites of several latent processes: case i has the precision W_i = diag d -
// ddᵀ/s with s = Σ_c d_c. f is the posterior mean f̂, and b = K⁻¹(f̂ - m). s is the weight of the
// case, or, if whole is true, any positive number.
type classSites struct {
	d, f, b []float64
	weight  weights // s; nil: 1
	whole   bool    // a case is left out as a whole, and has no copies
}

// leaveOut returns the leave-one-out sum for labels y, with the term of case i times counts[i].
func (p *classPrediction) leaveOut(k prior.Classes, sites classSites, y []int, counts weights) (Functional, error) {
	logs := make([]float64, len(y))
	sites.cavities(k, len(y), func(i int, mean []float64, cavity *mat.SymDense) {
		proba := make([]float64, p.classes)
		p.deviation.Add(p.lik.Average(proba, mean, cavity, p.points))
		logs[i] = counts.of(i) * math.Log(max(proba[y[i]], leastProbability))
	})
	sum := floats.Sum(logs)
	if !finite(sum) {
		return nil, fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", errImprecise, sum)
	}
	return functional{value: sum, err: ErrNoGradient}, nil
}

// leastProbability replaces smaller probabilities in logarithms: the smallest normal double.
const leastProbability = 0x1p-1022

// cavities calls visit for every case, perhaps for several at once, with the mean and covariance of
// its latent values without its site: the marginal N(f̂_i, Σ_i) becomes N(f̂_i - C_i b_i, C_i) with
// C_i = (Σ_i⁻¹ - W_i)⁻¹. A term common to all classes is left out, because the likelihood does not
// depend on it. With D = diag d,
//
//	C_i = Σ_H + Σ_H D^½ (I - D^½ Σ_H D^½)⁻¹ D^½ Σ_H,   Σ_H = H Σ_i Hᵀ,   H = I - 1dᵀ/s
//
// where nothing is divided by a small d. For a weighted case one copy is left out: H is the same,
// and D, W_i and b_i belong to one copy.
func (s classSites) cavities(k prior.Classes, n int, visit func(i int, mean []float64, covariance *mat.SymDense)) {
	classes := len(s.d) / n
	k.Marginals(func(i int, q, left []float64, sigma *mat.SymDense) {
		vector := func() []float64 { return make([]float64, classes) }
		p, root, mean := vector(), vector(), vector()
		w, share, power := s.weight.of(i), s.weight.copyShare(i), s.weight.power(i)
		if s.whole {
			share, power = 1, w
		}
		for c, j := 0, i; c < classes; c, j = c+1, j+n {
			p[c] = s.d[j] / w
			root[c] = math.Sqrt(p[c])
			if share < 1 {
				left[c] = 1 - share*(1-left[c])
			}
		}
		cavity := blockCavity(p, root, left, q, power, sigma)
		for c := range classes {
			mean[c] = s.f[c*n+i]
			for d := range classes {
				mean[c] -= cavity.At(c, d) * share * s.b[d*n+i]
			}
		}
		visit(i, mean, cavity)
	})
}

// blockCavity returns C_i, given s = Σ_i up to a term common to all classes. q is the part of the
// diagonal that is specific to each class. weight w is the weight of the copy or case that is left
// out. With D = diag wπ, b = 1 - wπq, which is [B_c⁻¹]_ii without weights, and P = I - √π√πᵀ,
//
//	I - D^½ Σ_H D^½ = √π√πᵀ + P(diag b - D^½ (Σ_i - diag q) D^½)P
//
// has eigenvalues between 0 and 1.
func blockCavity(pi, root, b, q []float64, weight float64, s *mat.SymDense) *mat.SymDense {
	classes := len(pi)
	rest, sigma := mat.NewSymDense(classes, nil), mat.NewSymDense(classes, nil)
	for c := range pi {
		for d := c; d < classes; d++ {
			rest.SetSym(c, d, -weight*root[c]*root[d]*s.At(c, d))
			sigma.SetSym(c, d, s.At(c, d))
		}
		rest.SetSym(c, c, b[c]-weight*pi[c]*(s.At(c, c)-q[c]))
	}
	projectOut(rest, root, root)
	projectOut(sigma, slices.Repeat([]float64{1}, classes), pi)
	var eigen mat.EigenSym
	rest.SymRankOne(rest, 1, mat.NewVecDense(classes, root))
	if !eigen.Factorize(rest, true) {
		sigma.SetSym(0, 0, math.NaN())
		return sigma
	}
	var vectors, gain mat.Dense
	eigen.VectorsTo(&vectors)
	for c, r := range root { // D^½ V
		row := vectors.RawRowView(c)
		for d := range row {
			row[d] *= r * math.Sqrt(weight)
		}
	}
	gain.Mul(sigma, &vectors)
	for d, lambda := range eigen.Values(nil) {
		sigma.SymRankOne(sigma, 1/max(lambda, eps), gain.ColView(d))
	}
	return sigma
}

// projectOut sets a ← (I - u wᵀ) a (I - w uᵀ).
func projectOut(a *mat.SymDense, u, w []float64) {
	n := len(u)
	var aw mat.VecDense
	aw.MulVec(a, mat.NewVecDense(n, w))
	waw := mat.Dot(mat.NewVecDense(n, w), &aw)
	for c := range n {
		for d := c; d < n; d++ {
			a.SetSym(c, d, a.At(c, d)-u[c]*aw.AtVec(d)-aw.AtVec(c)*u[d]+waw*u[c]*u[d])
		}
	}
}
