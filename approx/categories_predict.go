package approx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// LatentCovariancer posteriors have several latent processes, which the data correlate.
type LatentCovariancer interface {
	// LatentCovariance sets dst[j], C×C, to the covariance of f_1(z_j) … f_C(z_j). cross and diag
	// are those of Posterior.PredictProba.
	LatentCovariance(dst []*mat.SymDense, cross []*mat.Dense, diag [][]float64)
}

// Latent implements Posterior.
func (p *categories) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	checkLatent(mean, variance, len(diag))
	clear(mean)
	p.storage.latentMean(mean, class, cross)
	if variance == nil {
		return
	}
	x := linalg.NewGeneral(p.storage.rows(), len(diag))
	p.storage.project(variance, x, class, cross, diag)
	p.storage.couple(x)
	linalg.AddSquares(1, x, variance)
}

// LatentCovariance implements LatentCovariancer.
func (p *categories) LatentCovariance(dst []*mat.SymDense, cross []*mat.Dense, diag [][]float64) {
	p.covariances(len(diag[0]), false, p.newInputs(cross, diag),
		func(j int, _ []float64, s *mat.SymDense) { dst[j].CopySym(s) })
}

// inputsAtOnce is how many new inputs covariances takes at a time, C n numbers for each: every
// triangle is read twice for all of them. Threads take inputsEach of them.
const inputsAtOnce, inputsEach = 384, 16

// projection is that of processes for the inputs from to to-1 of those that covariances goes
// through.
type projection func(q []float64, x blas64.General, c, from, to int)

// newInputs projects new inputs; cross and diag are those of Posterior.PredictProba.
func (p *categories) newInputs(cross []*mat.Dense, diag [][]float64) projection {
	return func(q []float64, x blas64.General, c, from, to int) {
		k := share(cross, c)
		known, _ := k.Dims()
		p.storage.project(q, x, c, k.Slice(0, known, from, to).(*mat.Dense), share(diag, c)[from:to])
	}
}

// covariances calls visit with the covariance of the latent values at every one of count inputs,
// and with the q_c of its diagonal; calls for several inputs may be made at once. differences says
// that only those matter, and then a term common to all entries is left out, which may exceed them
// by orders of magnitude.
func (p *categories) covariances(
	count int, differences bool, project projection, visit func(j int, q []float64, s *mat.SymDense),
) {
	block, classes := min(inputsAtOnce, count), p.classes
	all, q := linalg.NewGeneral(p.storage.rows(), classes*block), make([][]float64, classes)
	for from := 0; from < count; from += block {
		to := min(from+block, count)
		m := to - from
		x := all // x_c in columns c·m to (c+1)·m
		x.Cols = classes * m
		for c := range classes {
			q[c] = make([]float64, m)
			project(q[c], columns(x, c*m, m), c, from, to)
		}
		p.storage.couple(x)
		linalg.Parallel((m+inputsEach-1)/inputsEach, func(job int) {
			first := job * inputsEach
			end := min(first+inputsEach, m)
			own := make([]float64, classes)
			for j, s := range gram(x, m, first, end, differences) {
				for c := range classes {
					own[c] = q[c][first+j]
					s.SetSym(c, c, s.At(c, c)+own[c])
				}
				visit(from+first+j, own, s)
			}
		})
	}
}

// columns are m columns of x from one on.
func columns(x blas64.General, from, m int) blas64.General {
	x.Data, x.Cols = x.Data[min(from, len(x.Data)):], m
	return x
}

// gram returns, for inputs first to end of m, the products x_cᵀx_d, where x_c are the columns from
// c·m on. Of differences every number is taken less the mean of those in its place.
func gram(x blas64.General, m, first, end int, differences bool) []*mat.SymDense {
	classes := x.Cols / m
	sums, at := make([]*mat.SymDense, end-first), make([]float64, classes)
	for j := range sums {
		sums[j] = mat.NewSymDense(classes, nil)
	}
	for i := range x.Rows {
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		for j, sum := range sums {
			mean := 0.0
			for c := range at {
				at[c] = row[c*m+first+j]
				mean += at[c]
			}
			if differences {
				floats.AddConst(-mean/float64(classes), at)
			}
			to := sum.RawSymmetric().Data
			for c, v := range at {
				part := to[c*classes+c : (c+1)*classes]
				for d, w := range at[c:] {
					part[d] += v * w
				}
			}
		}
	}
	return sums
}

// PredictProba implements Posterior by averaging over the latent Gaussian as GPML Algorithm 3.4
// does, but without random numbers.
func (p *categories) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	m := len(diag[0])
	checkProbabilities(dst, m, p.classes)
	mu := mat.NewDense(p.classes, m, nil)
	for c := range p.classes {
		row := mu.RawRowView(c)
		if mean != nil {
			copy(row, share(mean, c))
		}
		p.storage.latentMean(row, c, share(cross, c))
	}
	p.covariances(m, true, p.newInputs(cross, diag), func(j int, _ []float64, s *mat.SymDense) {
		p.deviation.Add(p.lik.Average(dst.RawRowView(j), mat.Col(nil, j, mu), s, p.points))
	})
}

// AverageError implements Averager.
func (p *categories) AverageError() float64 { return p.deviation.AverageError() }

// LeaveOneOut implements LeaveOneOuter by block cavities, over which softmax is averaged as in
// predictions. It has no derivatives.
func (p *categories) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged || p.y == nil { // the cases are not known
		return nil, p.evidence.err
	}
	logs := make([]float64, p.n)
	p.blockCavities(func(i int, mean []float64, cavity *mat.SymDense) {
		proba := make([]float64, p.classes)
		p.deviation.Add(p.lik.Average(proba, mean, cavity, p.points))
		logs[i] = math.Log(max(proba[p.y[i]], leastProbability))
	})
	sum := floats.Sum(logs)
	if !finite(sum) {
		return nil, fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", ErrNotConverged, sum)
	}
	return functional{value: sum, err: ErrNoGradient}, nil
}

// leastProbability is the smallest whose logarithm is taken.
const leastProbability = 0x1p-1022

// blockCavities calls visit for every case, perhaps for several at once, with the mean and
// covariance of its latent values without its site, of precision W_i = D - ππᵀ, D = diag π, and
// slope g_i = e_y - π: the marginal N(f̂_i, Σ_i) becomes N(f̂_i - C_i g_i, C_i) with C_i = (Σ_i⁻¹ -
// W_i)⁻¹. But for what is common to all classes, which softmax does not see,
//
//	C_i = Σ_H + Σ_H D^½ (I - D^½ Σ_H D^½)⁻¹ D^½ Σ_H,   Σ_H = H Σ_i Hᵀ,   H = I - 1πᵀ
//
// where nothing is divided by a small π.
func (p *categories) blockCavities(visit func(i int, mean []float64, covariance *mat.SymDense)) {
	n, classes := p.n, p.classes
	p.storage.marginals(func(i int, q, left []float64, s *mat.SymDense) {
		vector := func() []float64 { return make([]float64, classes) }
		pi, root, mean := vector(), vector(), vector()
		for c, j := 0, i; c < classes; c, j = c+1, j+n {
			pi[c], root[c] = p.at.w[j], math.Sqrt(p.at.w[j])
		}
		cavity := blockCavity(pi, root, left, q, s)
		for c := range classes {
			mean[c] = p.at.f[c*n+i]
			for d := range classes {
				mean[c] -= cavity.At(c, d) * p.b[d*n+i]
			}
		}
		visit(i, mean, cavity)
	})
}

// blockCavity returns C_i, given Σ_i but for a common term, what of its diagonal is q, and
// b = 1 - πq, [B_c⁻¹]_ii. With P = I - √π√πᵀ,
//
//	I - D^½ Σ_H D^½ = √π√πᵀ + P(diag b - D^½ (Σ_i - diag q) D^½)P
//
// has eigenvalues between 0 and 1.
func blockCavity(pi, root, b, q []float64, s *mat.SymDense) *mat.SymDense {
	classes := len(pi)
	rest, sigma := mat.NewSymDense(classes, nil), mat.NewSymDense(classes, nil)
	for c := range pi {
		for d := c; d < classes; d++ {
			rest.SetSym(c, d, -root[c]*root[d]*s.At(c, d))
			sigma.SetSym(c, d, s.At(c, d))
		}
		rest.SetSym(c, c, b[c]-pi[c]*(s.At(c, c)-q[c]))
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
			row[d] *= r
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
