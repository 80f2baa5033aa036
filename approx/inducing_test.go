package approx_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// inducedMethod is a method with the option inducing, and targets that it supports.
type inducedMethod struct {
	name     string
	of       func(approx.Structure) approx.Approximation
	lik      likelihood.Likelihood
	classes  int
	perClass bool // a kernel for each class
}

// inducedMethods lists all of them; the tests of this file run for each, with every correction.
var inducedMethods = []inducedMethod{
	{"laplace", func(s approx.Structure) approx.Approximation { return approx.Laplace{Structure: s} }, likelihood.Logit{}, 2, false},
	{"laplace of numbers", func(s approx.Structure) approx.Approximation { return approx.Laplace{Structure: s} }, likelihood.Gaussian{}, 0, false},
	{"ep of numbers", func(s approx.Structure) approx.Approximation { return approx.EP{Structure: s} }, likelihood.Gaussian{}, 0, false},
	{"ep", func(s approx.Structure) approx.Approximation { return approx.EP{Structure: s} }, likelihood.Probit{}, 2, false},
	{"power ep", func(s approx.Structure) approx.Approximation { return approx.EP{Structure: s, Alpha: 0.3} }, likelihood.Probit{}, 2, false},
	{"pl", func(s approx.Structure) approx.Approximation { return approx.PL{Structure: s} }, likelihood.Probit{}, 2, false},
	{"variational", func(s approx.Structure) approx.Approximation { return approx.Variational{Structure: s} }, likelihood.Logit{}, 2, false},
	{"exact", func(s approx.Structure) approx.Approximation { return approx.Exact{Structure: s} }, likelihood.Gaussian{}, 0, false},
	{"softmax", func(s approx.Structure) approx.Approximation { return approx.Laplace{Structure: s} }, likelihood.Softmax{}, 3, false},
	{"softmax, a kernel each", func(s approx.Structure) approx.Approximation { return approx.Laplace{Structure: s} }, likelihood.Softmax{}, 3, true},
}

var corrections = map[string]approx.Correction{
	"fitc": {Form: approx.FITC}, "half": {Power: 0.5}, "vfe": {Form: approx.VFE},
}

// named is a part of a sum or product kernel.
func named(kind string, k kernel.Kernel) kernel.Named { return kernel.Named{Kind: kind, Kernel: k} }

// inducedKernels are kernels of inputs in the plane, with ordinary and extreme hyperparameters.
var inducedKernels = []struct {
	name   string
	k      kernel.Kernel
	thetas [][]float64
}{
	{"ARD", kernel.SE{ARD: true}, [][]float64{{0.6, 0.3, -0.2}, {2.5, 0.5, 1}, {-3, 0, 0}}},
	{"Matérn", kernel.Matern32{}, [][]float64{{0.7, 0.4}, {1.5, 3}}},
	{"sum with noise", kernel.Sum{named("se", kernel.SE{}), named("noise", kernel.Noise{})}, [][]float64{{0.8, 0.3, -0.7}, {2, -0.5, 1}}},
	{"product", kernel.Product{named("se", kernel.SE{}), named("linear", kernel.Linear{})}, [][]float64{{0.3, 0.9, 0.2}}},
}

// inducedCases is a problem of n cases in the plane with inducing inputs that are not among the cases.
type inducedCases struct {
	inducedMethod
	k       kernel.Kernel
	theta   []float64 // hyperparameters of the kernel; further kernels get shifted values
	x, z    *kernel.Inputs
	targets approx.Targets
}

// newInducedCases draws n cases, and an inducing input near each of the first m.
func newInducedCases(of inducedMethod, k kernel.Kernel, theta []float64, n, m int) *inducedCases {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	x, z := mat.NewDense(n, 2, nil), mat.NewDense(max(m, 1), 2, nil)
	y := approx.Targets{Classes: of.classes}
	for i := range n {
		a, b := 2*rng.NormFloat64(), 2*rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		v := math.Sin(a) + 0.5*rng.NormFloat64()
		switch {
		case of.classes > 2:
			y.Index = append(y.Index, int(math.Abs(2*v+b))%of.classes)
		case of.classes == 2:
			y.Value = append(y.Value, math.Copysign(1, v))
		default:
			y.Value = append(y.Value, v)
		}
		if i < m {
			z.SetRow(i, []float64{a + rng.NormFloat64(), b + rng.NormFloat64()})
		}
	}
	return &inducedCases{of, k, theta, &kernel.Inputs{X: x}, &kernel.Inputs{X: z}, y}
}

// start is θ: the hyperparameters of the kernel or of each class's kernel, then a prior mean, then the likelihood's.
func (c *inducedCases) start() []float64 {
	theta := slices.Clone(c.theta)
	for j := 1; j < c.kernels(); j++ {
		for _, v := range c.theta {
			theta = append(theta, v+0.2*float64(j))
		}
	}
	theta = append(theta, 0.3)
	for range c.lik.Params() {
		theta = append(theta, -0.4)
	}
	return theta
}

func (c *inducedCases) kernels() int {
	if c.perClass {
		return c.classes
	}
	return 1
}

// split splits θ, or its gradient, into these parts.
func (c *inducedCases) split(theta []float64) (kernels [][]float64, mean *float64, lik []float64) {
	p := len(c.theta)
	for range c.kernels() {
		kernels, theta = append(kernels, theta[:p]), theta[p:]
	}
	return kernels, &theta[0], theta[1:]
}

// means is the prior mean of all cases. It differs between cases: softmax would not change with a common mean.
func (c *inducedCases) means(mean float64) []float64 {
	m := make([]float64, c.x.N())
	for i := range m {
		m[i] = mean * (1 + 0.1*float64(i%3))
	}
	return m
}

// structured is the prior covariance with inducing inputs.
func (c *inducedCases) structured(theta []float64) (cov []approx.Cov) {
	kernels, mean, _ := c.split(theta)
	n, m := c.x.N(), c.z.N()
	for _, theta := range kernels {
		own := approx.Cov{K: mat.NewSymDense(m, nil), Cross: mat.NewDense(m, n, nil),
			Diag: make([]float64, n), Noise: make([]float64, n), Mean: c.means(*mean)}
		square := mat.NewDense(m, m, nil)
		kernel.Cross(c.k, square, theta, c.z, c.z)
		for i := range m {
			for j := i; j < m; j++ {
				own.K.SetSym(i, j, square.At(i, j))
			}
		}
		kernel.Cross(c.k, own.Cross, theta, c.z, c.x)
		kernel.SmoothDiag(c.k, own.Diag, theta, c.x)
		kernel.Diag(c.k, own.Noise, theta, c.x)
		floats.Sub(own.Noise, own.Diag)
		cov = append(cov, own)
	}
	return cov
}

// dense is the prior covariance of all cases.
func (c *inducedCases) dense(theta []float64) (cov []approx.Cov) {
	kernels, mean, _ := c.split(theta)
	for _, theta := range kernels {
		k := mat.NewSymDense(c.x.N(), nil)
		kernel.Gram(c.k, k, theta, c.x)
		cov = append(cov, approx.Cov{K: k, Mean: c.means(*mean)})
	}
	return cov
}

func (c *inducedCases) fit(t *testing.T, m approx.Approximation, theta []float64, cov []approx.Cov) approx.Posterior {
	t.Helper()
	_, _, lik := c.split(theta)
	p, err := m.Fit(context.Background(), cov, c.targets, c.lik.At(lik), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Diagnostics(); !d.Converged {
		t.Fatalf("not converged: %+v", d)
	}
	return p
}

// gradient is the gradient over θ computed from the adjoints.
func (c *inducedCases) gradient(t *testing.T, f approx.Functional, theta []float64) []float64 {
	t.Helper()
	n, m, grad := c.x.N(), c.z.N(), make([]float64, len(theta))
	kernels, _, _ := c.split(theta)
	grads, mean, lik := c.split(grad)
	for j, theta := range kernels {
		dst := approx.Cov{K: mat.NewSymDense(m, nil), Cross: mat.NewDense(m, n, nil), Diag: make([]float64, n),
			Noise: make([]float64, n), Mean: make([]float64, n)}
		if err := f.Adjoint(&dst, j); err != nil {
			t.Fatal(err)
		}
		kernel.PullbackCross(c.k, grads[j], theta, c.z, c.z, mat.DenseCopyOf(dst.K))
		kernel.PullbackCross(c.k, grads[j], theta, c.z, c.x, dst.Cross)
		kernel.PullbackDiag(c.k, grads[j], theta, c.x, dst.Noise)
		kernel.PullbackSmoothDiag(c.k, grads[j], theta, c.x, floats.SubTo(make([]float64, n), dst.Diag, dst.Noise))
		*mean += floats.Dot(dst.Mean, c.means(1))
	}
	if len(lik) > 0 {
		if err := f.Likelihood(lik); err != nil {
			t.Fatal(err)
		}
	}
	return grad
}

// eachInduced calls check for every method, kernel and correction.
func eachInduced(t *testing.T, n, m int, check func(t *testing.T, c *inducedCases, with approx.Approximation)) {
	for a, of := range inducedMethods {
		for b, k := range inducedKernels {
			for i, theta := range k.thetas {
				for c, correction := range slices.Sorted(maps.Keys(corrections)) {
					if !exhaustive.Tries(3, a, b, i, c) {
						continue
					}
					t.Run(fmt.Sprintf("%s, %s %d, %s", of.name, k.name, i, correction), func(t *testing.T) {
						check(t, newInducedCases(of, k.k, theta, n, m), of.of(corrections[correction]))
					})
				}
			}
		}
	}
}

// differences compares a gradient with central differences of its scalar.
func (c *inducedCases) differences(t *testing.T, h float64, f func(theta []float64) approx.Functional) {
	t.Helper()
	theta := c.start()
	at := f(theta)
	got := c.gradient(t, at, theta)
	for j := range got {
		value := func(h float64) float64 {
			moved := slices.Clone(theta)
			moved[j] += h
			return f(moved).Value()
		}
		want := (value(h) - value(-h)) / (2 * h)
		if scale := max(1, math.Abs(want), math.Abs(at.Value())); !(math.Abs(got[j]-want) <= 1e-6*scale) {
			t.Errorf("derivative %d is %.10g, differences give %.10g", j, got[j], want)
		}
	}
}

// TestInducingGradients compares the adjoints with central differences.
func TestInducingGradients(t *testing.T) {
	eachInduced(t, 24, 5, func(t *testing.T, c *inducedCases, m approx.Approximation) {
		c.differences(t, 2e-5, func(theta []float64) approx.Functional {
			return c.fit(t, m, theta, c.structured(theta)).Evidence()
		})
	})
}

// TestInducingAtAllCases: with Z = X every method gives its exact values.
func TestInducingAtAllCases(t *testing.T) {
	eachInduced(t, 24, 0, func(t *testing.T, c *inducedCases, m approx.Approximation) {
		c.z = c.x.Fresh()
		theta := c.start()
		got := c.fit(t, m, theta, c.structured(theta))
		want := c.fit(t, asMatrix(m), theta, c.dense(theta))
		if a, b := got.Evidence().Value(), want.Evidence().Value(); !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(b))) {
			t.Errorf("log evidence %.12g, exactly %.12g", a, b)
		}
		c.samePredictions(t, got, want, theta)
	})
}

// samePredictions compares the predictions of a structured prior and of a dense one.
func (c *inducedCases) samePredictions(t *testing.T, got, want approx.Posterior, theta []float64) {
	t.Helper()
	const n = 5
	fresh := &kernel.Inputs{X: newInducedCases(c.inducedMethod, c.k, c.theta, n, 1).x.X}
	kernels, _, _ := c.split(theta)
	var known, all []*mat.Dense
	var diag, mean [][]float64
	for j, theta := range kernels {
		known, all = append(known, mat.NewDense(c.z.N(), n, nil)), append(all, mat.NewDense(c.x.N(), n, nil))
		diag, mean = append(diag, make([]float64, n)), append(mean, slices.Repeat([]float64{0.1}, n))
		kernel.Cross(c.k, known[j], theta, c.z, fresh)
		kernel.Cross(c.k, all[j], theta, c.x, fresh)
		kernel.Diag(c.k, diag[j], theta, fresh)
	}
	for class := range max(1, c.classes-1) {
		j := min(class, len(kernels)-1)
		mu, v, wantMu, wantV := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		got.Latent(mu, v, known[j], diag[j], class)
		want.Latent(wantMu, wantV, all[j], diag[j], class)
		for i := range mu {
			if scale := max(1, diag[j][i]); !(math.Abs(mu[i]-wantMu[i]) <= 1e-7*scale && math.Abs(v[i]-wantV[i]) <= 1e-7*scale) {
				t.Errorf("class %d: f is %.12g ± %.12g, exactly %.12g ± %.12g", class, mu[i], v[i], wantMu[i], wantV[i])
			}
		}
	}
	if c.classes == 0 {
		return
	}
	a, b := mat.NewDense(n, c.classes, nil), mat.NewDense(n, c.classes, nil)
	got.PredictProba(a, known, diag, mean)
	c.condenses(t, a, got, known, diag, mean, theta)
	want.PredictProba(b, all, diag, mean)
	for i := range n {
		for class := range c.classes {
			if !(math.Abs(a.At(i, class)-b.At(i, class)) <= 1e-8) {
				t.Errorf("p = %.12g, exactly %.12g", a.At(i, class), b.At(i, class))
			}
		}
	}
}

// TestInducingLeaveOneOut: with Z = X leave-one-out sums are the exact ones, and their adjoints agree with
// differences. Unlike the evidence, the sum is not stationary at the fixed point of an iteration.
func TestInducingLeaveOneOut(t *testing.T) {
	for _, of := range inducedMethods {
		for _, k := range inducedKernels {
			t.Run(of.name+", "+k.name, func(t *testing.T) {
				m := precise(of.of(corrections["fitc"]))
				caps, err := m.Uses(of.lik, of.classes)
				if err != nil || !caps.LeaveOneOut {
					t.Fatalf("%+v, %v", caps, err)
				}
				// the methods have the correction FITC by themselves, and the variational method
				// has VFE, with a bound
				own := caps
				if _, bound := m.(approx.Variational); bound {
					own.LeaveOneOut, own.LeaveOneOutGradient, own.LowerBound = false, false, true
				}
				if caps, err := of.of(approx.Correction{}).Uses(of.lik, of.classes); err != nil || caps != own {
					t.Errorf("without a correction %+v, %v, want %+v", caps, err, own)
				}
				sum := func(p approx.Posterior) approx.Functional {
					f, err := p.(approx.LeaveOneOut).LeaveOneOut()
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
				c := newInducedCases(of, k.k, k.thetas[0], 24, 0)
				c.z = c.x.Fresh()
				theta := c.start()
				a := sum(c.fit(t, m, theta, c.structured(theta))).Value()
				b := sum(c.fit(t, asMatrix(m), theta, c.dense(theta))).Value()
				if !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(b))) {
					t.Errorf("leave-one-out %.12g, exactly %.12g", a, b)
				}
				if own, _ := asMatrix(m).Uses(of.lik, of.classes); caps.LeaveOneOutGradient != own.LeaveOneOutGradient {
					t.Errorf("%+v with inducing inputs, %+v without", caps, own)
				}
				if caps.LeaveOneOutGradient {
					c = newInducedCases(of, k.k, k.thetas[0], 30, 5)
					c.differences(t, 1e-4, func(theta []float64) approx.Functional {
						return sum(c.fit(t, m, theta, c.structured(theta)))
					})
				}
			})
		}
	}
}

// precise returns the method with a tolerance at the level of rounding.
func precise(m approx.Approximation) approx.Approximation {
	switch m := m.(type) {
	case approx.Laplace:
		m.Tolerance = 1e-13
		return m
	case approx.EP:
		m.Tolerance = 1e-13
		return m
	case approx.PL:
		m.Tolerance = 1e-13
		return m
	case approx.Variational:
		m.Tolerance = 1e-13
		return m
	}
	return m
}

// TestInducingBound: a bound with inducing inputs never exceeds the evidence or bound without them, and never falls
// as inputs are added. Duplicates, a single input and more inputs than cases are included.
func TestInducingBound(t *testing.T) {
	for _, of := range inducedMethods {
		m := of.of(corrections["vfe"])
		if caps, err := m.Uses(of.lik, of.classes); err != nil || !caps.LowerBound {
			continue
		}
		for _, theta := range [][]float64{{0, 1}, {1, 2}, {-1, 0}} {
			c := newInducedCases(of, kernel.SE{}, theta, 40, 40)
			at := c.start()
			exact := c.fit(t, asMatrix(m), at, c.dense(at)).Evidence().Value()
			var all mat.Dense
			all.Stack(c.z.X, c.x.X)
			rows := func(n int) *mat.Dense { return mat.DenseCopyOf(all.Slice(0, n, 0, 2)) }
			var twice mat.Dense
			twice.Stack(rows(2), rows(2))
			// The jitter of 1e-8 may reduce the variances that the inputs explain, weighted by a site's precision
			// each.
			slack := 40 * 1e-8 / 2 * math.Exp(2*theta[1]) * math.Exp(0.8)
			last := math.Inf(-1)
			for _, points := range []*mat.Dense{rows(1), rows(2), &twice, rows(5), rows(20), rows(40), rows(80)} {
				c.z = &kernel.Inputs{X: points}
				now := c.fit(t, m, at, c.structured(at)).Evidence().Value()
				if !(now >= last-slack) || !(now <= exact+slack) {
					n, _ := points.Dims()
					t.Errorf("%s at %v: %d points give the bound %.10g after %.10g with fewer; without, %.10g",
						of.name, theta, n, now, last, exact)
				}
				last = now
			}
		}
	}
}

// TestInducingAlwaysAnswers: one input, duplicates, and more inputs than cases give a finite evidence and gradient.
func TestInducingAlwaysAnswers(t *testing.T) {
	for _, of := range inducedMethods {
		for correction, form := range corrections {
			m := of.of(form)
			for _, theta := range [][]float64{{0, 0}, {3, 2}, {-6, 4}, {5, -6}} {
				c := newInducedCases(of, kernel.SE{}, theta, 9, 4)
				var twice mat.Dense
				twice.Stack(c.z.X, c.z.X)
				many := newInducedCases(of, c.k, theta, 30, 30).z
				for _, z := range []*kernel.Inputs{{X: mat.DenseCopyOf(c.z.X.Slice(0, 1, 0, 2))}, {X: &twice}, many} {
					c.z = z
					at := c.start()
					p := c.fit(t, m, at, c.structured(at))
					for _, g := range append(c.gradient(t, p.Evidence(), at), p.Evidence().Value()) {
						if math.IsNaN(g) || math.IsInf(g, 0) {
							t.Errorf("%s, %s at %v with %d inputs: evidence or gradient %v", of.name, correction, theta, z.N(), g)
						}
					}
				}
			}
		}
	}
}

// condenses checks that the condensed posterior makes the same predictions and has no evidence.
func (c *inducedCases) condenses(
	t *testing.T, want *mat.Dense, p approx.Posterior, known []*mat.Dense, diag, mean [][]float64, theta []float64,
) {
	t.Helper()
	state, ok := approx.Condense(p)
	if !ok {
		t.Fatal("the posterior needs its cases")
	}
	m, cov := c.of(approx.Correction{}), c.structured(theta)
	_, _, lik := c.split(theta)
	for j := range cov {
		cov[j] = approx.Cov{K: cov[j].K}
	}
	again, err := approx.Expand(m, cov, c.classes, c.lik.At(lik), state)
	if err != nil {
		t.Fatal(err)
	}
	got := mat.NewDense(want.RawMatrix().Rows, c.classes, nil)
	if again.PredictProba(got, known, diag, mean); !mat.Equal(got, want) {
		t.Errorf("predictions %v of the condensed posterior, %v of the posterior", mat.Formatted(got), mat.Formatted(want))
	}
	if v := again.Evidence().Value(); !math.IsNaN(v) {
		t.Errorf("log evidence %v without the cases", v)
	}
	for _, bad := range []approx.State{nil, state[1:], append(slices.Clone(state[:len(state)-1]), -1)} {
		if _, err := approx.Expand(m, cov, c.classes, c.lik.At(lik), bad); err == nil {
			t.Errorf("a state of %d numbers was read", len(bad))
		}
	}
}

// TestInducingStates: a state restores its posterior bit for bit, a neighbour's state changes the result by no more
// than the tolerance, and the number of threads changes no bit.
func TestInducingStates(t *testing.T) {
	for i, of := range inducedMethods {
		for j, k := range inducedKernels {
			if !exhaustive.Tries(3, i, j) {
				continue
			}
			m := of.of(corrections["half"])
			c := newInducedCases(of, k.k, k.thetas[0], 3000/max(1, 3*of.classes), 9)
			theta := c.start()
			fitted := c.fit(t, m, theta, c.structured(theta))
			_, _, params := c.split(theta)
			lik := c.lik.At(params)
			restored, err := m.Restore(c.structured(theta), c.targets, lik, fitted.State())
			if err != nil {
				t.Fatal(err)
			}
			linalg.SetThreads(3)
			threads := c.fit(t, m, theta, c.structured(theta))
			grad := c.gradient(t, threads.Evidence(), theta)
			linalg.SetThreads(1)
			want := c.gradient(t, fitted.Evidence(), theta)
			if a, b := fitted.Evidence().Value(), restored.Evidence().Value(); a != b ||
				!slices.Equal(c.gradient(t, restored.Evidence(), theta), want) {
				t.Errorf("%s, %s: log evidence %v, restored %v, or another gradient", of.name, k.name, a, b)
			}
			if a, b := fitted.Evidence().Value(), threads.Evidence().Value(); a != b || !slices.Equal(grad, want) {
				t.Errorf("%s, %s: log evidence %v, with three threads %v, or another gradient", of.name, k.name, a, b)
			}
			near := slices.Clone(theta)
			near[0] += 0.05
			start := c.fit(t, m, near, c.structured(near)).State()
			warm, err := m.Fit(context.Background(), c.structured(theta), c.targets, lik, start)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := fitted.Evidence().Value(), warm.Evidence().Value(); !(math.Abs(a-b) <= 1e-9*max(1, math.Abs(a))) {
				t.Errorf("%s, %s: log evidence %.14g, from a neighbour's state %.14g", of.name, k.name, a, b)
			}
		}
	}
}

// asMatrix is the method with the matrix of the covariance.
func asMatrix(m approx.Approximation) approx.Approximation {
	m, _ = approx.With(m, nil)
	return m
}
