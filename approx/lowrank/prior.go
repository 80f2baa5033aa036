// Package lowrank computes with Gaussian priors of lower rank, determined by m inducing inputs Z,
//
//	K̂ = Q + Λ,   Q = K_xz K_zz⁻¹ K_zx = VᵀV,   K_zz = UᵀU,   V = U⁻ᵀ K_zx,
//	Λ = N + α D,   D = diag(K - Q)
//
// with N the independent noise of every case and α the power of the correction, and with their
// posteriors under Gaussian sites: of one process (Sites), and of several processes that the sites
// couple (Classes). No n×n matrix is formed; computations take O(n m²) time (Quiñonero-Candela &
// Rasmussen 2005; Woodbury's identity). It does not depend on likelihoods and kernels: priors are
// matrices, and adjoints are returned as matrices.
//
// An error names the covariance that is not finite or not positive definite, with a remedy; wrong
// shapes panic.
package lowrank

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Cov is the covariance of one process at m inducing inputs and n cases. An adjoint has the same
// shape.
type Cov struct {
	K           *mat.SymDense // m×m, of the inducing inputs
	Cross       *mat.Dense    // m×n, of those with the cases
	Diag, Noise []float64     // n prior variances: without noise, and of the noise (nil: none)
	// Scratch lets New overwrite the memory of Cross with V; Cross then contains no covariance any
	// more.
	Scratch bool
	// Part, of an adjoint, receives the columns of the adjoint of Cross from case from on, PartSize
	// at a time, in any order and concurrently; Cross is then nil. Part must not keep the matrix.
	Part func(part *mat.Dense, from int)
}

// PartSize is the number of columns per call of Cov.Part.
const PartSize = 2048

// Prior is K̂.
type Prior struct {
	u      blas64.Triangular // of K_zz
	v      blas64.General    // V, m×n
	vars   []float64         // K̂_ii
	lambda []float64         // Λ
	spare  []float64         // D
	power  float64           // α
	jitter float64           // on the diagonal of K_zz
	widest int               // the inducing input with the largest prior variance, which scales the jitter
}

// leastShare is the smallest squared pivot of K_zz, relative to its largest diagonal entry, with
// which it is factored unchanged. If a pivot is smaller, that fraction of the entry is added to the
// diagonal: solves with U then keep half of the digits. The addition becomes part of the model: the
// inducing variables are noisy values of the process.
const leastShare = 1e-8

// New factors K_zz and computes V, in memory from room.
func New(cov Cov, power float64, room func(rows, columns int) blas64.General) (*Prior, error) {
	if err := cov.check(); err != nil {
		return nil, err
	}
	m, n := cov.Cross.Dims()
	vector := func() []float64 { return make([]float64, n) }
	p := &Prior{vars: vector(), lambda: vector(), spare: vector(), power: power}
	if p.v = cov.Cross.RawMatrix(); !cov.Scratch {
		p.v = room(m, n)
	}
	if err := p.factorInducing(cov.K.RawSymmetric()); err != nil {
		return nil, err
	}
	eachPart(n, casesAtOnce, func(j0, j1 int) {
		part := columns(p.v, j0, j1)
		if !cov.Scratch {
			scaleColumns(part, columns(cov.Cross.RawMatrix(), j0, j1), nil)
		}
		linalg.SolveTri(blas.Trans, p.u, part)
		q := p.spare[j0:j1]
		clear(q)
		linalg.AddSquares(1, part, q)
	})
	if err := p.checkCross(p.spare); err != nil {
		return nil, err
	}
	for i, told := range p.spare {
		d := max(cov.Diag[i]-told, 0) // which only rounding takes below
		p.spare[i] = d
		p.lambda[i] = power * d
		if cov.Noise != nil {
			p.lambda[i] += cov.Noise[i]
		}
		p.vars[i] = cov.Diag[i] - d + p.lambda[i]
	}
	return p, nil
}

// leading is the prior with only the first r inducing inputs, in the same memory: the variance
// explained by the others becomes independent variance of each case, in addition to Λ.
func (p *Prior) leading(r int) *Prior {
	own, rest := slices.Clone(p.lambda), rows(p.v, r, p.Points())
	linalg.AddSquares(1, rest, own)
	return &Prior{v: rows(p.v, 0, r), vars: p.vars, lambda: own, spare: p.spare, power: p.power}
}

// factorInducing sets U, with as much jitter as necessary.
func (p *Prior) factorInducing(k blas64.Symmetric) error {
	m := k.N
	for j := range m {
		if k.Data[j*k.Stride+j] > k.Data[p.widest*k.Stride+p.widest] {
			p.widest = j
		}
	}
	least := leastShare * k.Data[p.widest*k.Stride+p.widest]
	for _, p.jitter = range []float64{0, least} {
		a := linalg.NewSym(m)
		for j := range m {
			copy(a.Data[j*a.Stride+j:(j+1)*a.Stride], k.Data[j*k.Stride+j:j*k.Stride+m])
			a.Data[j*a.Stride+j] += p.jitter
		}
		var ok bool
		if p.u, ok = linalg.Cholesky(a); ok && (p.jitter > 0 || leastPivot(p.u) >= least) {
			return nil
		}
	}
	return fmt.Errorf("the covariance of %d inducing inputs, with variances up to %.3g; standardise the inputs "+
		"or lower the amplitude", m, least/leastShare)
}

// leastPivot is the smallest U_ii².
func leastPivot(u blas64.Triangular) float64 {
	least := math.Inf(1)
	for i := range u.N {
		d := u.Data[i*u.Stride+i]
		least = min(least, d*d)
	}
	return least
}

// check returns an error if a prior covariance is invalid.
func (c Cov) check() error {
	m, n := c.Cross.Dims()
	if r := c.K.SymmetricDim(); r != m || len(c.Diag) != n || c.Noise != nil && len(c.Noise) != n {
		panic(fmt.Sprintf("lowrank: K is %d×%d, Cross %d×%d, and Diag and Noise have %d and %d entries, want m×m, "+
			"m×n and n", r, r, m, n, len(c.Diag), len(c.Noise)))
	}
	for i, v := range c.Diag {
		noise := 0.0
		if c.Noise != nil {
			noise = c.Noise[i]
		}
		if !finite(v+noise) || v < 0 || noise < 0 {
			return fmt.Errorf("the prior variance of case %d is %v, and that of its noise %v; an input or a "+
				"hyperparameter is out of range", i, v, noise)
		}
	}
	for j := range m {
		for l := range j + 1 {
			if v := c.K.At(l, j); !finite(v) {
				return fmt.Errorf("the covariance of inducing inputs %d and %d is %v; an input or a "+
					"hyperparameter is out of range", l, j, v)
			}
		}
	}
	return nil
}

// checkCross says what was wrong with a column of K_zx, given |v|² of all columns of V. A number
// that is not finite leaves none of its column of V finite from its own row on.
func (p *Prior) checkCross(squares []float64) error {
	if linalg.AllFinite(squares) {
		return nil
	}
	for k := range p.v.Rows {
		row := p.v.Data[k*p.v.Stride : k*p.v.Stride+p.v.Cols]
		if i := slices.IndexFunc(row, func(v float64) bool { return !finite(v) }); i >= 0 {
			return fmt.Errorf("the covariance of inducing input %d and case %d is %v; an input or a hyperparameter is "+
				"out of range", k, i, row[i])
		}
	}
	return nil // the squares overflow
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// casesAtOnce is the number of cases per part of a pass over V.
const casesAtOnce = 512

// eachPart calls work for every part of n cases, concurrently. The parts do not depend on the
// number of threads.
func eachPart(n, size int, work func(j0, j1 int)) {
	linalg.Parallel((n+size-1)/size, func(job int) {
		work(job*size, min(n, (job+1)*size))
	})
}

// columns views columns j0 to j1.
func columns(a blas64.General, j0, j1 int) blas64.General {
	a.Cols = j1 - j0
	if a.Rows > 0 {
		a.Data = a.Data[j0:]
	}
	return a
}

// rows views rows k0 to k1.
func rows(a blas64.General, k0, k1 int) blas64.General {
	a.Rows, a.Data = k1-k0, a.Data[k0*a.Stride:]
	return a
}

// scaleColumns sets dst to a with each column times its own number; nil: to a.
func scaleColumns(dst, a blas64.General, by []float64) {
	for k := range a.Rows {
		from, to := a.Data[k*a.Stride:k*a.Stride+a.Cols], dst.Data[k*dst.Stride:k*dst.Stride+dst.Cols]
		if by == nil {
			copy(to, from)
		} else {
			floats.MulTo(to, from, by)
		}
	}
}

// scaledColumns borrows a copy of columns j0 to j1, each times its own number.
func scaledColumns(a blas64.General, j0, j1 int, by []float64) (out blas64.General, giveBack func()) {
	out, giveBack = borrow(a.Rows, j1-j0)
	if by != nil {
		by = by[j0:j1]
	}
	scaleColumns(out, columns(a, j0, j1), by)
	return out, giveBack
}

// parts is a pool of returned memory.
var parts = sync.Pool{New: func() any { return new([]float64) }}

// borrow returns an uninitialised matrix, valid until giveBack is called. A pool is used because
// many parts are allocated, and the garbage collector may run late.
func borrow(r, c int) (a blas64.General, giveBack func()) {
	data := parts.Get().(*[]float64)
	if size := r * max(1, c); cap(*data) < size {
		*data = linalg.Floats(size)
	}
	a = blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: (*data)[:r*max(1, c)]}
	return a, func() { parts.Put(data) }
}

// Cases is the number of cases, n, and Points the number of inducing inputs, m.
func (p *Prior) Cases() int  { return len(p.vars) }
func (p *Prior) Points() int { return p.v.Rows }

// Power is α.
func (p *Prior) Power() float64 { return p.power }

// Jitter is the value added to the diagonal of K_zz.
func (p *Prior) Jitter() float64 { return p.jitter }

// Unexplained is the fraction of the prior variance of the cases, without noise, that the inducing
// inputs leave unexplained: Σ_i D_i/Σ_i K_ii.
func (p *Prior) Unexplained() float64 {
	left, all := floats.Sum(p.spare), 0.0
	for i, v := range p.vars {
		all += v - p.lambda[i] + p.spare[i]
	}
	if all > 0 {
		return left / all
	}
	return 0
}

// Lacking is D_i, the variance of case i that Q lacks, and Own is Λ_i.
func (p *Prior) Lacking(i int) float64 { return p.spare[i] }
func (p *Prior) Own(i int) float64     { return p.lambda[i] }

// Variance is the prior variance K̂_ii, and Largest the largest of them.
func (p *Prior) Variance(i int) float64 { return p.vars[i] }
func (p *Prior) Largest() float64       { return max(0, slices.Max(p.vars)) }

// project sets dst = V x, and lift adds c Vᵀ y to dst.
func (p *Prior) project(dst, x []float64) { linalg.Gemv(blas.NoTrans, 1, p.v, x, 0, dst) }
func (p *Prior) lift(dst []float64, c float64, y []float64) {
	linalg.Gemv(blas.Trans, c, p.v, y, 1, dst)
}

// Multiply sets dst = K̂ x. They must not share memory.
func (p *Prior) Multiply(dst, x []float64) {
	y := make([]float64, p.Points())
	p.project(y, x)
	floats.MulTo(dst, p.lambda, x)
	p.lift(dst, 1, y)
}

// whiten returns w = U⁻ᵀ K(Z, x*) for new inputs, whose covariance with the cases is wᵀV.
func (p *Prior) whiten(cross *mat.Dense, diag []float64) blas64.General {
	m, k := cross.Dims()
	if m != p.Points() || len(diag) != k {
		panic(fmt.Sprintf("lowrank: cross is %d×%d and diag has %d entries, want %d×m and m",
			m, k, len(diag), p.Points()))
	}
	w := linalg.NewGeneral(m, k)
	scaleColumns(w, cross.RawMatrix(), nil)
	linalg.SolveTri(blas.Trans, p.u, w)
	return w
}

// Penalty is (1-α)/2α log(1 + α D_i τ), which is subtracted from the log evidence for a site of
// precision τ.
func (p *Prior) Penalty(i int, tau float64) float64 {
	d := p.spare[i]
	if p.power < leastPower {
		return (1 - p.power) / 2 * d * tau
	}
	return (1 - p.power) / (2 * p.power) * math.Log1p(p.power*d*tau)
}

// leastPower is the α below which the first term of a series in α is exact in double precision.
const leastPower = 1e-6

// PenaltySlope is the derivative of Penalty with respect to D_i divided by τ, which equals that
// with respect to τ divided by D_i.
func (p *Prior) PenaltySlope(i int, tau float64) float64 {
	return (1 - p.power) / 2 / (1 + p.power*p.spare[i]*tau)
}

// pull sets dst to the derivatives with respect to K_zz, K_zx, the variances and the noise for the
// adjoint G of K̂, given ℓ = diag G and the function vg, which sets its argument to columns j0 to
// j1 of V G. With P = K_zz⁻¹K_zx = U⁻¹V, h = α ℓ + spare the weight on D (spare nil: 0) and G₀ = G
// - diag(h) that on Q,
//
//	K_zz: -P G₀ Pᵀ,   K_zx: 2 P G₀,   K_ii: h_i,   N_i: ℓ_i
func (p *Prior) pull(dst *Cov, noise, spare []float64, vg func(x blas64.General, j0, j1 int)) {
	n, m := p.Cases(), p.Points()
	h := floats.ScaleTo(make([]float64, n), p.power, noise)
	if spare != nil {
		floats.Add(h, spare)
	}
	product, turn := linalg.NewGeneral(m, m), newTurns() // P G₀ Vᵀ
	eachPart(n, PartSize, func(i0, i1 int) {
		part, giveBack := borrow(m, i1-i0)
		defer giveBack()
		if dst.Part == nil {
			part = columns(dst.Cross.RawMatrix(), i0, i1)
		}
		for j0 := i0; j0 < i1; j0 += casesAtOnce { // P G₀
			j1 := min(i1, j0+casesAtOnce)
			v, x := columns(p.v, j0, j1), columns(part, j0-i0, j1-i0)
			vg(x, j0, j1)
			for k := range m {
				vk, xk := v.Data[k*v.Stride:k*v.Stride+v.Cols], x.Data[k*x.Stride:k*x.Stride+x.Cols]
				for j := range xk {
					xk[j] -= h[j0+j] * vk[j]
				}
			}
			linalg.SolveTri(blas.NoTrans, p.u, x)
		}
		own, giveBackOwn := borrow(m, m)
		defer giveBackOwn()
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, part, columns(p.v, i0, i1), 0, own)
		turn.take(i0/PartSize, func() { floats.Add(product.Data, own.Data) })
		for k := range m {
			floats.Scale(2, part.Data[k*part.Stride:k*part.Stride+part.Cols])
		}
		if dst.Part != nil {
			dst.Part(mat.NewDense(m, part.Cols, part.Data), i0)
		}
	})
	p.pullInducing(dst, product)
	copy(dst.Diag, h)
	copy(dst.Noise, noise)
}

// turns makes concurrent parts take turns in order.
type turns struct {
	mutex sync.Mutex
	moved *sync.Cond
	next  int
}

func newTurns() *turns {
	t := new(turns)
	t.moved = sync.NewCond(&t.mutex)
	return t
}

// take waits for the turn of a part, and calls work. The parts before must have been started.
func (t *turns) take(part int, work func()) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for t.next != part {
		t.moved.Wait()
	}
	work()
	t.next++
	t.moved.Broadcast()
}

// pullInducing sets dst.K to -P G₀ Pᵀ given P G₀ Vᵀ, plus the derivative with respect to the
// variance that scales the jitter.
func (p *Prior) pullInducing(dst *Cov, product blas64.General) {
	m := p.Points()
	if r := dst.K.SymmetricDim(); r != m {
		panic(fmt.Sprintf("lowrank: adjoint is %d×%d, want %d×%d", r, r, m, m))
	}
	transposed := linalg.NewGeneral(m, m)
	for i := range m {
		for j := range m {
			transposed.Data[j*m+i] = -product.Data[i*m+j]
		}
	}
	linalg.SolveTri(blas.NoTrans, p.u, transposed) // U⁻¹ V G₀ Pᵀ, transposed
	trace := 0.0
	for i := range m {
		trace += transposed.Data[i*m+i]
		for j := i; j < m; j++ {
			dst.K.SetSym(i, j, (transposed.Data[i*m+j]+transposed.Data[j*m+i])/2)
		}
	}
	if p.jitter > 0 {
		dst.K.SetSym(p.widest, p.widest, dst.K.At(p.widest, p.widest)+leastShare*trace)
	}
}

// full is a symmetric matrix with both of its triangles.
func full(s blas64.Symmetric) blas64.General {
	a := linalg.NewGeneral(s.N, s.N)
	for i := range s.N {
		copy(a.Data[i*a.Stride+i:(i+1)*a.Stride], s.Data[i*s.Stride+i:i*s.Stride+s.N])
	}
	linalg.Reflect(blas.Lower, a, a)
	return a
}

func copyOf(u blas64.Triangular) blas64.Triangular {
	u.Data = slices.Clone(u.Data)
	return u
}
