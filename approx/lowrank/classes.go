package lowrank

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Classes is the posterior of C processes with independent priors and joint sites: the site of case
// i has precision W_i = D - ππᵀ, D = diag π, for probabilities π of sum 1. With E_i = (W_i⁻¹ +
// Λ_i)⁻¹, Λ_i = diag Λ_ic,
//
//	ε_c = π_c/(1 + π_c Λ_ic),   s = Σ_c ε_c,   E_i = diag ε - ε εᵀ/s
//	|I + W_i Λ_i| = s Π_c (1 + π_c Λ_ic),   T_i = (I + W_i Λ_i)⁻¹ = I - E_i Λ_i
//
// and Cm×Cm instead of m×m, with V̂ the block diagonal matrix of the V_c,
//
//	M = I + V̂ E V̂ᵀ,   blocks M_cd = δ_cd I + V_c diag(E_cd) V_dᵀ
//	|I + W K̂| = Π_i |I + W_i Λ_i| · |M|,   R = (K̂ + W⁻¹)⁻¹ = E - E V̂ᵀ M⁻¹ V̂ E
//	(I + W K̂)⁻¹ = (I - E V̂ᵀ M⁻¹ V̂) T,   Σ_i = Λ_i T_i + T_iᵀ V̂_iᵀ M⁻¹ V̂_i T_i
//
// It takes O(C² n m² + C³ m³) time and O(C² m²) memory besides the priors. E maps vectors that are
// equal for all classes of a case to 0. Vectors of length Cn contain one class after the other.
type Classes struct {
	priors     []*Prior // one shared, or one per class
	n, classes int
	pi, e      []float64         // Cn: π, ε
	sum        []float64         // s
	um         blas64.Triangular // Cm×Cm
	inverse    blas64.Triangular // U_M⁻¹; computed on first use
	full       blas64.General    // M⁻¹; computed on first use
}

// NewClasses has no sites yet. priors has one entry for all classes or one per class, with equal
// numbers of inducing inputs.
func NewClasses(priors []*Prior, classes int) *Classes {
	n := priors[0].Cases()
	v := func(n int) []float64 { return make([]float64, n) }
	return &Classes{priors: priors, n: n, classes: classes, pi: v(classes * n), e: v(classes * n), sum: v(n)}
}

// prior is that of a class.
func (k *Classes) prior(c int) *Prior { return k.priors[min(c, len(k.priors)-1)] }

// of is the part of a vector that belongs to a class.
func (k *Classes) of(c int, x []float64) []float64 { return x[c*k.n : (c+1)*k.n] }

// size is m.
func (k *Classes) size() int { return k.priors[0].Points() }

// Factorise sets π and factors M.
func (k *Classes) Factorise(pi []float64) error {
	copy(k.pi, pi)
	clear(k.sum)
	for c := range k.classes {
		e := k.of(c, k.e)
		for i, p := range k.of(c, pi) {
			e[i] = p / (1 + p*k.prior(c).lambda[i])
			k.sum[i] += e[i]
		}
	}
	m, order := k.size(), k.classes*k.size()
	a := linalg.NewSym(order)
	block := func(c int) blas64.Symmetric {
		return blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: a.Stride, Data: a.Data[c*m*(a.Stride+1):]}
	}
	own := make([]float64, k.n)
	for c := range k.classes {
		k.coupling(own, c, c, 0)
		linalg.SyrkDiag(blas.NoTrans, 1, k.prior(c).v, own, 0, block(c))
	}
	k.others(a)
	for j := range order {
		a.Data[j*a.Stride+j]++
	}
	var ok bool
	if k.um, ok = linalg.Cholesky(a); !ok {
		return fmt.Errorf("the matrix I + V E Vᵀ of %d classes with %d inducing inputs each; standardise the inputs "+
			"or lower the amplitude", k.classes, m)
	}
	k.inverse.Data, k.full.Data = nil, nil
	return nil
}

// others fills the blocks M_cd, c < d, -V_c diag(ε_c ε_d/s) V_dᵀ: for a shared prior, where they
// are symmetric, by a triangle each, and else by one product for each c.
func (k *Classes) others(a blas64.Symmetric) {
	if len(k.priors) == 1 {
		k.othersOfShared(a)
		return
	}
	m, root := k.size(), make([]float64, k.n)
	for j0 := 0; j0 < k.n; j0 += casesAtOnce {
		j1 := min(k.n, j0+casesAtOnce)
		stack, giveBack := borrow(k.classes*m, j1-j0) // V_c diag(ε_c/√s)
		for c := range k.classes {
			for i := j0; i < j1; i++ {
				root[i] = k.of(c, k.e)[i] / math.Sqrt(k.sum[i])
			}
			scaleColumns(rows(stack, c*m, (c+1)*m), columns(k.prior(c).v, j0, j1), root[j0:j1])
		}
		for c := range k.classes - 1 {
			to := blas64.General{Rows: m, Cols: (k.classes - 1 - c) * m, Stride: a.Stride,
				Data: a.Data[c*m*a.Stride+(c+1)*m:]}
			linalg.Gemm(blas.NoTrans, blas.Trans, -1, rows(stack, c*m, (c+1)*m),
				rows(stack, (c+1)*m, k.classes*m), 1, to)
		}
		giveBack()
	}
}

func (k *Classes) othersOfShared(a blas64.Symmetric) {
	m := k.size()
	var pairs [][2]int
	for c := range k.classes {
		for d := c + 1; d < k.classes; d++ {
			pairs = append(pairs, [2]int{c, d})
		}
	}
	linalg.Parallel(len(pairs), func(job int) {
		c, d := pairs[job][0], pairs[job][1]
		weights := make([]float64, k.n)
		k.coupling(weights, c, d, 0)
		block := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: a.Stride, Data: a.Data[c*m*a.Stride+d*m:]}
		linalg.SyrkDiag(blas.NoTrans, 1, k.priors[0].v, weights, 0, block)
		linalg.Reflect(blas.Lower, general(block), general(block))
	})
}

// coupling sets dst to the entries E_cd of the cases from j0 on. On the diagonal it is ε_c Σ_{d≠c}
// ε_d/s, which does not cancel.
func (k *Classes) coupling(dst []float64, c, d, j0 int) {
	ec, ed := k.of(c, k.e)[j0:], k.of(d, k.e)[j0:]
	for i := range dst {
		s := k.sum[j0+i]
		switch {
		case c != d:
			dst[i] = -ec[i] * ed[i] / s
		case ec[i] < s/2:
			dst[i] = ec[i] * (s - ec[i]) / s
		default:
			dst[i] = ec[i] * k.without(k.e, c, j0+i) / s
		}
	}
}

// without is the sum of the numbers at case i over the classes other than c.
func (k *Classes) without(x []float64, c, i int) float64 {
	sum := 0.0
	for d := range k.classes {
		if d != c {
			sum += x[d*k.n+i]
		}
	}
	return sum
}

// LogDet returns ½ log|I + W K̂|.
func (k *Classes) LogDet() float64 {
	sum := 0.0
	for i := range k.n {
		sum += k.logDet(i, 1, func(p *Prior) float64 { return p.lambda[i] })
	}
	return sum/2 + linalg.LogDet(k.um)
}

// logDet is
//
//	log|I + α W_i diag(d_c)| = Σ_c log(1 + α π_c d_c) + log(1 - Σ_c α π_c² d_c/(1 + α π_c d_c))
func (k *Classes) logDet(i int, alpha float64, d func(p *Prior) float64) float64 {
	sum, rest, lost := 0.0, 0.0, 0.0
	for c := range k.classes {
		p := k.pi[c*k.n+i]
		x := alpha * p * d(k.prior(c))
		sum += math.Log1p(x)
		rest += p / (1 + x)
		lost += p * x / (1 + x)
	}
	if lost < 0.5 {
		return sum + math.Log1p(-lost)
	}
	return sum + math.Log(rest)
}

// Penalty is (1-α)/2α log|I + α W_i D_i|, which is subtracted from the log evidence for the site of
// a case; at α = 0 ½ tr(W_i D_i).
func (k *Classes) Penalty(i int) float64 {
	alpha := k.priors[0].power
	if alpha == 1 {
		return 0
	}
	if alpha >= leastPower {
		return (1 - alpha) / (2 * alpha) * k.logDet(i, alpha, func(p *Prior) float64 { return p.spare[i] })
	}
	sum := 0.0
	for c := range k.classes {
		sum += k.pi[c*k.n+i] * k.without(k.pi, c, i) * k.prior(c).spare[i]
	}
	return (1 - alpha) / 2 * sum
}

// PenaltySlopes sets dst, Cn, to the derivative of Penalty by D_ic: (1-α)/2 [(W_i⁻¹ + α D_i)⁻¹]_cc.
func (k *Classes) PenaltySlopes(dst []float64) {
	alpha := k.priors[0].power
	e := make([]float64, k.classes)
	for i := range k.n {
		sum := 0.0
		for c := range e {
			p := k.pi[c*k.n+i]
			e[c] = p / (1 + alpha*p*k.prior(c).spare[i])
			sum += e[c]
		}
		for c := range e {
			rest := 0.0
			for d, v := range e {
				if d != c {
					rest += v
				}
			}
			dst[c*k.n+i] = (1 - alpha) / 2 * e[c] * rest / sum
		}
	}
}

// Leading is a posterior without sites whose priors have only the first inducing inputs: an eighth
// of them and 16 more, so that a factorisation takes little time compared with one of k.
func (k *Classes) Leading() *Classes {
	m := k.size()
	priors := make([]*Prior, len(k.priors))
	for j, p := range k.priors {
		priors[j] = p.leading(min(m, 16+m/8))
	}
	return NewClasses(priors, k.classes)
}

// Multiply sets dst = K̂ x. They must not share memory.
func (k *Classes) Multiply(dst, x []float64) {
	for c := range k.classes {
		floats.MulTo(k.of(c, dst), k.prior(c).lambda, k.of(c, x))
	}
	y := make([]float64, k.classes*k.size())
	k.project(y, x)
	k.lift(dst, 1, y)
}

// project sets dst, Cm, to V̂ x, and lift sets dst, Cn, to V̂ᵀ y + beta dst. A prior shared by the
// classes is read from memory once for all of them.
func (k *Classes) project(dst, x []float64) {
	if len(k.priors) == 1 {
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, k.perClass(x), k.priors[0].v, 0, k.perClass(dst))
		return
	}
	m := k.size()
	for c := range k.classes {
		k.prior(c).project(dst[c*m:(c+1)*m], k.of(c, x))
	}
}

func (k *Classes) lift(dst []float64, beta float64, y []float64) {
	if len(k.priors) == 1 {
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, k.perClass(y), k.priors[0].v, beta, k.perClass(dst))
		return
	}
	m := k.size()
	for c := range k.classes {
		linalg.Gemv(blas.Trans, 1, k.prior(c).v, y[c*m:(c+1)*m], beta, k.of(c, dst))
	}
}

// perClass has a row for every class.
func (k *Classes) perClass(x []float64) blas64.General {
	each := len(x) / k.classes
	return blas64.General{Rows: k.classes, Cols: each, Stride: max(1, each), Data: x}
}

// Shrink sets dst = (I + W K̂)⁻¹ x; dst may be x.
func (k *Classes) Shrink(dst, x []float64) {
	n, m := k.n, k.size()
	z, y, common := make([]float64, len(x)), make([]float64, k.classes*m), make([]float64, n)
	// T x = x/(1 + πΛ) + ε ȳ, ȳ = Σ_c ε_c Λ_c x_c/s
	for c := range k.classes {
		for i, v := range k.of(c, x) {
			common[i] += k.e[c*n+i] * k.prior(c).lambda[i] * v / k.sum[i]
		}
	}
	for c := range k.classes {
		for i, v := range k.of(c, x) {
			j := c*n + i
			z[j] = v/(1+k.pi[j]*k.prior(c).lambda[i]) + k.e[j]*common[i]
		}
	}
	k.project(y, z)
	linalg.SolveTriVec(blas.Trans, k.um, y)
	linalg.SolveTriVec(blas.NoTrans, k.um, y)
	w := make([]float64, len(x))
	k.lift(w, 0, y)
	clear(common)
	for c := range k.classes {
		for i, v := range k.of(c, w) {
			common[i] += k.e[c*n+i] * v / k.sum[i]
		}
	}
	for j, v := range w {
		dst[j] = z[j] - k.e[j]*(v-common[j%n])
	}
}

// Variances sets q and r, Cn, to posterior variances and to the diagonals R_cc. The q are the
// posterior variances of f_c - Σ_d π_d f_d under Σ_i plus (1-α)(D_i⁻¹ + α W_i)⁻¹, which the
// derivative of Penalty needs. Terms common to all classes are left out of the sums, so that these
// do not cancel.
func (k *Classes) Variances(q, r []float64) {
	alpha := k.priors[0].power
	clear(q)
	for i := range k.n {
		k.own(q, i, 1, 1, func(p *Prior) float64 { return p.lambda[i] })
		if alpha < 1 {
			k.own(q, i, alpha, 1-alpha, func(p *Prior) float64 { return p.spare[i] })
		}
	}
	for c := range k.classes {
		k.coupling(k.of(c, r), c, c, 0)
	}
	k.invert()
	k.eachCentred(func(j0 int, y, w [][]float64) { // of one row of U_M⁻ᵀ V̂_i
		for c := range k.classes {
			y, w := y[c], w[c]
			j1 := j0 + len(y)
			qc, rc, ec := k.of(c, q)[j0:j1], k.of(c, r)[j0:j1], k.of(c, k.e)[j0:j1]
			for i, v := range y {
				ev := ec[i] * v
				rc[i] -= ev * ev
				qc[i] += w[i] * w[i]
			}
		}
	})
}

// own adds to q weight times the variances of f_c - Σ_d π_d f_d of case i under (diag(d)⁻¹ + α
// W_i)⁻¹.
func (k *Classes) own(q []float64, i int, alpha, weight float64, d func(p *Prior) float64) {
	a, p, s := k.site(i, alpha, d)
	for c, ac := range a {
		rest, v := 0.0, 0.0
		for d, ad := range a {
			if pd := k.pi[d*k.n+i]; d != c {
				rest += pd
				v += pd * pd * ad
			}
		}
		q[c*k.n+i] += weight * (rest*rest*ac + v + alpha*p[c]*p[c]/s)
	}
}

// site returns a, p and s with (diag(d)⁻¹ + α W_i)⁻¹ = diag a + α p pᵀ/s up to a term common to all
// entries,
//
//	a_c = d_c/(1 + α π_c d_c),   p_c = π_c a_c - Σ_d π_d π_d a_d,   s = Σ_c π_c/(1 + α π_c d_c)
func (k *Classes) site(i int, alpha float64, d func(p *Prior) float64) (a, p []float64, s float64) {
	a, p = make([]float64, k.classes), make([]float64, k.classes)
	for c := range a {
		pi, d := k.pi[c*k.n+i], d(k.prior(c))
		a[c] = d / (1 + alpha*pi*d)
		s += pi / (1 + alpha*pi*d)
	}
	for c := range p {
		for d := range a {
			if pd := k.pi[d*k.n+i]; d != c {
				p[c] += pd * (k.pi[c*k.n+i]*a[c] - pd*a[d])
			}
		}
	}
	return a, p, s
}

// invert computes U_M⁻¹, with zeros below its diagonal.
func (k *Classes) invert() {
	if k.inverse.Data != nil {
		return
	}
	k.inverse = copyOf(k.um)
	linalg.InverseTri(k.inverse)
	for i := range k.inverse.N {
		clear(k.inverse.Data[i*k.inverse.Stride : i*k.inverse.Stride+i])
	}
}

// half sets x to the rows from cm on of U_M⁻ᵀ times w, m×b, which takes the place of V_c; the rows
// above are 0.
func (k *Classes) half(x blas64.General, c int, w blas64.General) {
	m := k.size()
	from := blas64.General{Rows: m, Cols: (k.classes - c) * m, Stride: k.inverse.Stride,
		Data: k.inverse.Data[c*m*(k.inverse.Stride+1):]}
	linalg.Gemm(blas.Trans, blas.NoTrans, 1, from, w, 0, rows(x, c*m, k.classes*m))
}

// eachCentred calls visit with every row of Y = U_M⁻ᵀ V̂_i for the cases from j0 on, and there of
// every class y_c - ȳ, ȳ = Σ_d ε_d y_d/s, and w_c - Σ_d π_d w_d of w = Tᵀy up to a common term,
// (y_c - ȳ)/(1 + π_c Λ_c). Calls for other cases may be concurrent.
func (k *Classes) eachCentred(visit func(j0 int, y, w [][]float64)) {
	m, size := k.size(), max(16, casesAtOnce/k.classes)
	eachPart(k.n, size, func(j0, j1 int) {
		b := j1 - j0
		x := make([]blas64.General, k.classes)
		for c := range x {
			var giveBack func()
			x[c], giveBack = borrow(k.classes*m, b)
			defer giveBack()
			clear(x[c].Data[:c*m*b])
			k.half(x[c], c, columns(k.prior(c).v, j0, j1))
		}
		y, w, left := k.several(b), k.several(b), k.several(b)
		for c := range left {
			for i := range b {
				left[c][i] = 1 / (1 + k.pi[c*k.n+j0+i]*k.prior(c).lambda[j0+i])
			}
		}
		common, mean := make([]float64, b), make([]float64, b)
		for row := range k.classes * m {
			clear(common)
			clear(mean)
			for c := range x {
				from, e := x[c].Data[row*b:(row+1)*b], k.of(c, k.e)[j0:j1]
				for i, v := range from {
					common[i] += e[i] * v
				}
			}
			floats.Div(common, k.sum[j0:j1])
			for c := range x {
				from, pi, left := x[c].Data[row*b:(row+1)*b], k.of(c, k.pi)[j0:j1], left[c][:b]
				y, w, common, mean := y[c][:b], w[c][:b], common[:b], mean[:b]
				for i, v := range from {
					v -= common[i]
					y[i] = v
					v *= left[i]
					w[i] = v
					mean[i] += pi[i] * v
				}
			}
			for c := range x {
				floats.Sub(w[c], mean)
			}
			visit(j0, y, w)
		}
	})
}

// Covariances calls visit with the posterior covariance Σ_i of every case, up to a term common to
// all its entries, with the part of it that is specific to each class, q = (Λ_i⁻¹ + D)⁻¹, and with
// 1 - π q. Calls for several cases may be concurrent.
func (k *Classes) Covariances(visit func(i int, own, left []float64, sigma *mat.SymDense)) {
	k.invert()
	sum := make([]float64, k.classes*k.classes*k.n)
	k.eachCentred(func(j0 int, _, w [][]float64) {
		for c := range w {
			for d := c; d < k.classes; d++ {
				to := sum[(c*k.classes+d)*k.n+j0:]
				for i, v := range w[c] {
					to[i] += v * w[d][i]
				}
			}
		}
	})
	linalg.Rows(k.n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			own, p, s := k.site(i, 1, func(p *Prior) float64 { return p.lambda[i] })
			sigma, left := mat.NewSymDense(k.classes, nil), make([]float64, k.classes)
			for c := range own {
				left[c] = 1 / (1 + k.pi[c*k.n+i]*k.prior(c).lambda[i])
				for d := c; d < k.classes; d++ {
					sigma.SetSym(c, d, sum[(c*k.classes+d)*k.n+i]+p[c]*p[d]/s)
				}
				sigma.SetSym(c, c, sigma.At(c, c)+own[c])
			}
			visit(i, own, left, sigma)
		}
	})
}

// several is a vector of b numbers for every class.
func (k *Classes) several(b int) [][]float64 {
	v := make([][]float64, k.classes)
	for c := range v {
		v[c] = make([]float64, b)
	}
	return v
}

// ClassesAdjoint are the blocks of an adjoint G of K̂ that belong to single classes,
//
//	G_c = ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ)_c - ½ R_cc
//
// with vectors of Cn numbers.
type ClassesAdjoint struct {
	P, Q        [][]float64
	Information []float64 // the diagonals of R_cc, from Variances
	Spare       []float64 // other derivatives with respect to D; nil: 0
}

// Pull sets dst to the derivative with respect to prior j, summed over the classes that share it.
// As V_c R_cc = Σ_d [M⁻¹]_cd V_d diag(E_dc),
//
//	V_c G_c = ½ Σ_k (V_c p_k q_kᵀ + V_c q_k p_kᵀ)_c - ½ Σ_d [M⁻¹]_cd V_d diag(E_dc)
func (k *Classes) Pull(dst *Cov, j int, g ClassesAdjoint) {
	k.invertFull()
	classes := []int{j}
	if len(k.priors) == 1 {
		classes = classes[:0]
		for c := range k.classes {
			classes = append(classes, c)
		}
	}
	noise, p := make([]float64, k.n), k.priors[j]
	var spare []float64
	if g.Spare != nil {
		spare = make([]float64, k.n)
	}
	outers := make([]outer, len(classes))
	for a, c := range classes {
		var ps, qs [][]float64
		for r := range g.P {
			pc, qc := k.of(c, g.P[r]), k.of(c, g.Q[r])
			ps, qs = append(ps, pc), append(qs, qc)
			for i := range noise {
				noise[i] += pc[i] * qc[i]
			}
		}
		floats.AddScaled(noise, -0.5, k.of(c, g.Information))
		if spare != nil {
			floats.Add(spare, k.of(c, g.Spare))
		}
		outers[a] = p.outer(ps, qs)
	}
	p.pull(dst, noise, spare, func(x blas64.General, j0, j1 int) {
		for a, c := range classes {
			k.information(x, c, j0, j1, float64(min(a, 1)))
		}
		for _, o := range outers {
			o.add(x, j0, j1)
		}
	})
}

// information sets x to beta x - ½ V_c R_cc, columns j0 to j1; for a shared prior, the sum over all
// classes uses every pair once.
func (k *Classes) information(x blas64.General, c, j0, j1 int, beta float64) {
	m, first := k.size(), 0
	if len(k.priors) == 1 {
		first = c
	}
	stack, giveBack := borrow((k.classes-first)*m, j1-j0)
	defer giveBack()
	weights := make([]float64, j1-j0)
	for d := first; d < k.classes; d++ {
		k.coupling(weights, d, c, j0)
		scaleColumns(rows(stack, (d-first)*m, (d-first+1)*m), columns(k.prior(d).v, j0, j1), weights)
	}
	from := rows(k.full, c*m, (c+1)*m)
	from = columns(from, first*m, k.full.Cols)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, -0.5, from, stack, beta, x)
}

// invertFull computes the full M⁻¹; for a shared prior, above the diagonal blocks, the sum of a
// block and its transpose.
func (k *Classes) invertFull() {
	if k.full.Data != nil {
		return
	}
	m := k.size()
	k.invert()
	k.full = general(linalg.SquareTri(k.inverse))
	k.inverse.Data = nil // its memory is reused
	linalg.Reflect(blas.Lower, k.full, k.full)
	if len(k.priors) > 1 {
		return
	}
	at := func(c, d, i, j int) *float64 { return &k.full.Data[(c*m+i)*k.full.Stride+d*m+j] }
	for c := range k.classes {
		for d := c + 1; d < k.classes; d++ {
			for i := range m {
				for j := range m {
					*at(c, d, i, j) += *at(d, c, i, j)
				}
			}
		}
	}
}

// general is a symmetric matrix as a general one, with its lower triangle not filled yet.
func general(s blas64.Symmetric) blas64.General {
	return blas64.General{Rows: s.N, Cols: s.N, Stride: s.Stride, Data: s.Data}
}
