package approx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// LatentCovariancer posteriors have several latent processes, which the data correlate.
type LatentCovariancer interface {
	// LatentCovariance sets dst[j], C×C, to the covariance of f_1(z_j) … f_C(z_j). cross and diag
	// are those of Posterior.PredictProba.
	LatentCovariance(dst []*mat.SymDense, cross []*mat.Dense, diag [][]float64)
}

// project returns what class c contributes to the covariance of the latent values at new inputs,
// GPML Algorithm 3.4 lines 4-9: between classes c and d it is, with k* = cross and k** = diag,
//
//	δ_cd q_c + x_cᵀx_d,   q_c = k** - k*ᵀ E_c k*,   x_c = M⁻ᵀ E_c k*
//
// q_c is floored at 0, which only rounding can reach.
func (p *multiclass) project(c int, cross *mat.Dense, diag []float64) (q []float64, x blas64.General) {
	n, m := cross.Dims()
	if n != p.n || len(diag) != m {
		panic(fmt.Sprintf("approx: cross is %d×%d and diag has %d entries, want %d×m and m", n, m, len(diag), p.n))
	}
	root, k := p.of(c, p.root), cross.RawMatrix()
	x = linalg.NewGeneral(n, m)
	for i, r := range root {
		for j, v := range k.Data[i*k.Stride : i*k.Stride+m] {
			x.Data[i*m+j] = r * v
		}
	}
	linalg.SolveTri(blas.Trans, p.u[c], x)
	q = slices.Clone(diag)
	subtractSquares(q, x)
	for j, v := range q {
		q[j] = max(v, 0)
	}
	linalg.SolveTri(blas.NoTrans, p.u[c], x)
	for i, r := range root {
		for j := range m {
			x.Data[i*m+j] *= r
		}
	}
	linalg.SolveTri(blas.Trans, p.m, x)
	return q, x
}

// Latent implements Posterior.
func (p *multiclass) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	checkLatent(mean, variance, len(diag))
	linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), p.of(class, p.b), 0, mean)
	if variance == nil {
		return
	}
	q, x := p.project(class, cross, diag)
	clear(variance)
	subtractSquares(variance, x)
	for j, v := range variance {
		variance[j] = q[j] - v
	}
}

// LatentCovariance implements LatentCovariancer.
func (p *multiclass) LatentCovariance(dst []*mat.SymDense, cross []*mat.Dense, diag [][]float64) {
	p.covariances(cross, diag, false, func(j int, _ []float64, s *mat.SymDense) { dst[j].CopySym(s) })
}

// covariances calls visit with the covariance of the latent values at every new input, and with the
// q_c of its diagonal; differences says that only those matter, and then a term common to all
// entries is left out, which may exceed them by orders of magnitude.
func (p *multiclass) covariances(
	cross []*mat.Dense, diag [][]float64, differences bool, visit func(j int, q []float64, s *mat.SymDense),
) {
	const block = 64 // new inputs at a time: C n numbers for each
	x, q := make([]blas64.General, p.classes), make([][]float64, p.classes)
	s, own := mat.NewSymDense(p.classes, nil), make([]float64, p.classes)
	sum := linalg.NewGeneral(p.classes*p.classes, block) // of products, row c·C + d of classes c ≤ d
	for from := 0; from < len(diag[0]); from += block {
		to := min(from+block, len(diag[0]))
		for c := range p.classes {
			k := share(cross, c)
			q[c], x[c] = p.project(c, k.Slice(0, p.n, from, to).(*mat.Dense), share(diag, c)[from:to])
		}
		if differences {
			center(x)
		}
		clear(sum.Data)
		for c := range p.classes {
			for d := c; d < p.classes; d++ {
				addProducts(sum.Data[(c*p.classes+d)*block:][:to-from], x[c], x[d])
			}
		}
		for j := range to - from {
			for c := range p.classes {
				for d := c; d < p.classes; d++ {
					s.SetSym(c, d, sum.Data[(c*p.classes+d)*block+j])
				}
				own[c] = q[c][j]
				s.SetSym(c, c, s.At(c, c)+own[c])
			}
			visit(from+j, own, s)
		}
	}
}

// center takes off every number the mean of those in its place.
func center(x []blas64.General) {
	for i := range x[0].Data {
		mean := 0.0
		for c := range x {
			mean += x[c].Data[i]
		}
		mean /= float64(len(x))
		for c := range x {
			x[c].Data[i] -= mean
		}
	}
}

// addProducts adds to dst[j] the product of the columns j of x and y.
func addProducts(dst []float64, x, y blas64.General) {
	m := len(dst)
	for i := range x.Rows {
		row := y.Data[i*m : (i+1)*m]
		for j, v := range x.Data[i*m : (i+1)*m] {
			dst[j] += v * row[j]
		}
	}
}

// PredictProba implements Posterior by averaging over the latent Gaussian as GPML Algorithm 3.4
// does, but without random numbers.
func (p *multiclass) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	m := len(diag[0])
	checkProbabilities(dst, m, p.classes)
	mu := mat.NewDense(p.classes, m, nil)
	for c := range p.classes {
		row := mu.RawRowView(c)
		if mean != nil {
			copy(row, share(mean, c))
		}
		linalg.Gemv(blas.Trans, 1, share(cross, c).RawMatrix(), p.of(c, p.b), 1, row)
	}
	center := make([]float64, p.classes)
	p.covariances(cross, diag, true, func(j int, _ []float64, s *mat.SymDense) {
		p.deviation.Add(p.lik.Average(dst.RawRowView(j), mat.Col(center, j, mu), s, p.points))
	})
}

// AverageError implements Averager.
func (p *multiclass) AverageError() float64 { return p.deviation.AverageError() }

// LeaveOneOut implements LeaveOneOuter by block cavities, over which softmax is averaged as in
// predictions. It has no derivatives.
func (p *multiclass) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	proba, sum := make([]float64, p.classes), 0.0
	p.blockCavities(func(i int, mean []float64, cavity *mat.SymDense) {
		p.deviation.Add(p.lik.Average(proba, mean, cavity, p.points))
		sum += math.Log(max(proba[p.y[i]], leastProbability))
	})
	if !finite(sum) {
		return nil, fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", ErrNotConverged, sum)
	}
	return functional{value: sum, err: ErrNoGradient}, nil
}

// leastProbability is the smallest whose logarithm is taken.
const leastProbability = 0x1p-1022

// blockCavities calls visit for every case with the mean and covariance of its latent values
// without its site, of precision W_i = D - ππᵀ, D = diag π, and slope g_i = e_y - π: the marginal
// N(f̂_i, Σ_i) becomes N(f̂_i - C_i g_i, C_i) with C_i = (Σ_i⁻¹ - W_i)⁻¹. But for what is common to
// all classes, which softmax does not see,
//
//	C_i = Σ_H + Σ_H D^½ (I - D^½ Σ_H D^½)⁻¹ D^½ Σ_H,   Σ_H = H Σ_i Hᵀ,   H = I - 1πᵀ
//
// where nothing is divided by a small π.
func (p *multiclass) blockCavities(visit func(i int, mean []float64, covariance *mat.SymDense)) {
	n, classes := p.n, p.classes
	cross, diag := make([]*mat.Dense, len(p.k)), make([][]float64, len(p.k))
	for j, k := range p.k {
		cross[j], diag[j] = mat.NewDense(n, n, full(k).Data), make([]float64, n)
		for i := range n {
			diag[j][i] = cross[j].At(i, i)
		}
	}
	vector := func() []float64 { return make([]float64, classes) }
	pi, root, b, mean := vector(), vector(), vector(), vector()
	p.covariances(cross, diag, true, func(i int, q []float64, s *mat.SymDense) {
		for c, j := 0, i; c < classes; c, j = c+1, j+n {
			pi[c], root[c] = p.at.w[j], math.Sqrt(p.at.w[j])
			b[c] = p.left[j] // which is 1 - πq without the cancellation
		}
		cavity := blockCavity(pi, root, b, q, s)
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
