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

// width is the number of rows of Σ that a thread updates at a time for a block of sites.
const width = 256

// sweepWork is the workspace of sweeps.
type sweepWork struct {
	sigma   blas64.Symmetric  // Σ after the last complete block, in the memory of the factor
	columns blas64.General    // the columns of a block, in rows
	own     blas64.Triangular // of a block: its own part of the s_t, from their diagonal on, and then U
	c, x    []float64         // of a block: c_t, and the steps of μ along s_t
	f       []float64         // of a site: -c_r s_r[t] for the sites r before it
	mu      []float64         // of a block: μ after the last complete block
}

// newSweep is for sweeps whose Σ is to take the place of u.
func newSweep(work *Work, u blas64.Triangular) *sweepWork {
	v, rows := func() []float64 { return make([]float64, block) }, min(block, u.N)
	return &sweepWork{
		sigma:   blas64.Symmetric{Uplo: blas.Upper, N: u.N, Stride: u.Stride, Data: u.Data},
		columns: work.general(rows, u.N), own: upper(linalg.NewGeneral(rows, rows)), c: v(), x: v(), f: v(), mu: v(),
	}
}

// covariance sets sigma to Σ = K - vᵀv + (FK)ᵀFK.
func (s *sites) covariance(sigma blas64.Symmetric, v blas64.General) {
	linalg.Rows(sigma.N, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			copy(sigma.Data[i*sigma.Stride+i:i*sigma.Stride+sigma.N], s.k.Data[i*s.k.Stride+i:i*s.k.Stride+sigma.N])
		}
	})
	if !s.silent() {
		linalg.Syrk(blas.Trans, -1, v, 1, sigma)
	}
	if s.negative.fk.Rows > 0 {
		linalg.Syrk(blas.Trans, 1, s.negative.fk, 1, sigma)
	}
}

// sweep updates every site once, GPML Algorithm 3.5 lines 4-12, and returns their distance from a
// fixed point before that. A new site i subtracts c s sᵀ from Σ, s its column i and c = Δτ/(1 + Δτ
// Σ_ii), and adds a multiple x of s to μ.
//
// The sites of a block need only their own rows and columns of Σ and μ. The rest is updated at the
// end of the block: the column of its site t was column t minus Σ_r c_r s_r[t] s_r over the sites r
// before it, so that the s_t are the rows of U⁻ᵀ C, with C the block's columns at its beginning and
// U_rt = c_r s_r[t], U_tt = 1.
func (p *siteFit) sweep(w *sweepWork, damping float64) (fixedPoint, error) {
	var fit fixedPoint
	n := len(p.tau)
	for i0 := 0; i0 < n; i0 += block {
		k := min(block, n-i0)
		own := w.begin(i0, k)
		mu := p.mu[i0 : i0+k]
		copy(w.mu, mu)
		for t := range k {
			i := i0 + t
			s := own.Data[t*own.Stride+t : t*own.Stride+k]
			if t > 0 {
				for r := range t {
					w.f[r] = -w.c[r] * own.Data[r*own.Stride+t]
				}
				before := blas64.General{Rows: t, Cols: k - t, Stride: own.Stride, Data: own.Data[t:]}
				linalg.Gemv(blas.Trans, 1, before, w.f[:t], 1, s)
			}
			v := p.atLeast(i, s[0])
			tau, b := p.tau[i], p.nu[i]-p.tau[i]*mu[t]
			next, err := p.rule.match(i, v, b)
			p.compare(i, next, v, b, &fit)
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
		w.flush(i0, k, p.mu)
	}
	return fit, nil
}

// begin copies the block's own part of Σ.
func (w *sweepWork) begin(i0, k int) blas64.Triangular {
	own, n := w.own, w.sigma.Stride
	own.N = k
	for t := range k {
		copy(own.Data[t*own.Stride+t:t*own.Stride+k], w.sigma.Data[(i0+t)*n+i0+t:(i0+t)*n+i0+k])
	}
	return own
}

// flush transforms the columns of a block of k sites into the s_t, adds their effect to μ and
// subtracts Σ_t c_t s_t s_tᵀ from Σ.
func (w *sweepWork) flush(i0, k int, mu []float64) {
	u, n := w.own, w.sigma.N
	u.N = k
	for t, c := range w.c[:k] {
		row := u.Data[t*u.Stride+t : t*u.Stride+k]
		for j := range row {
			row[j] *= c
		}
		row[0] = 1
	}
	linalg.Parallel((n+width-1)/width, func(job int) {
		j0 := job * width
		j1 := min(n, j0+width)
		w.gather(i0, i0+k, j0, j1)
		part := blas64.General{Rows: k, Cols: j1 - j0, Stride: w.columns.Stride, Data: w.columns.Data[j0:]}
		linalg.SolveTri(blas.Trans, u, part)
		linalg.Gemv(blas.Trans, 1, part, w.x[:k], 1, mu[j0:j1])
	})
	columns := w.columns
	columns.Rows = k
	linalg.SyrkDiag(blas.Trans, -1, columns, w.c[:k], 1, w.sigma)
}

// gather copies rows j0 to j1 of columns i0 to i1 of Σ.
func (w *sweepWork) gather(i0, i1, j0, j1 int) {
	n := w.sigma.N
	for j := j0; j < min(j1, i1); j++ { // the part stored in the rows of Σ, and on its diagonal block
		for i := max(i0, j); i < i1; i++ {
			w.columns.Data[(i-i0)*n+j] = w.sigma.Data[j*n+i]
		}
	}
	for i := i0; i < i1; i++ {
		if from := max(j0, i+1); from < j1 {
			copy(w.columns.Data[(i-i0)*n+from:(i-i0)*n+j1], w.sigma.Data[i*n+from:i*n+j1])
		}
	}
}
