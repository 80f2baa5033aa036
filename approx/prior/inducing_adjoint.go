package prior

import (
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// pull sets dst to the derivatives with respect to K_zz, K_zx, the variances and the noise, given
// an adjoint G of K̂. noise is ℓ = diag G, and vg sets its argument to columns j0 to j1 of V G. The
// weight on D is h = α ℓ + spare (spare nil: 0), and the weight on Q is G₀ = G - diag(h). With P =
// K_zz⁻¹K_zx = U⁻¹V,
//
//	K_zz: -P G₀ Pᵀ,   K_zx: 2 P G₀,   K_ii: h_i,   N_i: ℓ_i
func (p *inducing) pull(dst *Cov, noise, spare []float64, vg func(x blas64.General, j0, j1 int)) {
	n, m := p.cases(), p.points()
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
			if !p.white {
				linalg.SolveTri(blas.NoTrans, p.u, x)
			}
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
func (p *inducing) pullInducing(dst *Cov, product blas64.General) {
	m := p.points()
	if r := dst.K.SymmetricDim(); r != m {
		panic(fmt.Sprintf("prior: adjoint is %d×%d, want %d×%d", r, r, m, m))
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

// outer is V times ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ).
type outer struct{ p, q, vp, vq [][]float64 }

func (p *inducing) outer(a, b [][]float64) outer {
	o := outer{p: a, q: b}
	project := func(x []float64) []float64 {
		vx := make([]float64, p.points())
		p.project(vx, x)
		return vx
	}
	for r := range a {
		o.vp, o.vq = append(o.vp, project(a[r])), append(o.vq, project(b[r]))
	}
	return o
}

// add adds columns j0 to j1 of it to x.
func (o outer) add(x blas64.General, j0, j1 int) {
	for k := range x.Rows {
		xk := x.Data[k*x.Stride : k*x.Stride+x.Cols]
		for r := range o.p {
			floats.AddScaled(xk, o.vp[r][k]/2, o.q[r][j0:j1])
			floats.AddScaled(xk, o.vq[r][k]/2, o.p[r][j0:j1])
		}
	}
}
