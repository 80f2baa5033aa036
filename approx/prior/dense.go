package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Dense is a prior whose K is a matrix. Where τ ≥ 0 (see negativeSites for the rest), with
//
//	B = I + S^½ K S^½ = UᵀU,   R = S^½ B⁻¹ S^½ = (K + S⁻¹)⁻¹
//
// the posterior covariance is Σ = K - K R K, and at a new input the latent mean is k*ᵀb and the
// latent variance k** - |U⁻ᵀ S^½ k*|² (GPML 3.24 and 3.60-3.61). The eigenvalues of B are at least
// 1, so K may be singular and τ_i may be 0. R is never formed to compute b: at large amplitudes the
// explicit product would change the log evidence by whole nats.
type Dense struct {
	noCorrection
	k        blas64.Symmetric
	root     []float64         // S^½
	u        blas64.Triangular // of B
	negative negativeSites
	work     *Work
	inverse  inverse // of B
}

// inverse has the part of B⁻¹ that has been computed: nothing, its diagonal, or its diagonal and a
// matrix. The matrix is U⁻¹ above the diagonal, or all of B⁻¹.
type inverse struct {
	diagonal []float64
	a        blas64.General
	whole    bool
}

// NewDense is the prior of n cases with this matrix.
func NewDense(work *Work, cov Cov, n int) (*Dense, error) {
	if err := cov.Check(n); err != nil {
		return nil, err
	}
	return &Dense{k: cov.K.RawSymmetric(), root: make([]float64, n), work: work}, nil
}

// withMatrix is NewDense as a row of the table.
func withMatrix(work *Work, cov Cov, n int, _ float64, _ bool, _ []float64) (Prior, error) {
	d, err := NewDense(work, cov, n)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// These implement Prior.
func (d *Dense) WithoutSites() Prior       { return &Dense{k: d.k, root: make([]float64, len(d.root))} }
func (d *Dense) Variance(i int) float64    { return d.k.Data[i*d.k.Stride+i] }
func (d *Dense) LargestVariance() float64  { return largest(d.k) }
func (d *Dense) Multiply(dst, x []float64) { linalg.Symv(1, d.k, x, 0, dst) }
func (d *Dense) LogDet() float64           { return linalg.LogDet(d.u) + d.negative.logDet }

// Subset implements Prior: every third case. Its matrices, of m ≤ n/3 cases, are stored below the
// diagonal of the factor of all: K in the last m rows and its own factor in m rows above them, both
// in the first m columns.
func (d *Dense) Subset() (Prior, []int) {
	n := len(d.root)
	if n < 150 {
		return nil, nil
	}
	var cases []int
	for i := 2; i < n; i += 3 {
		cases = append(cases, i)
	}
	d.allocate()
	m := len(cases)
	block := func(row int) blas64.General {
		return blas64.General{Rows: m, Cols: m, Stride: d.u.Stride, Data: d.u.Data[row*d.u.Stride:]}
	}
	k := principal(block(n-m), d.k, cases)
	return &Dense{k: k, root: make([]float64, m), u: upper(block(n - 2*m))}, cases
}

// at is an entry of K.
func (d *Dense) at(i, j int) float64 { return d.k.Data[min(i, j)*d.k.Stride+max(i, j)] }

// Rank implements Prior, by Cholesky's method with the largest pivot first.
func (d *Dense) Rank() int {
	n, scale := len(d.root), d.LargestVariance()
	pivots := make([]float64, n)
	for i := range pivots {
		pivots[i] = d.Variance(i)
	}
	var rows [][]float64 // rows of the factor
	for len(rows) < n {
		pivot := floats.MaxIdx(pivots)
		if !(pivots[pivot] > 8*float64(n)*eps*scale) {
			break
		}
		row, root := make([]float64, n), math.Sqrt(pivots[pivot])
		for j := range row {
			v := d.at(pivot, j)
			for _, r := range rows {
				v -= r[pivot] * r[j]
			}
			row[j] = v / root
			pivots[j] -= row[j] * row[j]
		}
		pivots[pivot] = 0
		rows = append(rows, row)
	}
	return len(rows)
}

// allocate allocates the memory of the factor, once.
func (d *Dense) allocate() {
	if n := len(d.root); d.u.Data == nil {
		d.u = upper(d.work.General(n, n))
	}
}

// leastRoot replaces √0, so that S^½ has an inverse. It is too small to change any sum.
const leastRoot = 1e-140

// Factorise implements Prior: GPML Algorithm 3.1 line 5, Algorithm 3.5 line 13.
func (d *Dense) Factorise(tau []float64) error {
	n := len(tau)
	d.inverse = inverse{}
	for i, t := range tau {
		d.root[i] = max(math.Sqrt(max(t, 0)), leastRoot)
	}
	d.allocate()
	b := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: d.u.Stride, Data: d.u.Data}
	uninformative := d.uninformative()
	eachRow(n, func(i int) {
		row, r, root := b.Data[i*b.Stride+i:i*b.Stride+n], d.root[i], d.root[i:n]
		if uninformative { // B = I
			clear(row)
		} else {
			for j, v := range d.k.Data[i*d.k.Stride+i : i*d.k.Stride+n] {
				row[j] = r * v * root[j]
			}
		}
		row[0]++
	})
	if !uninformative { // else it is its own factor
		var ok bool
		if d.u, ok = linalg.Cholesky(b); !ok {
			return fmt.Errorf("%w: B = I + S^½ K S^½; K, with variances up to %.3g, has an eigenvalue below 0. If "+
				"rounding made it, standardise the inputs or lower the amplitude", ErrNotPositiveDefinite,
				d.LargestVariance())
		}
	}
	d.negative = negativeSites{} // for Shrink
	var err error
	d.negative, err = newNegativeSites(tau, d.k, d.Shrink)
	return err
}

// uninformative reports S = 0: all sites have zero precision.
func (d *Dense) uninformative() bool {
	return !slices.ContainsFunc(d.root, func(r float64) bool { return !(r <= leastRoot) })
}

// Shrink implements Prior, by two triangular solves.
func (d *Dense) Shrink(dst, x, kx []float64) {
	fkx := make([]float64, d.negative.f.Rows)
	if len(fkx) > 0 {
		linalg.Gemv(blas.NoTrans, 1, d.negative.f, kx, 0, fkx)
	}
	d.solve(kx)
	for i, r := range d.root {
		dst[i] = x[i] - r*kx[i]
	}
	if len(fkx) > 0 {
		linalg.Gemv(blas.Trans, 1, d.negative.f, fkx, 1, dst)
	}
}

// solve replaces x by B⁻¹ S^½ x, and returns |U⁻ᵀ S^½ x|².
func (d *Dense) solve(x []float64) (square float64) {
	floats.Mul(x, d.root)
	linalg.SolveTriVec(blas.Trans, d.u, x)
	square = dot(x, x)
	linalg.SolveTriVec(blas.NoTrans, d.u, x)
	return square
}

// Solve implements Prior.
func (d *Dense) Solve(x []float64) (square float64) {
	square = d.solve(x)
	floats.Mul(x, d.root)
	return square
}

// Locate implements Prior.
//
// In K b terms of the size of the prior variances cancel to the size of the posterior. The rounding
// error is at worst n ε max K_ii Σ|b|. It would limit the distance of the sites from a fixed point
// and the accuracy of bᵀK b: a posterior standard deviation can be √(τ max K_ii) times smaller than
// the prior one. So K b is summed in twice the precision. The remaining errors are the rounding of
// μ and b themselves, and of the product of K with the refinement of b.
func (d *Dense) Locate(s Sites) (uncertain float64) {
	n, refined := len(d.root), 0.0
	r, kr := make([]float64, n), make([]float64, n)
	// b = (I - R K)(ν - S m), followed by one step of refinement, because the first result has the
	// rounding error of K (ν - S m).
	for i, t := range s.Tau {
		r[i] = s.Nu[i] - t*s.Mean[i]
	}
	d.Multiply(kr, r)
	d.Shrink(s.B, r, kr)
	copy(s.Mu, s.Mean)
	linalg.SymvCompensated(d.k, s.B, s.Mu)
	for i, t := range s.Tau {
		r[i] = s.Nu[i] - t*s.Mu[i] - s.B[i]
	}
	d.Multiply(kr, r)
	d.Shrink(r, r, kr)
	for i, v := range r {
		s.B[i] += v
		refined += math.Abs(v)
	}
	// K r, not K times the rounded change of b: μ need not follow the last digit of b
	linalg.Symv(1, d.k, r, 1, s.Mu)
	return eps * d.LargestVariance() * refined
}

// Latent implements Prior, GPML Algorithm 3.2 lines 4-6.
func (d *Dense) Latent(b, mean, variance []float64, cross *mat.Dense, diag []float64) {
	n, m := cross.Dims()
	if n != len(d.root) || len(diag) != m {
		panic(fmt.Sprintf("prior: cross is %d×%d and diag has %d entries, want %d×m and m",
			n, m, len(diag), len(d.root)))
	}
	CheckLatent(mean, variance, m)
	raw := cross.RawMatrix()
	linalg.Gemv(blas.Trans, 1, raw, b, 0, mean)
	if variance == nil {
		return
	}
	defer d.work.Release(d.work.Mark())
	v := d.work.General(n, m) // U⁻ᵀ S^½ k*
	for i, r := range d.root {
		floats.ScaleTo(v.Data[i*m:(i+1)*m], r, raw.Data[i*raw.Stride:i*raw.Stride+m])
	}
	linalg.SolveTri(blas.Trans, d.u, v)
	copy(variance, diag)
	linalg.AddSquares(-1, v, variance)
	if f := d.negative.f; f.Rows > 0 {
		fk := linalg.NewGeneral(f.Rows, m) // F k*
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, f, raw, 0, fk)
		linalg.AddSquares(1, fk, variance)
	}
	for j, x := range variance {
		variance[j] = max(x, 0)
	}
}
