package linalg

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// eps is the unit roundoff.
const eps = 0x1p-53

// onEverySIMD runs a test with each instruction set that this machine has.
func onEverySIMD(t *testing.T, f func(t *testing.T)) {
	chosen := active
	defer func() { active = chosen }()
	for _, s := range supported() {
		active = s
		t.Run(s.String(), f)
	}
}

// unused marks storage that no function may use or change: a NaN with its own bit pattern.
var unused = math.Float64frombits(0x7ff8_0000_dead_beef)

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// randomGeneral returns a matrix of normal entries; storage between the columns and the stride is
// marked unused.
func randomGeneral(rng *rand.Rand, r, c, stride int) blas64.General {
	a := blas64.General{Rows: r, Cols: c, Stride: stride, Data: make([]float64, r*stride)}
	for i := range a.Data {
		if a.Data[i] = unused; i%stride < c {
			a.Data[i] = rng.NormFloat64()
		}
	}
	return a
}

// randomSymmetric returns a symmetric matrix whose lower triangle is marked unused.
func randomSymmetric(rng *rand.Rand, n, stride int) blas64.Symmetric {
	a := randomGeneral(rng, n, n, stride)
	for i := range n {
		for j := range i {
			a.Data[i*stride+j] = unused
		}
	}
	return blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: stride, Data: a.Data}
}

// randomDefinite returns a well-conditioned positive definite matrix: the eigenvalues of the random
// part lie within about ±2√n.
func randomDefinite(rng *rand.Rand, n int) blas64.Symmetric {
	a := randomSymmetric(rng, n, max(1, n))
	for i := range n {
		a.Data[i*n+i] += float64(n) + 10
	}
	return a
}

// nearlySingular returns a squared-exponential covariance matrix of condition number about 10¹².
func nearlySingular(n int) blas64.Symmetric {
	a := randomSymmetric(newRand(), n, n+1)
	for i := range n {
		for j := i; j < n; j++ {
			d := float64(j-i) / float64(n) * 4
			a.Data[i*a.Stride+j] = math.Exp(-d * d / 2)
		}
		a.Data[i*a.Stride+i] += float64(n) * 1e-12
	}
	return a
}

func clone(a blas64.General) blas64.General {
	a.Data = slices.Clone(a.Data)
	return a
}

func cloneSymmetric(a blas64.Symmetric) blas64.Symmetric {
	a.Data = slices.Clone(a.Data)
	return a
}

// full returns a symmetric matrix with both triangles filled in.
func full(a blas64.Symmetric) blas64.General {
	c := NewGeneral(a.N, a.N)
	for i := range a.N {
		for j := i; j < a.N; j++ {
			c.Data[i*c.Stride+j] = a.Data[i*a.Stride+j]
			c.Data[j*c.Stride+i] = a.Data[i*a.Stride+j]
		}
	}
	return c
}

// upper returns a triangular matrix with zeros filled in.
func upper(u blas64.Triangular) blas64.General {
	c := NewGeneral(u.N, u.N)
	for i := range u.N {
		copy(c.Data[i*c.Stride+i:(i+1)*c.Stride], u.Data[i*u.Stride+i:i*u.Stride+u.N])
	}
	return c
}

func absolute(a blas64.General) blas64.General {
	b := NewGeneral(a.Rows, a.Cols)
	for i := range a.Rows {
		for j := range a.Cols {
			b.Data[i*b.Stride+j] = math.Abs(a.Data[i*a.Stride+j])
		}
	}
	return b
}

// times returns op(A) op(B) by gonum.
func times(tA, tB blas.Transpose, a, b blas64.General) blas64.General {
	m, n := a.Rows, b.Cols
	if tA == blas.Trans {
		m = a.Cols
	}
	if tB == blas.Trans {
		n = b.Rows
	}
	c := NewGeneral(m, n)
	blas64.Gemm(tA, tB, 1, a, b, 0, c)
	return c
}

// within reports the first entry of got that differs from want by more than the given number of roundings of bound.
func within(t *testing.T, name string, got, want, bound blas64.General, roundings int) {
	t.Helper()
	for i := range want.Rows {
		for j := range want.Cols {
			g, w, b := got.Data[i*got.Stride+j], want.Data[i*want.Stride+j], bound.Data[i*bound.Stride+j]
			if !(math.Abs(g-w) <= float64(roundings)*eps*b) {
				t.Fatalf("%s: entry (%d, %d) of %d×%d = %v, want %v within %g",
					name, i, j, want.Rows, want.Cols, g, w, float64(roundings)*eps*b)
			}
		}
	}
}

// untouched checks that storage outside the matrix, or outside its upper triangle, is unchanged.
func untouched(t *testing.T, name string, rows, cols, stride int, triangle bool, before, after []float64) {
	t.Helper()
	for i := range before {
		r, c := i/stride, i%stride
		if r < rows && c < cols && !(triangle && c < r) {
			continue
		}
		if math.Float64bits(before[i]) != math.Float64bits(after[i]) {
			t.Fatalf("%s: storage at row %d, column %d of %d×%d, stride %d, was changed to %v",
				name, r, c, rows, cols, stride, after[i])
		}
	}
}

func sameBits(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: entry %d = %v, want the same bits as %v", name, i, got[i], want[i])
		}
	}
}

var transposes = []blas.Transpose{blas.NoTrans, blas.Trans}

// operandFor returns a matrix A such that op(A) is r×c.
func operandFor(rng *rand.Rand, t blas.Transpose, r, c int) blas64.General {
	if t == blas.Trans {
		r, c = c, r
	}
	return randomGeneral(rng, r, c, max(1, c)+rng.IntN(4))
}

// shapes calls f with products of every residue of both sizes modulo the tile, and of sizes around the block sizes.
func shapes(f func(m, n, k int)) {
	mr, nr := active.tile()
	ks := []int{0, 1, 2, 3, 4, 5, 7, 8, 17}
	for m := range 2*mr + 2 {
		for n := range 2*nr + 2 {
			f(m, n, ks[(m+n)%len(ks)])
		}
	}
	for _, s := range [][3]int{
		{1, 1, 2*sumBlock + 1}, {30, 50, sumBlock - 1}, {30, 50, sumBlock}, {30, 50, sumBlock + 1},
		{49, 25, 3*sumBlock - 1},
		{rowBlock - 1, 31, 9}, {rowBlock, 31, 9}, {rowBlock + 1, 31, 9}, {2*rowBlock + 3, 73, 30},
		{5, colBlock - 1, 3}, {5, colBlock + 1, 3}, {3, colBlock + 77, 5},
	} {
		f(s[0], s[1], s[2])
	}
}

// factors cycles through α and β of every kind.
func factors(turn int) (alpha, beta float64) {
	return []float64{1, -1, 0.75}[turn%3], []float64{0, 1, -1.5}[turn/3%3]
}

// start returns the contents of C before a product, and the oracle's copy: where β = 0 C holds NaN, since it must not
// be read.
func start(beta float64, c blas64.General) (given, oracle blas64.General) {
	given, oracle = clone(c), clone(c)
	for i := range given.Data {
		if math.IsNaN(c.Data[i]) {
			oracle.Data[i] = 0 // an unused triangle
		}
		if beta == 0 && math.Float64bits(given.Data[i]) != math.Float64bits(unused) {
			given.Data[i], oracle.Data[i] = math.NaN(), 0
		}
	}
	return given, oracle
}

func TestGemm(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		turn := 0
		shapes(func(m, n, k int) {
			for _, tA := range transposes {
				for _, tB := range transposes {
					turn++
					alpha, beta := factors(turn)
					name := fmt.Sprintf("Gemm(%c, %c, %v, %v), k = %d", tA, tB, alpha, beta, k)
					a, b := operandFor(rng, tA, m, k), operandFor(rng, tB, k, n)
					c, want := start(beta, randomGeneral(rng, m, n, max(1, n)+turn%3))
					before := slices.Clone(c.Data)
					bound := absolute(want)
					blas64.Gemm(tA, tB, alpha, a, b, beta, want)
					blas64.Gemm(tA, tB, math.Abs(alpha), absolute(a), absolute(b), math.Abs(beta), bound)
					Gemm(tA, tB, alpha, a, b, beta, c)
					within(t, name, c, want, bound, 2*(k+3))
					untouched(t, name, m, n, c.Stride, false, before, c.Data)
				}
			}
		})
	})
}

func asGeneral(c blas64.Symmetric) blas64.General {
	return blas64.General{Rows: c.N, Cols: c.N, Stride: c.Stride, Data: c.Data}
}

// upperOf returns got with the lower triangle of want, so that the two can be compared as a whole.
func upperOf(got blas64.Symmetric, want blas64.General) blas64.General {
	c := clone(want)
	for i := range got.N {
		copy(c.Data[i*c.Stride+i:i*c.Stride+c.Cols], got.Data[i*got.Stride+i:i*got.Stride+got.N])
	}
	return c
}

func TestSymmetricProducts(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		turn := 0
		check := func(name string, n, k int, op func(alpha, beta float64, c blas64.Symmetric),
			alpha, beta float64, a, b blas64.General) {
			t.Helper()
			s := randomSymmetric(rng, n, max(1, n)+turn%3)
			given, want := start(beta, asGeneral(s))
			s.Data = given.Data
			before := slices.Clone(s.Data)
			bound := absolute(want)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, alpha, a, b, beta, want)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, math.Abs(alpha), absolute(a), absolute(b), math.Abs(beta), bound)
			op(alpha, beta, s)
			within(t, name, upperOf(s, want), want, bound, 2*(k+4))
			untouched(t, name, n, n, s.Stride, true, before, s.Data)
		}
		transpose := func(a blas64.General) blas64.General {
			b := NewGeneral(a.Cols, a.Rows)
			for i := range a.Rows {
				for j := range a.Cols {
					b.Data[j*b.Stride+i] = a.Data[i*a.Stride+j]
				}
			}
			return b
		}
		plain := func(t blas.Transpose, a blas64.General) blas64.General { // op(A)
			if t == blas.Trans {
				return transpose(a)
			}
			return a
		}
		all := func(n, k int) {
			for _, tA := range transposes {
				turn++
				alpha, beta := factors(turn)
				a := operandFor(rng, tA, n, k)
				op := plain(tA, a)
				name := fmt.Sprintf("(%c, %v, %v), n = %d, k = %d", tA, alpha, beta, n, k)
				check("Syrk"+name, n, k, func(alpha, beta float64, c blas64.Symmetric) {
					Syrk(tA, alpha, a, beta, c)
				}, alpha, beta, op, transpose(op))
				d := make([]float64, k)
				weighted := transpose(op)
				for p := range d {
					d[p] = rng.NormFloat64()
					for j := range n {
						weighted.Data[p*weighted.Stride+j] *= d[p]
					}
				}
				check("SyrkDiag"+name, n, k, func(alpha, beta float64, c blas64.Symmetric) {
					SyrkDiag(tA, alpha, a, d, beta, c)
				}, alpha, beta, op, weighted)
			}
		}
		for n := range 75 {
			for _, k := range []int{0, 1, 3, 24, 29} {
				all(n, k)
			}
		}
		for _, s := range [][2]int{
			{rowBlock - 1, 5}, {rowBlock + 1, 5}, {30, sumBlock + 1},
			{2*rowBlock + 25, 11}, {sumBlock + 1, sumBlock + 1},
		} {
			all(s[0], s[1])
		}
	})
}

func TestSymvRows(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		turn := 0
		for _, n := range append(ints(0, 20), 67, 1030) {
			for _, m := range []int{0, 1, 3} {
				turn++
				alpha, beta := factors(turn)
				a := randomSymmetric(rng, n, max(1, n)+turn%3)
				x := randomGeneral(rng, m, n, max(1, n)+turn%2)
				y, want := start(beta, randomGeneral(rng, m, n, max(1, n)+turn%4))
				bound := absolute(want)
				blas64.Gemm(blas.NoTrans, blas.NoTrans, alpha, x, full(a), beta, want)
				blas64.Gemm(blas.NoTrans, blas.NoTrans, math.Abs(alpha), absolute(x), absolute(full(a)),
					math.Abs(beta), bound)
				SymvRows(alpha, a, x, beta, y)
				within(t, fmt.Sprintf("SymvRows(%v, %v), m = %d, n = %d", alpha, beta, m, n), y, want, bound, 2*(n+4))
			}
		}
	})
}

func TestAddSquares(t *testing.T) {
	rng := newRand()
	for _, m := range ints(0, 10) {
		for _, n := range []int{0, 1, 5, 67} {
			a := randomGeneral(rng, m, n, max(1, n)+m%3)
			got := randomGeneral(rng, 1, n, max(1, n))
			want, bound := clone(got), absolute(got)
			for i := range m {
				for j := range n {
					v := a.Data[i*a.Stride+j]
					want.Data[j] -= 2 * v * v
					bound.Data[j] += 2 * v * v
				}
			}
			AddSquares(-2, a, got.Data[:n])
			within(t, fmt.Sprintf("AddSquares, m = %d, n = %d", m, n), got, want, bound, m+2)
		}
	}
}

func TestReflect(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		for _, n := range append(ints(0, 20), 63, 64, 65, 131) {
			a, b := randomGeneral(rng, n, n, n+1), randomGeneral(rng, n, n, n+2)
			for _, to := range []blas.Uplo{blas.Lower, blas.Upper} {
				for what, from := range map[string]blas64.General{"B": b, "A": a} {
					got := clone(b)
					if what == "B" {
						from = got
					}
					kept := clone(from)
					Reflect(to, got, from)
					for i := range n {
						for j := range n {
							want := b.Data[i*b.Stride+j]
							if i != j && (j < i) == (to == blas.Lower) {
								want = kept.Data[j*kept.Stride+i]
							}
							if g := got.Data[i*got.Stride+j]; g != want {
								t.Fatalf("Reflect(%c) of %s, n = %d: entry (%d, %d) = %v, want %v",
									to, what, n, i, j, g, want)
							}
						}
					}
				}
			}
		}
	})
}

func TestSymm(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		turn := 0
		for _, n := range append(ints(0, 52), rowBlock+1, sumBlock-1, sumBlock+1, 2*sumBlock+7) {
			for _, m := range []int{0, 1, 5, 24, 31} {
				turn++
				alpha, beta := factors(turn)
				name := fmt.Sprintf("Symm(%v, %v)", alpha, beta)
				a := randomSymmetric(rng, n, max(1, n)+turn%3)
				b := randomGeneral(rng, n, m, max(1, m)+turn%2)
				c, want := start(beta, randomGeneral(rng, n, m, max(1, m)+turn%3))
				before := slices.Clone(c.Data)
				bound := absolute(want)
				blas64.Gemm(blas.NoTrans, blas.NoTrans, alpha, full(a), b, beta, want)
				blas64.Gemm(blas.NoTrans, blas.NoTrans, math.Abs(alpha), absolute(full(a)), absolute(b),
					math.Abs(beta), bound)
				Symm(alpha, a, b, beta, c)
				within(t, name, c, want, bound, 2*(n+3))
				untouched(t, name, n, m, c.Stride, false, before, c.Data)
			}
		}
	})
}

// ints returns lo, lo+1, …, hi-1.
func ints(lo, hi int) []int {
	s := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		s = append(s, i)
	}
	return s
}

// orders are sizes of square matrices: every residue modulo every tile, and sizes around the block
// sizes. A part of them has the small sizes, steps of 5, which no tile divides, and two blocks, with
// the last instruction set three.
func orders() []int {
	if exhaustive.All() {
		return append(ints(0, 52), blockLimit-1, blockLimit, blockLimit+1, 2*blockLimit+5)
	}
	some := append(ints(0, 9), 13, 18, 23, 28, 33, 38, 43, 48, blockLimit+1)
	if all := supported(); active == all[len(all)-1] {
		some = append(some, 2*blockLimit+5)
	}
	return some
}

func TestCholesky(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		for _, n := range orders() {
			for _, a := range []blas64.Symmetric{randomDefinite(rng, n), nearlySingular(n)} {
				factor := cloneSymmetric(a)
				u, ok := Cholesky(factor)
				if !ok {
					t.Fatalf("n = %d: not positive definite", n)
				}
				// |A - UᵀU| ≤ (n+1) eps |Uᵀ||U| (Higham, Accuracy and Stability of Numerical Algorithms, 10.3); here
				// one more for the reciprocal of the pivot, and n for the product in the test.
				f := upper(u)
				bound := times(blas.Trans, blas.NoTrans, absolute(f), absolute(f))
				within(t, "UᵀU", times(blas.Trans, blas.NoTrans, f, f), full(a), bound, 2*n+2)
				untouched(t, "Cholesky", n, n, a.Stride, true, a.Data, factor.Data)
			}
		}
	})
}

func TestCholeskyRefuses(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		for _, n := range []int{1, 2, 9, 25, blockLimit + 7} {
			a := randomDefinite(rng, n)
			step := 1 + n/exhaustive.Of(7, 13)
			for i := 0; i < n; i += step {
				for j := i; j < n; j += step {
					for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
						b := cloneSymmetric(a)
						b.Data[i*n+j] = v
						if _, ok := Cholesky(b); ok {
							t.Fatalf("n = %d: %v at (%d, %d) was accepted", n, v, i, j)
						}
					}
				}
				for _, v := range []float64{0, -1, -1e-300} {
					b := cloneSymmetric(a)
					b.Data[i*n+i] = v
					if _, ok := Cholesky(b); ok {
						t.Fatalf("n = %d: a diagonal entry of %v was accepted", n, v)
					}
				}
			}
		}
	})
}

// triangles returns factors of a well-conditioned and of a nearly singular matrix.
func triangles(n int) []blas64.Triangular {
	var us []blas64.Triangular
	for _, a := range []blas64.Symmetric{randomDefinite(newRand(), n), nearlySingular(n)} {
		u, ok := lapack64.Potrf(a)
		if !ok {
			panic("not positive definite")
		}
		us = append(us, u)
	}
	return us
}

func TestSolveTri(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		_, nr := active.tile()
		for _, n := range orders() {
			for _, u := range triangles(n) {
				for _, trans := range transposes {
					for _, m := range []int{0, 1, nr - 1, nr, nr + 1, 2*nr + 3} {
						b := randomGeneral(rng, n, m, max(1, m)+1)
						x := clone(b)
						SolveTri(trans, u, x)
						// Each row of U x - b is within n+1 roundings of |U||x| (Higham, 8.5); computing it here adds
						// as many.
						f := upper(u)
						got := times(trans, blas.NoTrans, f, x)
						bound := times(trans, blas.NoTrans, absolute(f), absolute(x))
						within(t, fmt.Sprintf("U⁻¹B (%c), n = %d", trans, n), got, b, bound, 2*n+2)
						untouched(t, "SolveTri", n, m, b.Stride, false, b.Data, x.Data)
					}
				}
			}
		}
	})
}

func TestInverseTri(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		for _, n := range orders() {
			identity := NewGeneral(n, n)
			for i := range n {
				identity.Data[i*n+i] = 1
			}
			for _, u := range triangles(n) {
				v := u
				v.Data = slices.Clone(u.Data)
				InverseTri(v)
				f, g := upper(u), upper(v)
				bound := times(blas.NoTrans, blas.NoTrans, absolute(g), absolute(f))
				within(t, "U⁻¹U", times(blas.NoTrans, blas.NoTrans, g, f), identity, bound, 3*n+2)
				untouched(t, "InverseTri", n, n, u.Stride, true, u.Data, v.Data)
			}
		}
	})
}

func TestInverseCholesky(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		for _, n := range orders() {
			for _, u := range triangles(n) {
				v, w := u, u
				v.Data, w.Data = slices.Clone(u.Data), slices.Clone(u.Data)
				InverseTri(w)
				inverse := InverseCholesky(v)
				f := upper(w)
				want := times(blas.NoTrans, blas.Trans, f, f)
				bound := times(blas.NoTrans, blas.Trans, absolute(f), absolute(f))
				within(t, "U⁻¹U⁻ᵀ", upperOf(inverse, want), want, bound, 2*n)
				untouched(t, "InverseCholesky", n, n, u.Stride, true, u.Data, v.Data)
			}
		}
	})
}

func TestVectors(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		turn := 0
		for _, m := range append(ints(0, 20), 67) {
			for _, n := range append(ints(0, 20), 67) {
				for _, trans := range transposes {
					turn++
					alpha, beta := factors(turn)
					a := operandFor(rng, trans, m, n)
					x := randomGeneral(rng, n, 1, 1)
					y, want := start(beta, randomGeneral(rng, m, 1, 1))
					bound := absolute(want)
					blas64.Gemm(trans, blas.NoTrans, alpha, a, x, beta, want)
					blas64.Gemm(trans, blas.NoTrans, math.Abs(alpha), absolute(a), absolute(x), math.Abs(beta), bound)
					Gemv(trans, alpha, a, x.Data, beta, y.Data)
					within(t, fmt.Sprintf("Gemv(%c, %v, %v), %d×%d", trans, alpha, beta, m, n), y, want, bound, 2*(n+4))
				}
			}
		}
		for _, n := range orders() {
			for range 9 {
				turn++
				alpha, beta := factors(turn)
				a := randomSymmetric(rng, n, max(1, n)+turn%3)
				x := randomGeneral(rng, n, 1, 1)
				y, want := start(beta, randomGeneral(rng, n, 1, 1))
				bound := absolute(want)
				blas64.Gemm(blas.NoTrans, blas.NoTrans, alpha, full(a), x, beta, want)
				blas64.Gemm(blas.NoTrans, blas.NoTrans, math.Abs(alpha), absolute(full(a)), absolute(x),
					math.Abs(beta), bound)
				Symv(alpha, a, x.Data, beta, y.Data)
				within(t, fmt.Sprintf("Symv(%v, %v), n = %d", alpha, beta, n), y, want, bound, 2*(n+4))
			}
			for _, u := range triangles(n) {
				for _, trans := range transposes {
					b := randomGeneral(rng, n, 1, 1)
					x := clone(b)
					SolveTriVec(trans, u, x.Data)
					f := upper(u)
					bound := times(trans, blas.NoTrans, absolute(f), absolute(x))
					within(t, fmt.Sprintf("U⁻¹b (%c), n = %d", trans, n),
						times(trans, blas.NoTrans, f, x), b, bound, 2*n+2)
				}
			}
		}
	})
}

// TestNonFinite puts NaN or Inf into one entry of a factor: it must reach all entries of the
// product that depend on it and no other.
func TestNonFinite(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		const m, n, k = 29, 53, sumBlock + 5
		a, b := randomGeneral(rng, m, k, k), randomGeneral(rng, k, n, n)
		clear(b.Data[3*n : 4*n]) // 0 · NaN is NaN
		want, got := NewGeneral(m, n), NewGeneral(m, n)
		Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, want)
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, p := range []int{0, 3, sumBlock - 1, k - 1} {
				for i := range m {
					bad := clone(a)
					bad.Data[i*k+p] = v
					Gemm(blas.NoTrans, blas.NoTrans, 1, bad, b, 0, got)
					for j := range got.Data {
						if j/n == i {
							if !math.IsNaN(got.Data[j]) && !math.IsInf(got.Data[j], 0) {
								t.Fatalf("%v at (%d, %d) of A: entry (%d, %d) of the product = %v",
									v, i, p, j/n, j%n, got.Data[j])
							}
							got.Data[j] = want.Data[j]
						}
					}
					sameBits(t, "the other rows", got.Data, want.Data)
				}
			}
		}
	})
}

// results runs every operation that can use several threads and returns all results. Operands are at the given offset
// in memory.
func results(n, offset int) [][]float64 {
	rng := newRand()
	shift := func(x []float64) []float64 {
		s := make([]float64, offset+len(x))[offset:]
		copy(s, x)
		return s
	}
	general := func(r, c int) blas64.General {
		a := randomGeneral(rng, r, c, c)
		a.Data = shift(a.Data)
		return a
	}
	a, b, c := general(n, n+9), general(n+9, n-3), general(n, n-3)
	Gemm(blas.NoTrans, blas.NoTrans, 0.5, a, b, 1.5, c)
	s := randomDefinite(rng, n)
	s.Data = shift(s.Data)
	Syrk(blas.NoTrans, 1, a, 1, s)
	m := general(n, n)
	Symm(1, s, c, 0, blas64.General{Rows: n, Cols: n - 3, Stride: n, Data: m.Data})
	large, rows := randomSymmetric(rng, 4*n, 4*n), general(3, 4*n)
	large.Data = shift(large.Data)
	y3 := general(3, 4*n)
	SymvRows(1, large, rows, 0, y3)
	u, ok := Cholesky(s)
	if !ok {
		panic("not positive definite")
	}
	factor := slices.Clone(u.Data)
	x, y := clone(c), clone(c)
	x.Data, y.Data = shift(x.Data), shift(y.Data)
	SolveTri(blas.NoTrans, u, x)
	SolveTri(blas.Trans, u, y)
	v := u
	v.Data = shift(u.Data)
	xs, ys, z := shift(y3.Data[:4*n]), shift(y3.Data[4*n:8*n]), shift(y3.Data[8*n:])
	Symv(1, large, xs, 1, ys)
	long := general(3*n, 4*n)
	Gemv(blas.NoTrans, 1, long, ys, 0, z[:3*n])
	Gemv(blas.Trans, 1, long, z[:3*n], 1, ys)
	for i := range 4 * n {
		large.Data[i*large.Stride+i] += 8 * float64(n)
	}
	triangle := blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: 4 * n, Stride: large.Stride, Data: large.Data}
	SolveTriVec(blas.NoTrans, triangle, ys)
	SolveTriVec(blas.Trans, triangle, z)
	InverseTri(v)
	InverseCholesky(u)
	return [][]float64{c.Data, m.Data, y3.Data, factor, x.Data, y.Data, v.Data, u.Data, ys, z}
}

func TestBits(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		defer SetThreads(1)
		const n = 291
		want := results(n, 0)
		for name, got := range map[string]func() [][]float64{
			"3 threads":          func() [][]float64 { SetThreads(3); return results(n, 0) },
			"another alignment":  func() [][]float64 { SetThreads(1); return results(n, 1) },
			"16 threads, 24 off": func() [][]float64 { SetThreads(16); return results(n, 3) },
		} {
			for i, g := range got() {
				sameBits(t, fmt.Sprintf("%s, result %d", name, i), g, want[i])
			}
		}
		// large enough for several blocks on every thread
		const large = 900
		definite := randomDefinite(newRand(), large)
		inverse := func(threads int) (factor, inverse []float64) {
			SetThreads(threads)
			a := clone(blas64.General{Rows: large, Cols: large, Stride: large, Data: definite.Data})
			u, ok := Cholesky(blas64.Symmetric{Uplo: blas.Upper, N: large, Stride: large, Data: a.Data})
			if !ok {
				t.Fatal("a definite matrix did not factorise")
			}
			factor = slices.Clone(a.Data)
			return factor, InverseCholesky(u).Data
		}
		factor, inverted := inverse(1)
		for _, threads := range []int{3, 2, 16}[:exhaustive.Of(1, 3)] {
			f, v := inverse(threads)
			sameBits(t, fmt.Sprintf("factor on %d threads", threads), f, factor)
			sameBits(t, fmt.Sprintf("inverse on %d threads", threads), v, inverted)
		}
	})
}

// TestFactorOnThreads factorises orders whose blocks do not end at tiles: the factor has the same bits for any number
// of threads, and UᵀU is the matrix.
func TestFactorOnThreads(t *testing.T) {
	defer SetThreads(1)
	for _, n := range []int{385, 1153, 769, 1534, 1601, 2111}[:exhaustive.Of(2, 6)] {
		a := randomDefinite(newRand(), n)
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(float64(i))
		}
		want, largest := make([]float64, n), 0.0
		Symv(1, a, x, 0, want)
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		var first []float64
		for _, threads := range []int{1, 2, 3, 16} {
			SetThreads(threads)
			own := a
			own.Data = slices.Clone(a.Data)
			u, ok := Cholesky(own)
			if !ok {
				t.Fatalf("n = %d, %d threads: a definite matrix did not factorise", n, threads)
			}
			var upper []float64
			ux, got := make([]float64, n), make([]float64, n)
			for i := range n {
				row := u.Data[i*u.Stride+i : i*u.Stride+n]
				upper = append(upper, row...)
				ux[i] = floats.Dot(row, x[i:])
				floats.AddScaled(got[i:], ux[i], row) // the part of UᵀU x from this row
			}
			if first == nil {
				first = upper
			}
			sameBits(t, fmt.Sprintf("n = %d, %d threads", n, threads), upper, first)
			floats.Sub(got, want)
			if worst := floats.Norm(got, math.Inf(1)); !(worst <= 1e-11*largest) {
				t.Errorf("n = %d, %d threads: UᵀU x is off by %.2g of %.2g", n, threads, worst, largest)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	have := []simd{avx2, generic}
	for name, want := range map[string]simd{"": avx2, "avx2": avx2, "generic": generic} {
		if got, err := choose(name, have); got != want || err != nil {
			t.Errorf("choose(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"avx512", "AVX2", "sse"} {
		_, err := choose(name, have)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "[avx2 generic]") {
			t.Errorf("choose(%q): %v, want an error that names it and what there is", name, err)
		}
	}
}

func TestShapesPanic(t *testing.T) {
	a, s := NewGeneral(3, 4), NewSym(3)
	short := NewGeneral(3, 3)
	short.Data = short.Data[:8]
	lower := NewSym(3)
	lower.Uplo = blas.Lower
	u, _ := Cholesky(NewSym(0))
	for name, f := range map[string]func(){
		"Gemm":        func() { Gemm(blas.NoTrans, blas.NoTrans, 1, a, a, 0, a) },
		"Syrk":        func() { Syrk(blas.Trans, 1, a, 0, s) },
		"SyrkDiag":    func() { SyrkDiag(blas.NoTrans, 1, a, make([]float64, 3), 0, s) },
		"Symm":        func() { Symm(1, s, a, 0, short) },
		"SymvRows":    func() { SymvRows(1, s, NewGeneral(2, 3), 0, NewGeneral(3, 3)) },
		"Reflect":     func() { Reflect(blas.Lower, a, a) },
		"Symv":        func() { Symv(1, s, make([]float64, 2), 0, make([]float64, 3)) },
		"Gemv":        func() { Gemv(blas.Trans, 1, a, make([]float64, 4), 0, make([]float64, 3)) },
		"SolveTri":    func() { SolveTri(blas.NoTrans, u, a) },
		"SolveTriVec": func() { SolveTriVec(blas.NoTrans, u, make([]float64, 1)) },
		"Cholesky":    func() { Cholesky(lower) },
		"Exp":         func() { Exp(make([]float64, 2), make([]float64, 3)) },
		"transpose":   func() { Gemm(0, blas.NoTrans, 1, a, a, 0, a) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(fmt.Sprint(r), "linalg: ") {
					t.Errorf("%s panicked with %v, want a message of this package", name, r)
				}
			}()
			f()
		}()
	}
}

// The entries of a matrix lie in its storage.
func TestStorage(t *testing.T) {
	for _, c := range []struct {
		rows, cols, stride, length int
		fits                       bool
	}{
		{3, 4, 4, 12, true}, {3, 4, 5, 14, true}, {3, 4, 5, 15, true}, {1, 4, 9, 4, true}, {3, 1, 1, 3, true},
		{0, 4, 4, 0, true}, {3, 0, 1, 0, true}, {0, 0, 1, 0, true},
		{3, 4, 4, 11, false}, {3, 4, 5, 13, false}, {3, 4, 3, 12, false}, {1, 4, 9, 3, false}, {3, 0, 0, 0, false},
		{-1, 4, 4, 12, false}, {3, -1, 1, 12, false}, {0, -1, 1, 12, false}, {-1, 0, 1, 12, false},
		{0, 4, 3, 0, false}, {-1, -1, 1, 12, false},
	} {
		refused := func() (refused any) {
			defer func() { refused = recover() }()
			checkStorage("a", c.rows, c.cols, c.stride, c.length)
			return nil
		}()
		if (refused == nil) != c.fits {
			t.Errorf("%+v: %v", c, refused)
		}
	}
}

// Every column of a triangular solve and of a product has the same bits with any number of other
// columns, and on any number of threads.
func TestColumnsKnowNoNeighbours(t *testing.T) {
	onEverySIMD(t, func(t *testing.T) {
		rng := newRand()
		for _, n := range []int{1, 2, 7, 8, 23, 24, 25, 385, 100, 383, 401, 1200}[:exhaustive.Of(8, 12)] {
			u := triangles(n)[0]
			b := randomGeneral(rng, n, 30, 31)
			solved := map[blas.Transpose]blas64.General{}
			for _, trans := range transposes {
				solved[trans] = clone(b)
				SolveTri(trans, u, solved[trans])
			}
			for _, threads := range []int{1, 3} {
				SetThreads(threads)
				for _, m := range []int{1, 2, 3, 5, 8, 13, 24, 25} {
					for _, trans := range transposes {
						x := clone(b)
						x.Cols = m
						SolveTri(trans, u, x)
						for i := range n {
							for j := range m {
								at := i*b.Stride + j
								if got, want := x.Data[at], solved[trans].Data[at]; math.Float64bits(got) != math.Float64bits(want) {
									t.Fatalf("%c, n = %d: column %d of %d on %d threads: %v, want %v", trans, n, j, m, threads, got, want)
								}
							}
						}
					}
				}
			}
			SetThreads(1)
		}
	})
}
