package objective

import (
	"context"
	"maps"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// These tests are for gradients whose central differences in double precision consist mainly of
// rounding error. The log evidence, with kernel and likelihood, is computed here in 400-bit
// arithmetic. Differences with a step of 2^-90 then have an error of about 2^-80.

const bits = 400

type vector []*big.Float

func number(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

func float(v *big.Float) float64 { f, _ := v.Float64(); return f }

func add(x, y *big.Float) *big.Float { return number(0).Add(x, y) }
func sub(x, y *big.Float) *big.Float { return number(0).Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return number(0).Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return number(0).Quo(x, y) }
func root(x *big.Float) *big.Float   { return number(0).Sqrt(x) }
func half(x *big.Float) *big.Float   { return number(0).SetMantExp(x, -1) }
func neg(x *big.Float) *big.Float    { return number(0).Neg(x) }

// tiny reports whether x is below 2^-350 of y.
func tiny(x, y *big.Float) bool {
	return x.Sign() == 0 || y.Sign() != 0 && x.MantExp(nil) < y.MantExp(nil)-350
}

// exp is exp(x/2^40)^(2^40), the inner exponential by its series.
func exp(x *big.Float) *big.Float {
	x = number(0).SetMantExp(x, -40)
	sum, term := number(1), number(1)
	for k := 1.0; !tiny(term, sum); k++ {
		term = quo(mul(term, x), number(k))
		sum = add(sum, term)
	}
	for range 40 {
		sum = mul(sum, sum)
	}
	return sum
}

// log applies Newton's method to exp.
func log(x *big.Float) *big.Float {
	mantissa := new(big.Float)
	e := x.MantExp(mantissa)
	y := number(math.Log(float(mantissa)) + float64(e)*math.Ln2)
	for range 6 {
		y = add(y, sub(quo(x, exp(y)), number(1)))
	}
	return y
}

// rootTwoPi is √(2π), with π from Machin's formula.
var rootTwoPi = sync.OnceValue(func() *big.Float {
	arctan := func(inverse float64) *big.Float {
		sum, power := number(0), quo(number(1), number(inverse))
		for k := 1.0; power.MantExp(nil) > -bits; k += 2 {
			sum = add(sum, quo(power, number(k)))
			power = quo(power, number(-inverse*inverse))
		}
		return sum
	}
	return root(sub(mul(number(32), arctan(5)), mul(number(8), arctan(239))))
})

// density is exp(-z²/2)/√(2π).
func density(z *big.Float) *big.Float { return quo(exp(neg(half(mul(z, z)))), rootTwoPi()) }

// probability is Φ(z) = ½ + N(z) Σ_k z^(2k+1)/(1·3·…·(2k+1)). Cancellation costs it |z|²/2·log₂ e bits.
func probability(z *big.Float) *big.Float {
	sum, term := number(0), number(0).Set(z)
	for k := 3.0; !tiny(term, sum); k += 2 {
		sum = add(sum, term)
		term = quo(mul(term, mul(z, z)), number(k))
	}
	return add(number(0.5), mul(density(z), sum))
}

// solve overwrites b with A⁻¹b and returns log|A|, by elimination without pivoting, which is stable for A = I + S K.
func solve(a []vector, b vector) (logDet *big.Float) {
	det := number(1)
	for i := range a {
		det = mul(det, a[i][i])
		for r := i + 1; r < len(a); r++ {
			f := quo(a[r][i], a[i][i])
			for c := i; c < len(a); c++ {
				a[r][c] = sub(a[r][c], mul(f, a[i][c]))
			}
			b[r] = sub(b[r], mul(f, b[i]))
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		for c := i + 1; c < len(a); c++ {
			b[i] = sub(b[i], mul(a[i][c], b[c]))
		}
		b[i] = quo(b[i], a[i][i])
	}
	return log(det)
}

func inner(x, y vector) *big.Float {
	sum := number(0)
	for i := range x {
		sum = add(sum, mul(x[i], y[i]))
	}
	return sum
}

func times(k []vector, x vector) vector {
	out := make(vector, len(k))
	for i := range k {
		out[i] = inner(k[i], x)
	}
	return out
}

// plus is I + diag(s) K.
func plus(s vector, k []vector) []vector {
	out := make([]vector, len(k))
	for i := range k {
		for j := range k {
			v := mul(s[i], k[i][j])
			if i == j {
				v = add(v, number(1))
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// logistic and cumulative return log p(y|f), and its first two derivatives in f.
func logistic(y float64, f *big.Float) (logp, d1, d2 *big.Float) {
	e := exp(mul(number(-y), f))
	p := quo(e, add(number(1), e)) // probability of the other class
	return neg(log(add(number(1), e))), mul(number(y), p), mul(p, sub(p, number(1)))
}

func cumulative(y float64, f *big.Float) (logp, d1, d2 *big.Float) {
	z := mul(number(y), f)
	p := probability(z)
	r := quo(density(z), p)
	return log(p), mul(number(y), r), neg(mul(r, add(z, r)))
}

// extendedLaplace is GPML (3.32) at the mode, found by Newton's method from a = 0.
func extendedLaplace(k []vector, y []float64, derivs func(y float64, f *big.Float) (logp, d1, d2 *big.Float)) *big.Float {
	n := len(y)
	a := make(vector, n)
	for i := range a {
		a[i] = number(0)
	}
	for {
		f := times(k, a)
		b, w, value, change := make(vector, n), make(vector, n), neg(half(inner(a, f))), number(0)
		for i := range y {
			logp, d1, d2 := derivs(y[i], f[i])
			w[i] = neg(d2)
			b[i] = add(mul(w[i], f[i]), d1)
			value = add(value, logp)
		}
		logDet := solve(plus(w, k), b) // a = (I + W K)⁻¹ (W f + ∇log p)
		for i := range a {
			d := sub(b[i], a[i])
			change = add(change, mul(d, d))
		}
		if tiny(change, inner(a, a)) { // squares: the change is below 2^-175
			return sub(value, half(logDet))
		}
		a = b
	}
}

// extendedEP is GPML (3.65) for the probit likelihood at the fixed point, found by sequential sweeps from empty
// sites. The value is stationary in the sites, so the effect of their error is quadratic.
func extendedEP(k []vector, y []float64) *big.Float {
	n := len(y)
	tau, nu, sigma := make(vector, n), make(vector, n), make([]vector, n)
	for i := range n {
		tau[i], nu[i] = number(0), number(0)
		sigma[i] = append(vector{}, k[i]...)
	}
	cavity := func(i int) (m, v, z, s *big.Float) {
		v = quo(sigma[i][i], sub(number(1), mul(tau[i], sigma[i][i])))
		m = mul(v, sub(quo(inner(sigma[i], nu), sigma[i][i]), nu[i]))
		s = root(add(number(1), v))
		return m, v, quo(mul(number(y[i]), m), s), s
	}
	for {
		change := number(0)
		for i := range n {
			m, v, z, s := cavity(i)
			r := quo(density(z), probability(z))
			d1 := quo(mul(number(y[i]), r), s)
			d2 := neg(quo(mul(r, add(z, r)), add(number(1), v)))
			scale := add(number(1), mul(v, d2))
			newTau := neg(quo(d2, scale))
			delta := sub(newTau, tau[i])
			change = add(change, mul(mul(delta, delta), mul(sigma[i][i], sigma[i][i])))
			tau[i], nu[i] = newTau, quo(sub(d1, mul(m, d2)), scale)
			c := quo(delta, add(number(1), mul(delta, sigma[i][i])))
			column := append(vector{}, sigma[i]...)
			for p := range n {
				for q := range n {
					sigma[p][q] = sub(sigma[p][q], mul(c, mul(column[p], column[q])))
				}
			}
		}
		if change.MantExp(nil) < -280 { // squared
			break
		}
	}
	value := half(inner(nu, times(sigma, nu)))
	for i := range n {
		m, v, z, _ := cavity(i)
		tv := add(number(1), mul(tau[i], v))
		q := sub(mul(tau[i], mul(m, m)), add(mul(number(2), mul(nu[i], m)), mul(v, mul(nu[i], nu[i]))))
		value = add(value, add(log(probability(z)), half(add(log(tv), quo(q, tv)))))
	}
	return sub(value, half(solve(plus(tau, k), append(vector{}, nu...))))
}

func TestGradientsInExtendedPrecision(t *testing.T) {
	x := [][]float64{{0.3, -1.1}, {1.2, 0.4}, {-0.8, 0.9}, {0.1, 0.2}, {-1.5, -0.6}}
	y := []float64{1, 1, -1, -1, 1}
	inputs := mat.NewDense(len(x), 2, nil)
	for i, row := range x {
		inputs.SetRow(i, row)
	}
	kernels := map[string]struct {
		kernel kernel.Kernel
		kappa  func(r2 *big.Float) *big.Float // argument: |x - z|²/l²
	}{
		"se": {kernel.SE{}, func(r2 *big.Float) *big.Float { return exp(neg(half(r2))) }},
		"matern52": {kernel.Matern52{}, func(r2 *big.Float) *big.Float {
			a := root(mul(number(5), r2))
			return mul(exp(neg(a)), add(add(number(1), a), quo(mul(a, a), number(3))))
		}},
	}
	pairs := map[string]struct {
		likelihood likelihood.Likelihood
		inference  approx.Approximation
		evidence   func(k []vector) *big.Float
	}{
		"laplace/logit":  {likelihood.Logit{}, approx.Laplace{}, func(k []vector) *big.Float { return extendedLaplace(k, y, logistic) }},
		"laplace/probit": {likelihood.Probit{}, approx.Laplace{}, func(k []vector) *big.Float { return extendedLaplace(k, y, cumulative) }},
		"ep/probit":      {likelihood.Probit{}, approx.EP{}, func(k []vector) *big.Float { return extendedEP(k, y) }},
	}
	for i, kernelName := range slices.Sorted(maps.Keys(kernels)) {
		kk := kernels[kernelName]
		evidence := func(theta vector, of func([]vector) *big.Float) *big.Float {
			k, s2, l2 := make([]vector, len(x)), exp(mul(number(2), theta[0])), exp(mul(number(2), theta[1]))
			for i := range x {
				for j := range x {
					r2 := number(0)
					for c := range x[i] {
						d := sub(number(x[i][c]), number(x[j][c]))
						r2 = add(r2, mul(d, d))
					}
					k[i] = append(k[i], mul(s2, kk.kappa(quo(r2, l2))))
				}
			}
			return of(k)
		}
		for j, pairName := range slices.Sorted(maps.Keys(pairs)) {
			p := pairs[pairName]
			t.Run(kernelName+"/"+pairName, func(t *testing.T) {
				o, err := New(Model{Kernels: []kernel.Kernel{kk.kernel}, Likelihood: p.likelihood, Inference: p.inference}, LogEvidence{},
					Data{X: &kernel.Inputs{X: inputs}, Y: approx.Targets{Classes: 2, Value: y}})
				if err != nil {
					t.Fatal(err)
				}
				for k, free := range [][]float64{{0, 0}, {8, 0}, {5, 5}, {8, 5}, {5, 8}, {8, 8}} {
					if !exhaustive.Tries(3, i, j, k) {
						continue
					}
					point, err := o.At(context.Background(), free)
					if err != nil {
						t.Fatal(err)
					}
					g := make([]float64, 2)
					if err := point.Gradient(g); err != nil {
						t.Fatal(err)
					}
					theta := vector{number(free[0]), number(free[1])}
					if want := float(evidence(theta, p.evidence)); !(math.Abs(point.Value()-want) <= 1e-8*max(1, math.Abs(want))) {
						t.Errorf("at %v: log evidence %.12g, want %.12g", free, point.Value(), want)
					}
					for i := range theta {
						h := number(0).SetMantExp(number(1), -90)
						at := func(step *big.Float) *big.Float {
							moved := append(vector{}, theta...)
							moved[i] = add(theta[i], step)
							return evidence(moved, p.evidence)
						}
						want := float(quo(sub(at(h), at(neg(h))), mul(number(2), h)))
						if !(math.Abs(g[i]-want) <= 1e-5*max(math.Abs(g[0]), math.Abs(g[1]))) {
							t.Errorf("at %v: derivative %d of %.9g is not %.9g", free, i, g, want)
						}
					}
				}
			})
		}
	}
}
