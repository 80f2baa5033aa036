package approx

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// TestNewtonOfSites moves the sites off their fixed point by a relative 1e-4. One step of Newton's method leaves the
// square of that distance; a step with a wrong Jacobian leaves more.
func TestNewtonOfSites(t *testing.T) {
	const n = 30
	rng := rand.New(rand.NewPCG(1, 2))
	k, y := mat.NewSymDense(n, nil), make([]float64, n)
	for i := range n {
		y[i] = math.Copysign(1, math.Sin(float64(i))+rng.NormFloat64())
		for j := range i + 1 {
			d := 0.3 * float64(i-j)
			k.SetSym(i, j, 9*math.Exp(-d*d/2))
		}
	}
	cov, targets := []Cov{{K: k}}, Targets{Classes: 2, Value: y}
	for name, begin := range map[string]func(likelihood.Bound) (*siteState, error){
		"ep":          func(l likelihood.Bound) (*siteState, error) { return EP{}.begin(cov, targets, l) },
		"pl":          func(l likelihood.Bound) (*siteState, error) { return PL{}.begin(cov, targets, l) },
		"variational": func(l likelihood.Bound) (*siteState, error) { return Variational{}.begin(cov, targets, l) },
	} {
		for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
			p, err := begin(lik)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
			for j := range p.state {
				p.state[j] *= 1 + 1e-4*rng.NormFloat64()
			}
			end := p.startSearch()
			before, err := p.refresh()
			if err != nil {
				t.Fatal(err)
			}
			p.newton(p.newResponse(p.search.Jacobian(p.sigma, prior.Factored)), 1e-12)
			after, err := p.refresh()
			end()
			if err != nil {
				t.Fatal(err)
			}
			if !(after.distance <= 10*before.distance*before.distance) {
				t.Errorf("%s, %T: distance %.2g before and %.2g after", name, lik, before.distance, after.distance)
			}
		}
	}
}

// TestTargetOfSites: the distance at which an iteration ends is the tolerance over what the log evidence changes by
// when all marginals and sites do by one unit: √v for μ, v for v, 1/√v for ν and 1/v for τ at fixed ν - τμ. Here the
// changes, which for PL are not 0, are differences of
//
//	log ∫ p(y|f) exp(½τf² - νf) N(f; μ, v) df + ν μ₀ - ½τ (v₀ + μ₀²)
//
// with μ₀ and v₀ the marginal moments of the fit. The last two terms are the change of the sites'
// own log evidence.
func TestTargetOfSites(t *testing.T) {
	const n, h = 30, 1e-5
	k, y := mat.NewSymDense(n, nil), make([]float64, n)
	for i := range n {
		y[i] = math.Copysign(1, math.Sin(0.3*float64(i))+math.Cos(float64(i*i)))
		for j := range i + 1 {
			d := 0.3 * float64(i-j)
			k.SetSym(i, j, 9*math.Exp(-d*d/2))
		}
	}
	p, err := PL{}.begin([]Cov{{K: k}}, Targets{Classes: 2, Value: y}, likelihood.Probit{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	reach := 0.0
	for i, v := range slices.Clone(p.sigma) {
		mean, tau, b := p.mu[i], p.tau[i], p.b[i]
		at := func(dMean, dV, dTau, dB float64) float64 { // b = ν - τμ, with ν and τ the site's
			p.mu[i], p.sigma[i], p.tau[i] = mean+dMean, v+dV, tau+dTau
			nu := b + dB + p.tau[i]*mean
			p.b[i] = nu - p.tau[i]*p.mu[i]
			return p.rule.term(i).value + p.tau[i]*p.mu[i]*p.mu[i]/2 - nu*p.mu[i] + nu*mean - p.tau[i]*(v+mean*mean)/2
		}
		for _, d := range [][4]float64{{math.Sqrt(v)}, {0, v}, {0, 0, 1 / v}, {0, 0, 0, 1 / math.Sqrt(v)}} {
			reach += math.Abs(at(h*d[0], h*d[1], h*d[2], h*d[3])-at(-h*d[0], -h*d[1], -h*d[2], -h*d[3])) / (2 * h)
		}
		at(0, 0, 0, 0)
	}
	if want := p.options.Tolerance / reach; !(reach > 1.5) || !(math.Abs(p.target/want-1) < 1e-6) {
		t.Errorf("the target is %v, want %v, for a change of %v", p.target, want, reach)
	}
}

// TestMeansOfSites: after a fit b = ν - τμ to its last digits, and μ = m + K b up to the rounding error of b,
// although terms of 1e4 cancel in K b. Plain sums of doubles have a larger error, at which sites would stop on the
// way to the fixed point.
func TestMeansOfSites(t *testing.T) {
	const n = 300
	rng := rand.New(rand.NewPCG(1, 5))
	x, y, mean := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], mean[i] = 6*rng.Float64(), rng.NormFloat64()
		y[i] = math.Copysign(1, math.Sin(x[i])+rng.NormFloat64())
	}
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			k.SetSym(i, j, 1e4*math.Exp(-(x[i]-x[j])*(x[i]-x[j])/8))
		}
	}
	p, err := PL{}.begin([]Cov{{K: k, Mean: mean}}, Targets{Classes: 2, Value: y}, likelihood.Probit{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	for i := range n {
		mu, square := number(mean[i]), 0.0
		for j, b := range p.b {
			mu.Add(mu, new(big.Float).Mul(number(k.At(i, j)), number(b)))
			square += k.At(i, j) * k.At(i, j) * b * b
		}
		want, _ := mu.Float64()
		if math.Abs(p.mu[i]-want) > 2*eps*math.Sqrt(square) {
			t.Errorf("case %d: μ = %v, want %v", i, p.mu[i], want)
		}
		if b := p.nu[i] - p.tau[i]*p.mu[i]; math.Abs(p.b[i]-b) > 8*eps*(math.Abs(p.nu[i])+p.tau[i]*math.Abs(p.mu[i])) {
			t.Errorf("case %d: b = %v, want %v", i, p.b[i], b)
		}
	}
}

// TestGMRES solves systems of the form x - Jx = b, and checks that the residual shows when there is no solution.
func TestGMRES(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(1, 0))
	j, want := make([][]float64, n), make([]float64, n)
	for i := range j {
		j[i], want[i] = make([]float64, n), rng.NormFloat64()
		for k := range j[i] {
			j[i][k] = rng.NormFloat64() / math.Sqrt(n) * 1.5 // too large for x ← b + Jx to converge
		}
	}
	multiply := func(dst, x []float64) {
		for i := range dst {
			dst[i] = x[i] - floats.Dot(j[i], x)
		}
	}
	b := make([]float64, n)
	multiply(b, want)
	if x, residual := gmres(multiply, b, 1e-13); residual > 1e-12 || !floats.EqualApprox(x, want, 1e-9) {
		t.Errorf("residual %v, error %v", residual, floats.Distance(x, want, 2))
	}
	if x, residual := gmres(multiply, make([]float64, n), 1e-13); residual != 0 || floats.Norm(x, 2) != 0 {
		t.Errorf("b = 0: x = %v, residual %v", x, residual)
	}
	singular := func(dst, x []float64) { copy(dst, x); dst[0] = 0 }
	if _, residual := gmres(singular, want, 1e-13); !(residual > 1e-3) {
		t.Errorf("no solution: residual %v", residual)
	}
}
