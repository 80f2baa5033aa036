package prior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// denseSearch is the Search of a matrix.
type denseSearch struct {
	*Dense
	v      blas64.General // workspace
	sweeps *sweepWork     // nil before the first sweep
	mark   int
}

// Search implements Prior. The memory of the factor is taken before the memory that Close releases.
func (d *Dense) Search() Search {
	n := len(d.root)
	d.allocate()
	mark := d.work.Mark()
	return &denseSearch{Dense: d, v: d.work.General(n, n), mark: mark}
}

// These implement Search.
func (s *denseSearch) Close()              { s.work.Release(s.mark) }
func (s *denseSearch) PrefersSweeps() bool { return true }

// informative is the smallest τ_i K_ii for which Σ_ii is computed from the factor. The relative
// error of Σ_ii is then at most about 1e4 eps.
const informative = 1e-4

// Variances implements Search. It leaves U⁻¹ in the upper triangle of v or, where sites are
// negative, U⁻ᵀ S^½ K, which costs three times as much.
func (s *denseSearch) Variances(sigma []float64) {
	if s.negative.f.Rows > 0 {
		s.project(s.v)
		for i := range sigma {
			sigma[i] = s.Variance(i)
		}
		linalg.AddSquares(-1, s.v, sigma)
		linalg.AddSquares(1, s.negative.fk, sigma)
		return
	}
	shares := s.invert(s.v)
	// sites of so small precision that Σ_ii = (1 - [B⁻¹]_ii)/τ_i would lose digits
	weak := make([]int, 0, len(shares))
	for i, r := range s.root {
		t := r * r
		if t*s.Variance(i) < informative {
			weak = append(weak, i)
		} else {
			sigma[i] = (1 - shares[i]) / t
		}
	}
	s.remaining(sigma, weak)
}

// project sets v = U⁻ᵀ S^½ K, so that Σ = K - vᵀv + (FK)ᵀFK.
func (d *Dense) project(v blas64.General) {
	const tile = 32 // tile of the transposition
	if d.uninformative() {
		clear(v.Data)
		return
	}
	n, k := len(d.root), d.k
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := i0; j0 < n; j0 += tile {
			for i := i0; i < min(i0+tile, n); i++ {
				for j := max(i, j0); j < min(j0+tile, n); j++ {
					x := k.Data[i*k.Stride+j]
					v.Data[i*v.Stride+j] = d.root[i] * x
					v.Data[j*v.Stride+i] = d.root[j] * x
				}
			}
		}
	}
	linalg.SolveTri(blas.Trans, d.u, v)
}

// Covariance sets sigma to Σ.
func (d *Dense) Covariance(sigma blas64.Symmetric) {
	v := linalg.NewGeneral(len(d.root), len(d.root))
	d.project(v)
	d.covariance(sigma, v)
}

// covariance sets sigma to Σ = K - vᵀv + (FK)ᵀFK.
func (d *Dense) covariance(sigma blas64.Symmetric, v blas64.General) {
	n := sigma.N
	eachRow(n, func(i int) {
		copy(sigma.Data[i*sigma.Stride+i:i*sigma.Stride+n], d.k.Data[i*d.k.Stride+i:i*d.k.Stride+n])
	})
	if !d.uninformative() {
		linalg.Syrk(blas.Trans, -1, v, 1, sigma)
	}
	if d.negative.fk.Rows > 0 {
		linalg.Syrk(blas.Trans, 1, d.negative.fk, 1, sigma)
	}
}

func (s *denseSearch) Swept(sigma []float64) bool {
	w := s.sweeps.sigma
	for i := range sigma {
		sigma[i] = w.Data[i*w.Stride+i]
	}
	return true
}

// Jacobian implements Search. It stores the correlations in the place of the factor, below its
// diagonal, so that the next factor leaves them.
func (s *denseSearch) Jacobian(sigma []float64, at At) func(dst, x []float64) {
	s.sweepWork()
	w := s.sweeps.sigma
	square := blas64.Symmetric{Uplo: blas.Upper, N: w.N, Stride: s.v.Stride, Data: s.v.Data}
	switch at {
	case LastCalled:
		linalg.Reflect(blas.Upper, all(w), all(w))
		for i := range w.N {
			w.Data[i*(w.Stride+1)] = 1
		}
		squares(w, square)
		return byCorrelation(w, square)
	case Factored:
		s.correlate(sigma, w, square, linalg.SquareTri(upper(s.v)))
	case AfterSweep:
		scale := make([]float64, len(sigma))
		for i, v := range sigma {
			scale[i] = 1 / math.Sqrt(v)
		}
		correlations(w, square, w, 1, scale)
	}
	linalg.Reflect(blas.Lower, all(w), all(w))
	return byCorrelation(w, square)
}

// squares sets dst to the squares of the entries of a.
func squares(a, dst blas64.Symmetric) {
	n := a.N
	eachRow(n, func(i int) {
		row := dst.Data[i*n+i : (i+1)*n]
		for j, c := range a.Data[i*n+i : (i+1)*n] {
			row[j] = c * c
		}
	})
}

// sweepWork allocates the memory of sweeps, once.
func (s *denseSearch) sweepWork() {
	if s.sweeps == nil {
		s.sweeps = newSweep(s.work, s.u)
	}
}

// SweepBlock is the number of sites per update of Σ in a sweep, and width the number of rows of Σ
// that a thread updates at a time for them.
const SweepBlock, width = 128, 256

// sweepWork is the workspace of sweeps.
type sweepWork struct {
	sigma   blas64.Symmetric // Σ after the last complete block, in the memory of the factor
	columns blas64.General   // the columns of a block, in rows
	// entries of the s_t for the block's sites, from the diagonal on, and then U
	own  blas64.Triangular
	c, x []float64 // c_t of the block's sites, and the steps of μ along s_t
	f    []float64 // -c_r s_r[t] for the sites r before site t
	mu   []float64 // μ of the block's sites after the last complete block
}

// newSweep is for sweeps whose Σ is to take the place of u.
func newSweep(work *Work, u blas64.Triangular) *sweepWork {
	v, rows := func() []float64 { return make([]float64, SweepBlock) }, min(SweepBlock, u.N)
	return &sweepWork{
		sigma:   blas64.Symmetric{Uplo: blas.Upper, N: u.N, Stride: u.Stride, Data: u.Data},
		columns: work.General(rows, u.N), own: upper(linalg.NewGeneral(rows, rows)), c: v(), x: v(), f: v(), mu: v(),
	}
}

// Sweep implements Search: it updates every site once, GPML Algorithm 3.5 lines 4-12. A new site i
// subtracts c s sᵀ from Σ, s its column i and c = Δτ/(1 + Δτ Σ_ii), and adds a multiple x of s to
// μ.
//
// The sites of a block need only their own rows and columns of Σ and μ. The rest is updated at the
// end of the block: s_t, the column of Σ at the visit to site t, was column t minus Σ_r c_r s_r[t]
// s_r over the sites r before it. So the s_t are the rows of U⁻ᵀ C. C has the block's columns at
// its beginning, U_rt = c_r s_r[t] and U_tt = 1.
func (s *denseSearch) Sweep(goOn bool, at Sites, visit Visit) error {
	s.sweepWork()
	w := s.sweeps
	if !goOn {
		if s.negative.f.Rows == 0 {
			s.project(s.v)
		}
		s.covariance(w.sigma, s.v)
	}
	n := len(s.root)
	for i0 := 0; i0 < n; i0 += SweepBlock {
		k := min(SweepBlock, n-i0)
		own := w.begin(i0, k)
		mu := at.Mu[i0 : i0+k]
		copy(w.mu, mu)
		for t := range k {
			i := i0 + t
			row := own.Data[t*own.Stride+t : t*own.Stride+k]
			if t > 0 {
				for r := range t {
					w.f[r] = -w.c[r] * own.Data[r*own.Stride+t]
				}
				before := blas64.General{Rows: t, Cols: k - t, Stride: own.Stride, Data: own.Data[t:]}
				linalg.Gemv(blas.Trans, 1, before, w.f[:t], 1, row)
			}
			v := Resolved(row[0], s.Variance(i))
			dTau, dOffset, err := visit(i, v, at.Nu[i]-at.Tau[i]*mu[t])
			if err != nil {
				return err
			}
			at.Tau[i] += dTau
			at.Nu[i] += dOffset + dTau*mu[t]
			scale := 1 / (1 + dTau*v)
			w.c[t], w.x[t] = dTau*scale, dOffset*scale
			for j, v := range row {
				mu[t+j] += w.x[t] * v
			}
		}
		copy(mu, w.mu)
		w.flush(i0, k, at.Mu)
	}
	return nil
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
	for j := j0; j < min(j1, i1); j++ { // columns stored in the rows of Σ, and its diagonal block
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
