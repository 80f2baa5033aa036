package approx

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// update moves all sites towards those of the last refresh.
func (p *siteFit) update(damping float64) {
	for i, s := range p.next {
		p.tau[i] += damping * (s.tau - p.tau[i])
		p.nu[i] += damping * (s.pull + s.tau*p.mu[i] - p.nu[i])
	}
}

// block is how many sites share one update of Σ.
const block = 64

// sweepWork is the workspace of sweeps.
type sweepWork struct {
	sigma   blas64.Symmetric  // Σ as the last finished block left it
	columns blas64.General    // the columns of a block, in rows
	own     blas64.Triangular // of a block: its own part of the s_t, from their diagonal on, and then U
	c, x    []float64         // of a block: c_t, and how far μ moves along s_t
	mu      []float64         // of a block: μ as the last finished block left it
}

func newSweep(work *Work, n int) *sweepWork {
	v := func() []float64 { return make([]float64, block) }
	return &sweepWork{
		sigma:   blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: max(1, n), Data: work.take(n * n)},
		columns: work.general(block, n), own: upper(linalg.NewGeneral(block, block)),
		c: v(), x: v(), mu: v(),
	}
}

// covariance sets sigma to Σ = K - vᵀv + (FK)ᵀFK.
func (s *sites) covariance(sigma blas64.Symmetric, v blas64.General) {
	for i := range sigma.N {
		copy(sigma.Data[i*sigma.Stride+i:i*sigma.Stride+sigma.N], s.k.Data[i*s.k.Stride+i:i*s.k.Stride+sigma.N])
	}
	if !s.silent() {
		linalg.Syrk(blas.Trans, -1, v, 1, sigma)
	}
	if s.negative.fk.Rows > 0 {
		linalg.Syrk(blas.Trans, 1, s.negative.fk, 1, sigma)
	}
}

// sweep updates every site once, GPML Algorithm 3.5 lines 4-12, and tells how far from a fixed
// point it found them. A new site i subtracts c s sᵀ from Σ, s its column i and c = Δτ/(1 + Δτ
// Σ_ii), and adds a multiple x of s to μ.
//
// The sites of a block need no more of Σ and μ than their own rows and columns. Beyond them both
// are brought up to date when the block is finished: the column of its site t was column t less Σ_r
// c_r s_r[t] s_r over the sites r before it, so that the s_t are the rows of U⁻ᵀ C, with C the
// block's columns as it found them and U_rt = c_r s_r[t], U_tt = 1.
func (p *siteFit) sweep(w *sweepWork, damping float64) (fixedPoint, error) {
	var fit fixedPoint
	n := len(p.tau)
	for i0 := 0; i0 < n; i0 += block {
		k := min(block, n-i0)
		w.gather(i0, i0+k)
		mu := p.mu[i0 : i0+k]
		copy(w.mu, mu)
		for t := range k {
			i := i0 + t
			s := w.own.Data[t*block+t : t*block+k]
			copy(s, w.columns.Data[t*n+i:])
			for r := range t {
				before := w.own.Data[r*block+t : r*block+k]
				f := w.c[r] * before[0]
				for j, v := range before {
					s[j] -= f * v
				}
			}
			v := p.atLeast(i, s[0])
			tau, b := p.tau[i], p.nu[i]-p.tau[i]*mu[t]
			next, err := p.propose(i, v, b, &fit)
			if err != nil {
				return fit, err
			}
			dTau, dPull := damping*(next.tau-tau), damping*(next.pull-b)
			p.tau[i] += dTau
			p.nu[i] += dPull + dTau*mu[t]
			scale := 1 / (1 + dTau*v)
			w.c[t], w.x[t] = dTau*scale, dPull*scale
			for j, v := range s {
				mu[t+j] += w.x[t] * v
			}
		}
		copy(mu, w.mu)
		w.flush(k)
		linalg.Gemv(blas.Trans, 1, w.block(k), w.x[:k], 1, p.mu)
	}
	return fit, nil
}

// gather copies columns i0 to i1 of Σ.
func (w *sweepWork) gather(i0, i1 int) {
	n := w.sigma.N
	for j := range i1 {
		for i := max(i0, j); i < i1; i++ {
			v := w.sigma.Data[j*n+i]
			w.columns.Data[(i-i0)*n+j] = v
			if j >= i0 {
				w.columns.Data[(j-i0)*n+i] = v
			}
		}
	}
	for i := i0; i < i1; i++ {
		copy(w.columns.Data[(i-i0)*n+i1:(i-i0+1)*n], w.sigma.Data[i*n+i1:(i+1)*n])
	}
}

// block views the first k columns of a block.
func (w *sweepWork) block(k int) blas64.General {
	columns := w.columns
	columns.Rows = k
	return columns
}

// flush makes the columns of a block of k sites into the s_t and subtracts Σ_t c_t s_t s_tᵀ from Σ.
func (w *sweepWork) flush(k int) {
	u := w.own
	u.N = k
	for t, c := range w.c[:k] {
		row := u.Data[t*block+t : t*block+k]
		for j := range row {
			row[j] *= c
		}
		row[0] = 1
	}
	linalg.SolveTri(blas.Trans, u, w.block(k))
	linalg.SyrkDiag(blas.Trans, -1, w.block(k), w.c[:k], 1, w.sigma)
}
