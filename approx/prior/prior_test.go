package prior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// structure is a covariance as it is given to New, of cases on a line. Every structure passes the checks of this file,
// which compare it with K formed by its definition.
type structure struct {
	name  string
	cov   Cov
	power float64
	merge bool
}

const testCases, testPoints, testNew = 13, 4, 3

// structures returns a matrix, a matrix with equal cases, inducing inputs with three corrections, neighbours, and
// both.
func structures(seed uint64) []structure {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, testCases+testPoints)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	gram := func(from, to int, of []float64) *mat.SymDense {
		k := mat.NewSymDense(to-from, nil)
		for i := range to - from {
			for j := range i + 1 {
				d := of[from+i] - of[from+j]
				k.SetSym(i, j, 2*math.Exp(-d*d/2))
			}
		}
		return k
	}
	equal := append([]float64{}, x...)
	for i := 5; i < testCases; i += 2 {
		equal[i] = equal[i/3]
	}
	mean := make([]float64, testCases)
	for i := range mean {
		mean[i] = 0.3 * equal[i]
	}
	inducing := Cov{K: gram(testCases, testCases+testPoints, x), Cross: mat.NewDense(testPoints, testCases, nil), Mean: mean}
	for j := range testCases {
		inducing.Diag, inducing.Noise = append(inducing.Diag, 2), append(inducing.Noise, rng.Float64())
		for i := range testPoints {
			d := x[testCases+i] - x[j]
			inducing.Cross.Set(i, j, 2*math.Exp(-d*d/2))
		}
	}
	fullScale := func(most int) Cov {
		near := nearest(rng, gram(0, testCases, x), mean, most)
		cov := inducing
		cov.Neighbours, cov.Blocks = near.Neighbours, near.Blocks
		return cov
	}
	return []structure{
		{"dense", Cov{K: gram(0, testCases, x), Mean: mean}, 1, true},
		{"tied", Cov{K: gram(0, testCases, equal), Mean: mean}, 1, true},
		{"fitc", inducing, 1, true}, {"half", inducing, 0.5, true}, {"vfe", inducing, 0, true},
		{"all neighbours", nearest(rng, gram(0, testCases, x), mean, testCases), 1, true},
		{"neighbours", nearest(rng, gram(0, testCases, x), mean, 2), 1, true},
		{"full scale, all neighbours", fullScale(testCases), 1, true}, {"full scale", fullScale(2), 1, true},
	}
}

// nearest is a covariance with up to this many neighbours, any cases that come before in a random order.
func nearest(rng *rand.Rand, k *mat.SymDense, mean []float64, most int) Cov {
	n := testCases
	b := &Neighbours{Order: rng.Perm(n), Of: make([][]int, n)}
	for t, i := range b.Order {
		for _, before := range rng.Perm(t)[:min(t, most)] {
			b.Of[i] = append(b.Of[i], b.Order[before])
		}
	}
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = 0.2 + rng.Float64()
	}
	cov := Cov{K: k, Neighbours: b, Noise: noise, Mean: mean}
	cov.Blocks = cov.triangles(func(i, j int) float64 { return k.At(i, j) })
	return cov
}

// triangles are the blocks whose numbers f returns.
func (c Cov) triangles(f func(i, j int) float64) [][]float64 {
	blocks := make([][]float64, testCases)
	for i := range blocks {
		members := append(slices.Clone(c.Neighbours.Of[i]), i)
		for a, j := range members {
			for _, l := range members[a:] {
				blocks[i] = append(blocks[i], f(j, l))
			}
		}
	}
	return blocks
}

// whole has the covariances that stand in the blocks, and 0 in place of others.
func (c Cov) whole() *mat.SymDense {
	k := mat.NewSymDense(testCases, nil)
	for i, block := range c.Blocks {
		members := append(slices.Clone(c.Neighbours.Of[i]), i)
		for a, j := range members {
			for _, l := range members[a:] {
				k.SetSym(j, l, block[0])
				block = block[1:]
			}
		}
	}
	return k
}

// ofNeighbours is K̂ by its definition.
func ofNeighbours(t *testing.T, c Cov) *mat.Dense {
	t.Helper()
	precision, rest := mat.NewDense(testCases, testCases, nil), new(mat.Dense)
	for i, of := range c.Neighbours.Of {
		m := len(of)
		b, d := map[int]float64{i: 1}, c.K.At(i, i)+c.Noise[i]
		if m > 0 {
			own, to := mat.NewSymDense(m, nil), mat.NewVecDense(m, nil)
			for a, j := range of {
				to.SetVec(a, c.K.At(i, j))
				for e, l := range of[a:] {
					own.SetSym(a, a+e, c.K.At(j, l))
				}
				own.SetSym(a, a, own.At(a, a)+c.Noise[j])
			}
			var w mat.VecDense
			if err := w.SolveVec(own, to); err != nil {
				t.Fatal(err)
			}
			for a, j := range of {
				b[j] = -w.AtVec(a)
				d -= w.AtVec(a) * to.AtVec(a)
			}
		}
		for j, x := range b {
			for l, y := range b {
				precision.Set(j, l, precision.At(j, l)+x*y/d)
			}
		}
	}
	if err := rest.Inverse(precision); err != nil {
		t.Fatal(err)
	}
	return rest
}

// matrix is K, and D.
func (s structure) matrix(t *testing.T, cov Cov) (k *mat.Dense, residual []float64) {
	t.Helper()
	residual = make([]float64, testCases)
	if cov.Neighbours != nil && cov.Cross == nil {
		return ofNeighbours(t, cov), residual
	}
	if cov.Cross == nil {
		return mat.DenseCopyOf(cov.K), residual
	}
	var solved, q mat.Dense
	if err := solved.Solve(cov.K, cov.Cross); err != nil {
		t.Fatal(err)
	}
	q.Mul(cov.Cross.T(), &solved)
	if cov.Neighbours != nil {
		rest := cov
		rest.K = cov.whole()
		for i := range testCases {
			for j := range i + 1 {
				v := rest.K.At(i, j) - q.At(i, j)
				if i == j {
					v += nugget * rest.K.At(i, i)
				}
				rest.K.SetSym(i, j, v)
			}
		}
		q.Add(&q, ofNeighbours(t, rest))
		return &q, residual
	}
	for i := range residual {
		residual[i] = cov.Diag[i] - q.At(i, i)
		q.Set(i, i, q.At(i, i)+s.power*residual[i]+cov.Noise[i])
	}
	return &q, residual
}

func (s structure) prior(t *testing.T) Prior {
	t.Helper()
	p, err := New(nil, s.cov, testCases, s.power, s.merge, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, merged := p.(*tied); merged != (s.name == "tied") {
		t.Fatalf("%s is %T", s.name, p)
	}
	return p
}

// precisions of sites: all positive; some zero; some so small that they cancel the value's others; one negative.
func precisions() map[string][]float64 {
	all := map[string][]float64{}
	for _, name := range []string{"positive", "extreme", "some zero", "one negative"} {
		tau := make([]float64, testCases)
		for i := range tau {
			tau[i] = 0.3 + float64(i%4)
		}
		switch name {
		case "extreme":
			for i := range tau {
				tau[i] = math.Exp(3 * float64(i%7-3))
			}
		case "some zero":
			tau[0], tau[4], tau[7] = 0, 0, 0
		case "one negative":
			tau[2] = -0.1
		}
		all[name] = tau
	}
	return all
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s is %.14g, from dense matrices %.14g", what, got, want)
	}
}

// posterior returns Σ = (I + K S)⁻¹ K, I - R K = (I + S K)⁻¹ and ½ log|I + K S|.
func posterior(t *testing.T, k, w *mat.Dense) (sigma, shrunk *mat.Dense, logDet float64) {
	t.Helper()
	n, _ := k.Dims()
	var b mat.Dense
	b.Mul(w, k)
	for i := range n {
		b.Set(i, i, b.At(i, i)+1)
	}
	shrunk, sigma = new(mat.Dense), new(mat.Dense)
	if err := shrunk.Inverse(&b); err != nil {
		t.Fatal(err)
	}
	sigma.Mul(k, shrunk)
	logDet, _ = mat.LogDet(&b)
	return sigma, shrunk, logDet / 2
}

func diagonal(tau []float64) *mat.Dense {
	w := mat.NewDense(len(tau), len(tau), nil)
	for i, v := range tau {
		w.Set(i, i, v)
	}
	return w
}

func wave(n int, f float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(f*float64(i) + 1)
	}
	return x
}

// TestPriors compares what a prior computes of K and its sites with dense matrices.
func TestPriors(t *testing.T) {
	for _, s := range structures(1) {
		for kind, tau := range precisions() {
			t.Run(s.name+", "+kind, func(t *testing.T) {
				p := s.prior(t)
				k, residual := s.matrix(t, s.cov)
				if err := p.Factorise(tau); err != nil {
					t.Fatal(err)
				}
				const tolerance = 1e-9
				sigma, shrunk, logDet := posterior(t, k, diagonal(tau))
				near(t, "½ log|I + S K|", p.LogDet(), logDet, tolerance)
				x, kx, dst := wave(testCases, 1), make([]float64, testCases), make([]float64, testCases)
				p.Multiply(kx, x)
				var wantKx, wantShrunk mat.VecDense
				wantKx.MulVec(k, mat.NewVecDense(testCases, x))
				wantShrunk.MulVec(shrunk, mat.NewVecDense(testCases, x))
				largest := 0.0
				for i, v := range kx {
					near(t, "K x", v, wantKx.AtVec(i), tolerance)
					if s.name != "neighbours" && s.name != "full scale" { // whose K̂_ii is K_ii approximately
						near(t, "K_ii", p.Variance(i), k.At(i, i), tolerance)
						largest = max(largest, k.At(i, i))
					} else {
						largest = max(largest, p.Variance(i))
					}
					near(t, "D_i", p.ResidualVariance(i), residual[i], tolerance)
				}
				near(t, "the largest K_ii", p.LargestVariance(), largest, tolerance)
				p.Shrink(dst, x, kx)
				variances, marginals := p.Variances(), p.Marginals()
				for i, v := range dst {
					near(t, "(I + S K)⁻¹ x", v, wantShrunk.AtVec(i), tolerance)
					if tau[i] > 0 && kind != "one negative" {
						near(t, "Σ_ii", variances[i], sigma.At(i, i), tolerance)
					}
					near(t, "v_i", marginals[i].Variance, sigma.At(i, i), tolerance)
					near(t, "1 - τ_i v_i", marginals[i].CavityShare, 1-tau[i]*sigma.At(i, i), tolerance)
				}
				checkLocate(t, s, p, tau, k)
				checkJacobian(t, p, sigma)
				checkPredictions(t, s, p, tau, k)
				if kind == "one negative" {
					return
				}
				r := new(mat.Dense) // R = (I + S K)⁻¹ S
				r.Mul(shrunk, diagonal(tau))
				var rx mat.VecDense
				rx.MulVec(r, mat.NewVecDense(testCases, x))
				near(t, "xᵀR x", p.Solve(dst[:copy(dst, x)]), mat.Dot(&rx, mat.NewVecDense(testCases, x)), tolerance)
				for i, v := range dst {
					near(t, "R x", v, rx.AtVec(i), tolerance)
				}
				for i, v := range p.Diagonal(Adjoint{C: -2}) {
					near(t, "R_ii", v, r.At(i, i), tolerance)
				}
				if k, ok := p.(Fisher); ok {
					got := mat.NewSymDense(testCases, nil)
					k.Information(got)
					if !mat.EqualApprox(got, r, tolerance*max(1, mat.Max(r))) {
						t.Error("R differs")
					}
				}
			})
		}
	}
}

// checkLocate: μ = m + K b and b = ν - τ μ.
func checkLocate(t *testing.T, s structure, p Prior, tau []float64, k *mat.Dense) {
	t.Helper()
	at := Sites{tau, wave(testCases, 2), s.cov.Mean, make([]float64, testCases), make([]float64, testCases)}
	p.Locate(at)
	var kb mat.VecDense
	kb.MulVec(k, mat.NewVecDense(testCases, at.B))
	for i, b := range at.B {
		near(t, "b", b, at.Nu[i]-tau[i]*at.Mu[i], 1e-8)
		near(t, "μ", at.Mu[i], at.Mean[i]+kb.AtVec(i), 1e-8)
	}
}

// checkJacobian: it has the correlations and minus their squares.
func checkJacobian(t *testing.T, p Prior, sigma *mat.Dense) {
	t.Helper()
	n := testCases
	variances, x, dst := make([]float64, n), wave(2*n, 3), make([]float64, 2*n)
	for i := range variances {
		variances[i] = sigma.At(i, i)
	}
	p.Jacobian(variances)(dst, x)
	for i := range n {
		mean, variance := 0.0, 0.0
		for j := range n {
			c := sigma.At(i, j) / math.Sqrt(variances[i]*variances[j])
			mean += c * x[j]
			variance -= c * c * x[n+j]
		}
		near(t, "the change of a mean", dst[i], mean, 1e-8)
		near(t, "the change of a variance", dst[n+i], variance, 1e-8)
	}
}

// checkPredictions: predictions at inputs among the cases or inducing inputs.
func checkPredictions(t *testing.T, s structure, p Prior, tau []float64, k *mat.Dense) {
	t.Helper()
	if s.cov.Neighbours != nil {
		return // TestPredictionsByNeighbours checks these
	}
	known, _ := s.cov.K.Dims()
	cross, diag := mat.NewDense(known, testNew, nil), make([]float64, testNew)
	for j := range testNew {
		diag[j] = s.cov.K.At(j, j) + 0.5
		for i := range known {
			cross.Set(i, j, s.cov.K.At(i, j))
		}
	}
	whole := mat.DenseCopyOf(cross) // covariances with the cases
	if s.cov.Cross != nil {
		var solved mat.Dense
		if err := solved.Solve(s.cov.K, s.cov.Cross); err != nil {
			t.Fatal(err)
		}
		whole.Reset()
		whole.Mul(solved.T(), cross)
	}
	b, mean, variance := wave(testCases, 4), make([]float64, testNew), make([]float64, testNew)
	p.Latent(b, mean, variance, cross, diag)
	_, shrunk, _ := posterior(t, k, diagonal(tau))
	var r, rk, means mat.Dense
	r.Mul(shrunk, diagonal(tau))
	rk.Mul(&r, whole)
	means.Mul(whole.T(), mat.NewDense(testCases, 1, b))
	for j := range testNew {
		near(t, "a latent mean", mean[j], means.At(j, 0), 1e-8)
		near(t, "a latent variance", variance[j], diag[j]-mat.Dot(whole.ColView(j), rk.ColView(j)), 1e-8)
	}
	if numbers, ok := p.Condensed(b); ok {
		again, err := Read(s.cov.K, numbers)
		if err != nil {
			t.Fatal(err)
		}
		m, v := make([]float64, testNew), make([]float64, testNew)
		again.Latent(m, v, cross, diag)
		if !floats.Equal(m, mean) || !floats.Equal(v, variance) {
			t.Error("predictions from the numbers have other bits")
		}
	}
}

// TestPulls: the derivative of Σ G_ij K_ij + Σ w_i D_i along a random change of the numbers that K
// is made of, from Pull, agrees with differences. The change keeps tied cases equal.
func TestPulls(t *testing.T) {
	const h = 1e-5
	for _, s := range structures(2) {
		for _, kind := range []string{"positive", "extreme"} {
			for _, gamma := range []bool{false, true} {
				t.Run(fmt.Sprint(s.name, ", ", kind, ", ", gamma), func(t *testing.T) {
					p, tau := s.prior(t), precisions()[kind]
					k, _ := s.matrix(t, s.cov)
					if err := p.Factorise(tau); err != nil {
						t.Fatal(err)
					}
					g := Adjoint{P: [][]float64{wave(testCases, 1), wave(testCases, 2)}, Q: [][]float64{wave(testCases, 3), wave(testCases, 4)}, C: 0.7}
					if g.Residual = wave(testCases, 6); gamma {
						g.Gamma = wave(testCases, 5)
					}
					want := adjointMatrix(t, g, k, tau)
					for i, v := range p.Diagonal(g) {
						near(t, "diag G", v, want.At(i, i), 1e-7)
					}
					dst := s.emptyAdjoint()
					p.Pull(&dst, g.Constant)
					value := func(step float64) float64 {
						k, residual := s.matrix(t, s.moved(step))
						return sum(want, k) + floats.Dot(g.Residual, residual)
					}
					near(t, "the derivative", s.along(dst), (value(h)-value(-h))/(2*h), 1e-6)
				})
			}
		}
	}
}

// adjointMatrix is G by its definition.
func adjointMatrix(t *testing.T, g Adjoint, k *mat.Dense, tau []float64) *mat.Dense {
	t.Helper()
	_, shrunk, _ := posterior(t, k, diagonal(tau))
	var r, left, middle mat.Dense
	r.Mul(shrunk, diagonal(tau))
	out := mat.NewDense(testCases, testCases, nil)
	out.Scale(-g.C/2, &r)
	for a, p := range g.P {
		for i := range p {
			for j := range p {
				out.Set(i, j, out.At(i, j)+(p[i]*g.Q[a][j]+g.Q[a][i]*p[j])/2)
			}
		}
	}
	if g.Gamma != nil {
		left.Mul(shrunk, diagonal(g.Gamma))
		middle.Mul(&left, shrunk.T())
		out.Add(out, &middle)
	}
	return out
}

func sum(a, b *mat.Dense) float64 {
	var c mat.Dense
	c.MulElem(a, b)
	return mat.Sum(&c)
}

func (s structure) emptyAdjoint() Cov {
	m, _ := s.cov.K.Dims()
	dst := Cov{K: mat.NewSymDense(m, nil)}
	if s.cov.Neighbours != nil {
		dst.Blocks, dst.Noise = s.cov.triangles(func(i, j int) float64 { return 0 }), make([]float64, testCases)
	}
	if s.cov.Cross != nil {
		dst.Cross, dst.Diag, dst.Noise = mat.NewDense(m, testCases, nil), make([]float64, testCases), make([]float64, testCases)
	}
	return dst
}

// direction returns the change of one number of the covariance. The change of K is symmetric, and
// the same for equal cases.
func (s structure) direction(part string, i, j int) float64 {
	if part == "block" {
		i, j = min(i, j), max(i, j)
	}
	if part == "K" {
		x := func(i int) float64 { return s.cov.K.At(i, 0) + 2*s.cov.K.At(i, 1) }
		return 0.3 * math.Cos(x(i)+x(j)) * math.Cos(x(i)-x(j))
	}
	return 0.2 * math.Sin(float64(len(part)+3*i+7*j))
}

func (s structure) moved(h float64) Cov {
	m, _ := s.cov.K.Dims()
	cov := s.cov
	cov.K = mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			cov.K.SetSym(i, j, s.cov.K.At(i, j)+h*s.direction("K", i, j))
		}
	}
	if cov.Neighbours != nil && cov.Cross != nil {
		k := s.cov.whole()
		cov.Blocks = cov.triangles(func(i, j int) float64 { return k.At(i, j) + h*s.direction("block", i, j) })
	} else if cov.Neighbours != nil {
		cov.Blocks, cov.Noise = cov.triangles(cov.K.At), make([]float64, testCases)
		for j := range cov.Noise {
			cov.Noise[j] = s.cov.Noise[j] + h*s.direction("noise", 0, j)
		}
	}
	if s.cov.Cross == nil {
		return cov
	}
	cov.Cross, cov.Diag, cov.Noise = mat.DenseCopyOf(s.cov.Cross), make([]float64, testCases), make([]float64, testCases)
	for j := range testCases {
		cov.Diag[j], cov.Noise[j] = s.cov.Diag[j]+h*s.direction("diag", 0, j), s.cov.Noise[j]+h*s.direction("noise", 0, j)
		for i := range m {
			cov.Cross.Set(i, j, cov.Cross.At(i, j)+h*s.direction("cross", i, j))
		}
	}
	return cov
}

// along is the derivative that an adjoint has along the direction.
func (s structure) along(dst Cov) (d float64) {
	m, _ := s.cov.K.Dims()
	if s.cov.Neighbours != nil && s.cov.Cross != nil {
		for i, directions := range s.cov.triangles(func(i, j int) float64 { return s.direction("block", i, j) }) {
			d += floats.Dot(dst.Blocks[i], directions)
		}
	} else if s.cov.Neighbours != nil {
		directions := s.cov.triangles(func(i, j int) float64 { return s.direction("K", i, j) })
		for i, block := range dst.Blocks {
			d += floats.Dot(block, directions[i]) + dst.Noise[i]*s.direction("noise", 0, i)
		}
		return d
	}
	for i := range m {
		for j := range m {
			d += dst.K.At(i, j) * s.direction("K", i, j)
		}
		for j := range dst.Diag {
			d += dst.Cross.At(i, j) * s.direction("cross", i, j)
		}
	}
	for j, v := range dst.Diag {
		d += v*s.direction("diag", 0, j) + dst.Noise[j]*s.direction("noise", 0, j)
	}
	return d
}

// TestSearches: after a sweep that moves every site, the means and variances agree with a new
// factor. At every visit they agree with a factor of the sites before the visit.
func TestSearches(t *testing.T) {
	for _, s := range structures(3) {
		for _, kind := range []string{"positive", "some zero"} {
			t.Run(s.name+", "+kind, func(t *testing.T) {
				p, tau, n := s.prior(t), precisions()[kind], testCases
				at := Sites{tau, wave(n, 2), s.cov.Mean, make([]float64, n), make([]float64, n)}
				search := p.Search()
				defer search.Close()
				if err := p.Factorise(tau); err != nil {
					t.Fatal(err)
				}
				p.Locate(at)
				sigma := make([]float64, n)
				search.Variances(sigma)
				k, _ := s.matrix(t, s.cov)
				marginal := func(i int) (mean, variance float64) {
					v, shrunk, _ := posterior(t, k, diagonal(at.Tau))
					var mu, rest mat.VecDense // m + K (I + S K)⁻¹(ν - S m)
					rest.CloneFromVec(mat.NewVecDense(n, at.Nu))
					for j, m := range at.Mean {
						rest.SetVec(j, at.Nu[j]-at.Tau[j]*m)
					}
					var b mat.VecDense
					b.MulVec(shrunk, &rest)
					mu.MulVec(k, &b)
					return at.Mean[i] + mu.AtVec(i), v.At(i, i)
				}
				for i := range n {
					mean, variance := marginal(i)
					near(t, "μ", at.Mu[i], mean, 1e-8)
					near(t, "Σ_ii", sigma[i], variance, 1e-8)
				}
				for sweep := range 2 {
					err := search.Sweep(sweep > 0 && search.PrefersSweeps(), at, func(i int, v, b float64) (dTau, dOffset float64, err error) {
						mean, variance := marginal(i)
						near(t, "μ before a visit", at.Mu[i], mean, 1e-7)
						near(t, "v before a visit", v, variance, 1e-7)
						near(t, "b before a visit", b, at.Nu[i]-at.Tau[i]*mean, 1e-7)
						return 0.1 + 0.05*float64(i%3), 0.2 * math.Cos(float64(i)), nil
					})
					if err != nil {
						t.Fatal(err)
					}
					if search.Swept(sigma) {
						for i := range n {
							_, variance := marginal(i)
							near(t, "v after a sweep", sigma[i], variance, 1e-7)
						}
						continue
					}
					if err := p.Factorise(at.Tau); err != nil {
						t.Fatal(err)
					}
					p.Locate(at)
				}
			})
		}
	}
}
