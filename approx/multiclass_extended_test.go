package approx_test

import (
	"fmt"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/testing/bigmath"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// softmaxBig returns log p(y|f) and the probabilities.
func softmaxBig(f vector, y int) (*big.Float, vector) {
	pi, sum := make(vector, len(f)), number(0)
	for c := range f {
		pi[c] = bigmath.Exp(sub(f[c], f[y]))
		sum.Add(sum, pi[c])
	}
	for c := range pi {
		pi[c] = quo(pi[c], sum)
	}
	return bigmath.Log(pi[y]), pi
}

// solveBig solves A x = b by elimination with row exchanges, overwriting both, and returns log|det A|.
func solveBig(a matrix, b vector) (logDet *big.Float) {
	logDet = number(0)
	t := number(0)
	for p := range a {
		top := p
		for i := p + 1; i < len(a); i++ {
			if number(0).Abs(a[i][p]).Cmp(t.Abs(a[top][p])) > 0 {
				top = i
			}
		}
		a[p], a[top], b[p], b[top] = a[top], a[p], b[top], b[p]
		logDet.Add(logDet, bigmath.Log(number(0).Abs(a[p][p])))
		for i := p + 1; i < len(a); i++ {
			factor := quo(a[i][p], a[p][p])
			for j := p; j < len(a); j++ {
				a[i][j].Sub(a[i][j], t.Mul(factor, a[p][j]))
			}
			b[i].Sub(b[i], t.Mul(factor, b[p]))
		}
	}
	for p := len(a) - 1; p >= 0; p-- {
		for j := p + 1; j < len(a); j++ {
			b[p].Sub(b[p], t.Mul(a[p][j], b[j]))
		}
		b[p].Quo(b[p], a[p][p])
	}
	return logDet
}

// extendedMulticlass finds the mode, starting from a computed in doubles, by Newton's method on the dense system of
// all classes, and evaluates GPML (3.44) there. k holds one matrix per class.
func extendedMulticlass(t *testing.T, k []matrix, y []int, start []float64) *big.Float {
	n, classes := len(y), len(k)
	size := n * classes
	a := vectorOf(start[:size])
	for range 40 {
		f := make(vector, 0, size)
		for c := range k {
			f = append(f, k[c].times(a[c*n:(c+1)*n])...)
		}
		value, half := number(0), number(0.5)
		w, residual := zeros(size), make(vector, size)
		for i := range y {
			at := make(vector, classes)
			for c := range at {
				at[c] = f[c*n+i]
			}
			logp, pi := softmaxBig(at, y[i])
			value.Add(value, logp)
			for c := range pi {
				g := sub(number(0), pi[c])
				if c == y[i] {
					g.Add(g, number(1))
				}
				residual[c*n+i] = sub(g, a[c*n+i])
				for d := range pi {
					w[c*n+i][d*n+i] = sub(number(0), mul(pi[c], pi[d]))
				}
				w[c*n+i][c*n+i].Add(w[c*n+i][c*n+i], pi[c])
			}
		}
		system := zeros(size) // I + W K
		for i := range n {
			for c := range classes {
				for d := range classes {
					for j := range n {
						system[c*n+i][d*n+j] = mul(w[c*n+i][d*n+i], k[d][i][j])
					}
				}
				system[c*n+i][c*n+i].Add(system[c*n+i][c*n+i], number(1))
			}
		}
		logDet := solveBig(system, residual)
		value.Sub(value, mul(half, add(inner(a, f), logDet)))
		change := number(0)
		for j, d := range residual {
			a[j].Add(a[j], d)
			change.Add(change, mul(d, d))
		}
		if float(change) < 1e-80 {
			return value
		}
	}
	t.Fatal("Newton's method in extended precision does not converge")
	return nil
}

// TestMulticlassExtendedPrecision compares evidence and gradient, the latter with differences in 240 bits, for
// amplitudes from where the prior has hardly any effect to e^10. There Σ_c E_c has eigenvalues of 1/(n e^20), which
// doubles represent to 1e-6.
func TestMulticlassExtendedPrecision(t *testing.T) {
	const n, classes, h = 7, 3, 0x1p-70
	x, _ := planeClasses(n, 21)
	y := []int{0, 1, 2, 0, 1, 2, 0}
	for s, shared := range []bool{true, false} {
		for i, theta := range [][2]float64{{0, -10}, {0, 0}, {0, 4}, {0, 10}, {5, 5}, {8, 8}, {5, 10}, {10, 10}} {
			if !exhaustive.Tries(3, s, i) {
				continue
			}
			t.Run(fmt.Sprintf("shared=%v/%v", shared, theta), func(t *testing.T) {
				cov, by := priors(x, theta[0], theta[1], classes, shared)
				post := fitClasses(t, cov, y, classes, nil)
				// log evidence for K_j + hE
				value := func(j int, e *mat.SymDense, h float64) *big.Float {
					var k []matrix
					for c := range classes {
						k = append(k, zeros(n))
						for p := range n {
							for q := range n {
								k[c][p][q] = number(classOf(cov, c).K.At(p, q))
								if min(c, len(cov)-1) == j {
									k[c][p][q].Add(k[c][p][q], mul(number(h), number(e.At(p, q))))
								}
							}
						}
					}
					return extendedMulticlass(t, k, y, post.State())
				}
				if got, want := post.Evidence().Value(), float(value(0, cov[0].K, 0)); !near(got, want, 1e-8) {
					t.Errorf("log evidence %.12g, want %.12g", got, want)
				}
				for j, g := range adjointsOf(t, post, len(cov), n) {
					for i, e := range by[j] {
						want := float(quo(sub(value(j, e, h), value(j, e, -h)), number(2*h)))
						if got := along(g.K, e); !near(got, want, 1e-6) {
							t.Errorf("covariance %d: gradient[%d] = %.10g, want %.10g", j, i, got, want)
						}
					}
				}
			})
		}
	}
}
