package approx_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// The same posteriors in 240-bit arithmetic, for hyperparameters where rounding errors dominate central differences
// in double precision. Only the likelihood's scalars are doubles, evaluated at the rounded argument.

const bits = 240

type (
	vector []*big.Float
	matrix []vector
)

func number(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

func float(v *big.Float) float64 { f, _ := v.Float64(); return f }

func vectorOf(v []float64) vector {
	x := make(vector, len(v))
	for i := range v {
		x[i] = number(v[i])
	}
	return x
}

func zeros(n int) matrix {
	a := make(matrix, n)
	for i := range a {
		a[i] = vectorOf(make([]float64, n))
	}
	return a
}

// The following functions compute in extended precision.
func add(x, y *big.Float) *big.Float { return number(0).Add(x, y) }
func sub(x, y *big.Float) *big.Float { return number(0).Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return number(0).Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return number(0).Quo(x, y) }

func inner(x, y vector) *big.Float {
	sum, t := number(0), number(0)
	for i := range x {
		sum.Add(sum, t.Mul(x[i], y[i]))
	}
	return sum
}

func (a matrix) times(x vector) vector {
	y := make(vector, len(a))
	for i := range a {
		y[i] = inner(a[i], x)
	}
	return y
}

// precisionMatrix returns R = S^½ B⁻¹ S^½ and log|B| for S = diag(tau), by Gauss-Jordan elimination of B.
func precisionMatrix(k matrix, tau vector) (r matrix, logDet float64) {
	n := len(k)
	root := make(vector, n)
	b := zeros(n)
	for i := range n {
		root[i] = number(0).Sqrt(tau[i])
	}
	for i := range n {
		for j := range n {
			b[i][j].Mul(k[i][j], mul(root[i], root[j]))
		}
		b[i][i].Add(b[i][i], number(1))
	}
	t := number(0)
	for p := range n { // in-place inversion; the determinant is the product of the pivots
		pivot := b[p][p]
		mantissa := new(big.Float)
		exponent := pivot.MantExp(mantissa)
		logDet += math.Log(float(mantissa)) + float64(exponent)*math.Ln2
		inverse := quo(number(1), pivot)
		b[p][p] = number(1)
		for j := range n {
			b[p][j].Mul(b[p][j], inverse)
		}
		for i := range n {
			if i == p {
				continue
			}
			factor := number(0).Set(b[i][p])
			b[i][p].SetFloat64(0)
			for j := range n {
				b[i][j].Sub(b[i][j], t.Mul(factor, b[p][j]))
			}
		}
	}
	for i := range n {
		for j := range n {
			b[i][j].Mul(b[i][j], mul(root[i], root[j]))
		}
	}
	return b, logDet
}

// extended is a log evidence and, with along, tr(G E) of its adjoint G. uncertainty bounds the effect of rounding
// errors of doubles on the log evidence: from the algebra, and from the point where a fit stops.
type extended struct {
	logEvidence float64
	along       func(e *mat.SymDense) float64
	uncertainty float64
}

// unit is the relative rounding error of sums and products of n doubles, and of a Cholesky factorisation.
func unit(n int) float64 { return float64(n+4) * 0x1p-52 }

// algebra bounds the rounding error of -½ bᵀKb - ½ log|B|. A computed Cholesky factor of B is the
// exact factor of a matrix whose entries differ by n units of √(B_ii B_jj). This moves ½ log|B| by
// n units of ½ Σ |B⁻¹_ij| √(B_ii B_jj) = ½ Σ |R_ij| √((K_ii + 1/τ_i)(K_jj + 1/τ_j)). The computed K
// b is the exact product with a matrix whose entries differ by n units of |K_ij|.
func algebra(k, r matrix, tau, b vector) float64 {
	determinant, quadratic := 0.0, 0.0
	for i := range k {
		quadratic += math.Abs(float(b[i])) * math.Sqrt(float(k[i][i]))
		for j := range k {
			if rij := math.Abs(float(r[i][j])); rij > 0 {
				ti, tj := float(tau[i]), float(tau[j])
				determinant += rij * math.Sqrt((float(k[i][i])+1/ti)*(float(k[j][j])+1/tj))
			}
		}
	}
	return unit(len(k)) * (determinant + quadratic*quadratic) / 2
}

// along returns tr(G E).
func (a matrix) along(e *mat.SymDense) float64 {
	sum := number(0)
	for i := range a {
		for j := range a {
			sum.Add(sum, mul(a[i][j], number(e.At(i, j))))
		}
	}
	return float(sum)
}

// extendedLaplace refines the mode, starting from a computed in doubles, by GPML (3.32) and (5.20)-(5.24).
func extendedLaplace(t *testing.T, k matrix, y []float64, lik likelihood.Differentiable, start []float64) extended {
	n := len(y)
	a := vectorOf(start[:n])
	for range 30 {
		// Derivatives at the double next to f, extrapolated to f by Taylor's formula.
		f := k.times(a)
		g, w, d3, residual := make(vector, n), make(vector, n), make([]float64, n), make(vector, n)
		logp := number(0)
		for i := range n {
			at := float(f[i])
			off := sub(f[i], number(at))
			l, d1, d2, third := lik.Derivs(y[i], at)
			logp.Add(logp, add(number(l), mul(number(d1), off)))
			g[i], w[i], d3[i] = add(number(d1), mul(number(d2), off)), number(-d2), third
			residual[i] = sub(g[i], a[i])
		}
		r, logDet := precisionMatrix(k, w)
		shrink := func(x vector) vector { // (I - R K) x
			rk := r.times(k.times(x))
			for i := range rk {
				rk[i].Sub(x[i], rk[i])
			}
			return rk
		}
		size, change := 0.0, 0.0
		for i, d := range shrink(residual) {
			a[i].Add(a[i], d)
			change = max(change, math.Abs(float(d)))
			size = max(size, math.Abs(float(a[i])))
		}
		if change > 1e-14*size {
			continue
		}
		s := make(vector, n)
		for i := range n {
			s[i] = mul(sub(k[i][i], inner(k[i], r.times(k[i]))), number(d3[i]/2))
		}
		u, half := shrink(s), number(0.5)
		adjoint := zeros(n)
		for i := range n {
			for j := range n {
				x := sub(mul(g[i], g[j]), r[i][j])
				x.Add(x, add(mul(u[i], g[j]), mul(g[i], u[j])))
				adjoint[i][j].Mul(half, x)
			}
		}
		var widest, reach, weight, sum float64
		for i := range n { // see Laplace's own bound: the step left is √(ηᵀWη), η = eps max K Σ|a|; it moves ½ log|B|
			widest, weight, sum = max(widest, float(k[i][i])), weight+float(w[i]), sum+math.Abs(float(a[i]))
			v := min(float(k[i][i]), 1/float(w[i]))
			reach += math.Abs(d3[i]) / 2 * v * math.Sqrt(v)
		}
		left := 0x1p-52 * widest * sum * math.Sqrt(weight)
		return extended{float(logp) - float(inner(a, f))/2 - logDet/2, adjoint.along, algebra(k, r, w, a) + reach*left}
	}
	t.Fatal("Newton's method in extended precision does not converge")
	return extended{}
}

// extendedEP refines the fixed point, starting from sites computed in doubles, by sequential sweeps with rank-one
// updates, and evaluates GPML (3.65) term by term with (5.27).
func extendedEP(t *testing.T, k matrix, y []float64, lik likelihood.MomentMatcher, start []float64) extended {
	n := len(y)
	tau, nu := vectorOf(start[:n]), vectorOf(start[n:])
	sigma := zeros(n)
	posterior := func() {
		r, _ := precisionMatrix(k, tau)
		for j := range n {
			for i, v := range k.times(r.times(k[j])) {
				sigma[i][j].Sub(k[i][j], v)
			}
		}
	}
	posterior()
	cavity := func(i int) (mean, variance *big.Float) {
		mu := inner(sigma[i], nu)
		variance = quo(number(1), sub(quo(number(1), sigma[i][i]), tau[i]))
		return mul(variance, sub(quo(mu, sigma[i][i]), nu[i])), variance
	}
	damping := number(1)
	for sweep := range 300 {
		change := 0.0
		if sweep == 40 { // undamped sweeps may leave the fixed point if the likelihood is not log-concave
			damping = number(0.25)
			copy(tau, vectorOf(start[:n]))
			copy(nu, vectorOf(start[n:]))
			posterior()
		}
		for i := range n {
			m, v := cavity(i)
			_, d1, d2 := matched(lik, y[i], float(m), float(v))
			scale := add(number(1), mul(number(d2), v))
			newTau := quo(number(-d2), scale)
			newNu := quo(sub(number(d1), mul(number(d2), m)), scale)
			if d2 > 0 { // floored, as by default
				newTau, newNu = number(0), number(d1)
			}
			delta, deltaNu := mul(damping, sub(newTau, tau[i])), mul(damping, sub(newNu, nu[i]))
			sd := math.Sqrt(float(sigma[i][i]))
			change = max(change, math.Abs(float(delta))*sd*sd, math.Abs(float(deltaNu))*sd)
			tau[i], nu[i] = add(tau[i], delta), add(nu[i], deltaNu)
			c := quo(delta, add(number(1), mul(delta, sigma[i][i])))
			column := make(vector, n)
			for j := range n {
				column[j] = number(0).Set(sigma[j][i])
			}
			x := number(0)
			for p := range n {
				cp := mul(c, column[p])
				for q := range n {
					sigma[p][q].Sub(sigma[p][q], x.Mul(cp, column[q]))
				}
			}
		}
		if change > 1e-13 {
			continue
		}
		r, logDet := precisionMatrix(k, tau)
		value := -logDet/2 + float(inner(nu, sigma.times(nu)))/2
		distance := 0.0 // distance from the fixed point caused by rounding; see siteFit.propose
		shares := 0.0   // the error of Σ log(1 - τ_i v_i)
		for i := range n {
			m, v := cavity(i)
			distance = max(distance, 8*0x1p-52*float(quo(mul(k[i][i], v), mul(sigma[i][i], sigma[i][i]))))
			shares += 0x1p-52 * float(quo(v, sigma[i][i]))
			logZ, _ := lik.Moments(y[i], float(m), float(v))
			tv := add(number(1), mul(tau[i], v))
			q := mul(tau[i], mul(m, m))
			q.Sub(q, mul(number(2), mul(nu[i], m)))
			q.Sub(q, mul(v, mul(nu[i], nu[i])))
			value += logZ + math.Log(float(tv))/2 + float(quo(q, tv))/2
		}
		b := make(vector, n)
		for i, mu := range sigma.times(nu) {
			b[i] = sub(nu[i], mul(tau[i], mu))
		}
		adjoint := zeros(n)
		for i := range n {
			for j := range n {
				adjoint[i][j].Mul(number(0.5), sub(mul(b[i], b[j]), r[i][j]))
			}
		}
		return extended{value, adjoint.along, algebra(k, r, tau, b) + float64(n)*distance*distance + shares}
	}
	t.Fatal("EP in extended precision does not converge")
	return extended{}
}

// extended refines the state of a fit in extended precision.
func (p pair) extended(t *testing.T, k matrix, y []float64, start []float64) extended {
	switch p.method.(type) {
	case approx.Laplace:
		return extendedLaplace(t, k, y, p.lik.(likelihood.Differentiable), start)
	case approx.EP:
		return extendedEP(t, k, y, p.lik.(likelihood.MomentMatcher), start)
	case approx.PL:
		return extendedPL(t, k, y, p.lik.(likelihood.MomentMatcher), start)
	case approx.Variational:
		return extendedVariational(k, y, p.lik.(likelihood.LogConcave), start)
	case approx.Online:
		return extendedOnline(k, y, p.lik.(likelihood.MomentMatcher))
	case approx.EnsembleMeanField:
		return extendedMeanField(t, k, y, p.lik.(likelihood.GaussianNoise), start, false)
	case approx.NaiveMeanField:
		return extendedMeanField(t, k, y, p.lik.(likelihood.GaussianNoise), start, true)
	}
	t.Fatalf("%s is not written in extended precision", p.name)
	return extended{}
}

// TestExtendedPrecision compares evidence and gradient at large length scales and amplitudes.
func TestExtendedPrecision(t *testing.T) {
	const n = 20
	x, y := twoClasses(n, 1)
	for k, p := range formulated(t) {
		if _, pl := p.method.(approx.PL); pl || p.fickle() {
			continue // see TestPLInExtendedPrecision
		}
		t.Run(p.name, func(t *testing.T) {
			for i, theta := range [][2]float64{{5, 5}, {5, 8}, {6.5, 6.5}, {8, 5}, {8, 8}} {
				if !exhaustive.Tries(4, i, k) {
					continue
				}
				k, byLength, byAmp := seGram(x, theta[0], theta[1])
				k = p.prior(k)
				fit, err := p.method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil)
				if err != nil {
					t.Fatal(err)
				}
				exact := zeros(n)
				for i := range n {
					for j := range n {
						exact[i][j] = number(k.At(i, j))
					}
				}
				want := p.extended(t, exact, y, fit.State())
				got := fit.Evidence().Value()
				if !near(got, want.logEvidence, 1e-8) {
					t.Errorf("log l, log sf = %v: log evidence %.12g, want %.12g", theta, got, want.logEvidence)
				}
				dst := approx.Cov{K: mat.NewSymDense(n, nil)}
				if err := fit.Evidence().Adjoint(&dst, 0); err != nil {
					t.Fatal(err)
				}
				t.Log(theta, got-want.logEvidence)
				for i, e := range []*mat.SymDense{byLength, byAmp} {
					g, w := along(dst.K, e), want.along(e)
					t.Log(g-w, w)
					if !near(g, w, 1e-6) {
						t.Errorf("log l, log sf = %v: gradient[%d] = %.9g, want %.9g", theta, i, g, w)
					}
				}
			}
		})
	}
}
