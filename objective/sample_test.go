package objective

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// chainsOf runs chains from the starts of a multi-start search.
func chainsOf(t *testing.T, o *Objective, count int, c Chain) (chains [][][]float64, all []*Samples) {
	t.Helper()
	for i := range count {
		c.Seed = uint64(i)
		s, err := o.Sample(t.Context(), param.Start(o.Layout.FreeSpecs(), 1, i), c)
		if err != nil {
			t.Fatal(err)
		}
		chains, all = append(chains, s.Theta), append(all, s)
	}
	return chains, all
}

// expectation compares the mean of f over the samples with the exact value: the difference may be at most 5 Monte
// Carlo standard errors, and these at most standardError.
func expectation(t *testing.T, what string, chains [][][]float64, f func(theta []float64) float64, want, standardError float64) {
	t.Helper()
	series := make([][][]float64, len(chains))
	for c, chain := range chains {
		for _, theta := range chain {
			series[c] = append(series[c], []float64{f(theta)})
		}
	}
	m := Marginals(series)[0]
	if se := m.SD / math.Sqrt(m.ESS); !(math.Abs(m.Mean-want) <= 5*se) || se > standardError {
		t.Errorf("%s = %v ± %v, want %v", what, m.Mean, se, want)
	}
}

// posterior turns an objective into a log posterior with these priors.
func posterior(o *Objective, priors ...param.Prior) *Objective {
	o.criterion = LogPosterior{}
	for i, p := range priors {
		o.Layout.Specs[i].Prior, o.Layout.Specs[i].Map = p, p.Transform()
		o.Layout.Specs[i].Init, o.Layout.Specs[i].Lo, o.Layout.Specs[i].Hi = p.Transform().Natural(0), p.Transform().Natural(-30), p.Transform().Natural(30)
	}
	return o
}

// If the evidence is flat, the samples follow the priors.
func TestSamplesOfAFlatEvidenceAreThePriors(t *testing.T) {
	priors := []param.Prior{
		param.LogNormal{Normal: param.Normal{Mean: -2, SD: 0.3}}, param.HalfNormal{Scale: 3}, param.HalfT{Scale: 0.5, DegreesOfFreedom: 1},
		param.Gamma{Shape: 0.7, Rate: 4}, param.InverseGamma{Shape: 3, Scale: 6}, param.Normal{Mean: 1, SD: 4}, param.Beta{A: 1, B: 9},
	}
	flat := func([]float64) float64 { return 0 }
	o := posterior(functionOf(t, wide(len(priors)), flat, nil, entry{noGradient: true}), priors...)
	chains, _ := chainsOf(t, o, 4, Chain{Samples: 1000})
	for i, p := range priors {
		var moments [3]float64
		for a := -30.0; a < 30; a++ {
			for k := range moments {
				moments[k] += quad.Fixed(func(u float64) float64 {
					value, _ := p.LogDensity(u)
					return math.Pow(u, float64(k)) * math.Exp(value)
				}, a, a+1, 20, nil, 0)
			}
		}
		name, spread := fmt.Sprintf("%T", p), p.Spread()
		expectation(t, name+": mean", chains, func(u []float64) float64 { return u[i] }, moments[1], 0.05*spread)
		expectation(t, name+": square", chains, func(u []float64) float64 { return (u[i] - moments[1]) * (u[i] - moments[1]) }, moments[2]-moments[1]*moments[1], 0.2*spread*spread)
	}
}

// After 8 moves, and at the end of the burn-in, the base has the moments of the later half of the states so far, with
// three states' worth of the covariance before: the chain goes on as one does whose base is set so from outside.
func TestBaseAdaptsToTheLaterHalf(t *testing.T) {
	const burn, samples, seed = 11, 3, 5
	start, flat := []float64{0.5, -1}, func([]float64) float64 { return 0 }
	o := posterior(functionOf(t, wide(2), flat, nil, entry{noGradient: true}), param.Normal{Mean: 1, SD: 2}, param.Normal{SD: 0.5})
	s, err := o.Sample(t.Context(), start, Chain{Burn: burn, Samples: samples, Thin: 1, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	w := newWalk(NewRun(t.Context(), o), o.Layout.FreeSpecs(), start, seed)
	w.value = w.logDensity(start)
	states, sigma := mat.NewDense(burn+samples, 2, nil), mat.NewSymDense(2, []float64{4, 0, 0, 0.25})
	for i := range burn + samples {
		w.move()
		theta := w.at(w.d)
		states.SetRow(i, theta)
		if i >= burn && !mat.EqualApprox(mat.NewVecDense(2, s.Theta[i-burn]), mat.NewVecDense(2, theta), 1e-12) {
			t.Errorf("sample %d is %v, want %v", i-burn, s.Theta[i-burn], theta)
		}
		first := map[int]int{8: 4, burn: 5}[i+1] // first state of the later half
		if first == 0 {
			continue
		}
		later, n := states.Slice(first, i+1, 0, 2), float64(i+1-first)
		var covariance mat.SymDense
		stat.CovarianceMatrix(&covariance, later, nil) // its divisor is n - 1
		mu := []float64{stat.Mean(mat.Col(nil, 0, later), nil), stat.Mean(mat.Col(nil, 1, later), nil)}
		for a := range 2 {
			for b := range a + 1 {
				sigma.SetSym(a, b, (3*sigma.At(a, b)+(n-1)*covariance.At(a, b))/(3+n))
			}
		}
		// Σ = UᵀU by hand, θ = μ + Uᵀz
		u00, d := math.Sqrt(sigma.At(0, 0)), []float64{theta[0] - mu[0], theta[1] - mu[1]}
		u01 := sigma.At(0, 1) / u00
		u11 := math.Sqrt(sigma.At(1, 1) - u01*u01)
		w.mu, w.d, w.z = mu, d, []float64{d[0] / u00, (d[1] - u01*d[0]/u00) / u11}
		copy(w.u.Data, []float64{u00, u01, 0, u11})
	}
}

// A narrow, correlated density away from the start: the sampler adapts to it, and the moments are right.
func TestSamplesOfANarrowRidge(t *testing.T) {
	h := mat.NewSymDense(3, []float64{1000, -950, 0, -950, 1000, 0, 0, 0, 1})
	f, df := quadratic(h, []float64{3, -2, 0})
	o := posterior(functionOf(t, wide(3), f, df, entry{}), slices.Repeat([]param.Prior{param.Normal{SD: 5}}, 3)...)
	// The posterior is normal with the precision A = H + I/25 and the mean A⁻¹ H c.
	precision, covariance := mat.NewSymDense(3, nil), &mat.SymDense{}
	precision.CopySym(h)
	for i := range 3 {
		precision.SetSym(i, i, h.At(i, i)+0.04)
	}
	var chol mat.Cholesky
	var c mat.VecDense
	c.MulVec(h, mat.NewVecDense(3, []float64{3, -2, 0}))
	if !chol.Factorize(precision) || chol.InverseTo(covariance) != nil || chol.SolveVecTo(&c, &c) != nil {
		t.Fatal("singular")
	}
	chains, all := chainsOf(t, o, 4, Chain{Burn: 600, Samples: 300})
	for i := range 3 {
		expectation(t, "mean", chains, func(u []float64) float64 { return u[i] }, c.AtVec(i), 0.1*math.Sqrt(covariance.At(i, i)))
		for j := range i + 1 {
			expectation(t, "covariance", chains, func(u []float64) float64 { return (u[i] - c.AtVec(i)) * (u[j] - c.AtVec(j)) }, covariance.At(i, j), 0.1*math.Sqrt(covariance.At(i, i)*covariance.At(j, j)))
		}
	}
	for i, m := range Marginals(chains) {
		if !(m.RHat < 1.05) || m.ESS < 200 {
			t.Errorf("coordinate %d: %+v", i, m)
		}
	}
	for _, s := range all {
		if s.Evaluations > 4*(600+2*300) || len(s.Fails) > 0 || len(s.Warnings) > 0 {
			t.Errorf("%d evaluations, failures %v, warnings %v", s.Evaluations, s.Fails, s.Warnings)
		}
		for k, theta := range s.Theta {
			p, err := o.At(t.Context(), theta)
			if err != nil || p.Value() != s.Values[k] {
				t.Fatalf("the value at %v is on record as %v; error %v", theta, s.Values[k], err)
			}
		}
	}
}

// Twenty cases on a line: moments of the log hyperparameters and averaged predictive probabilities, compared with
// integrals over a grid of both by the trapezoid rule.
func TestSamplesAgainstAGridOfHyperparameters(t *testing.T) {
	const n = 20
	x, y, z := mat.NewDense(n, 1, nil), make([]float64, n), mat.NewDense(4, 1, []float64{-2.5, -0.3, 0.4, 1.7})
	for i := range n {
		x.Set(i, 0, -2+4*float64(i)/(n-1))
		y[i] = 1
		if math.Sin(2.5*x.At(i, 0)) < 0.3 != (i == 7) {
			y[i] = -1
		}
	}
	prior := func(mean, sd float64) param.Setting {
		return param.Setting{Prior: param.LogNormal{Normal: param.Normal{Mean: mean, SD: sd}}}
	}
	o, err := New(Model{
		Kernels: []kernel.Kernel{kernel.SE{Amplitude: prior(0.5, 1), LengthScale: prior(0, 0.7)}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{},
	}, LogPosterior{}, Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}})
	if err != nil {
		t.Fatal(err)
	}
	held, proba := &kernel.Inputs{X: z}, mat.NewDense(4, 2, nil)
	functions := []func(u []float64, p *Point) float64{
		func(u []float64, _ *Point) float64 { return u[0] },
		func(u []float64, _ *Point) float64 { return u[1] },
		func(u []float64, _ *Point) float64 { return u[0] * u[0] },
		func(u []float64, _ *Point) float64 { return u[1] * u[1] },
		func(u []float64, _ *Point) float64 { return u[0] * u[1] },
	}
	for j := range 4 {
		functions = append(functions, func(u []float64, p *Point) float64 {
			p.PredictProba(proba, held, Averaged{})
			return proba.At(j, 1)
		})
	}
	at := func(run *Run, u []float64) (values []float64, p *Point) {
		p, err := run.Converged(u)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			values = append(values, f(u, p))
		}
		return values, p
	}
	want, total := make([]float64, len(functions)), 0.0
	run := NewRun(t.Context(), o)
	for a := -3.5; a <= 5; a += 0.25 { // smooth density, below 1e-4 of its maximum at the edges
		for l := -3.25; l <= 3; l += 0.25 {
			values, p := at(run, []float64{a, l})
			weight := math.Exp(p.Value() + 15)
			total += weight
			for k, v := range values {
				want[k] += weight * v
			}
		}
	}
	chains, _ := chainsOf(t, o, 4, Chain{Samples: 250})
	series := make([][][]float64, len(chains))
	for c, chain := range chains {
		for _, theta := range chain {
			values, _ := at(run, theta)
			series[c] = append(series[c], values)
		}
	}
	for k, v := range want {
		expectation(t, fmt.Sprintf("function %d", k), series, func(values []float64) float64 { return values[k] }, v/total, []float64{0.05, 0.05, 0.2, 0.2, 0.1, 0.02, 0.02, 0.02, 0.02}[k])
	}
	t.Logf("%.4f", Marginals(series))
}

// Regression with a constant mean c ~ N(m, s²) alone: its posterior is N((m/s² + 1ᵀC⁻¹y)/p, 1/p) with p = 1/s² + 1ᵀC⁻¹1.
func TestSamplesOfAConstantMean(t *testing.T) {
	const m, s = 0.9, 0.3
	o := regression(t, Model{
		Kernels: []kernel.Kernel{squaredExponential{param.Setting{Fixed: ptr(0.8)}, param.Setting{Fixed: ptr(1.2)}}},
		Mean:    Constant{param.Setting{Prior: param.Normal{Mean: m, SD: s}}}, Likelihood: gaussian{param.Setting{Fixed: ptr(0.3)}}, Inference: exact{},
	})
	o.criterion = LogPosterior{}
	n := o.data.X.N()
	c := mat.NewSymDense(n, nil)
	kernel.Gram(o.model.Kernels[0], c, []float64{math.Log(0.8), math.Log(1.2)}, o.data.X)
	ones := mat.NewVecDense(n, nil)
	for i := range n {
		c.SetSym(i, i, c.At(i, i)+0.09)
		ones.SetVec(i, 1)
	}
	var v mat.VecDense
	if err := v.SolveVec(c, ones); err != nil {
		t.Fatal(err)
	}
	precision := 1/(s*s) + mat.Dot(ones, &v)
	mean := (m/(s*s) + mat.Dot(mat.NewVecDense(n, o.data.Y.Value), &v)) / precision
	chains, _ := chainsOf(t, o, 3, Chain{Samples: 500})
	expectation(t, "mean", chains, func(u []float64) float64 { return u[0] }, mean, 0.02)
	expectation(t, "variance", chains, func(u []float64) float64 { return (u[0] - mean) * (u[0] - mean) }, 1/precision, 0.1/precision)
}

// The density is 0 where an evaluation fails and outside the bounds: the log evidence θ with the prior N(0, 1) gives
// N(1, 1), here truncated to between 0 and 1.3.
func TestFailedEvaluationsHaveDensityZero(t *testing.T) {
	fail := func(value float64) error {
		if value > 1.3 {
			return errors.New("beyond\nthe end")
		}
		return nil
	}
	evidence := func(u []float64) float64 { return u[0] }
	o := functionOf(t, [][2]float64{{0, 50}}, evidence, nil, entry{fail: fail, noGradient: true})
	o.criterion, o.Layout.Specs[0].Prior = LogPosterior{}, param.Normal{SD: 1}
	var chains [][][]float64
	for seed := range uint64(4) {
		s, err := o.Sample(t.Context(), []float64{-1}, Chain{Samples: 500, Seed: seed}) // the start is moved to 0
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%d of %d evaluations failed, and count as of density 0, the first with: objective: at a=", len(s.Fails), s.Evaluations)
		if len(s.Fails) == 0 || len(s.Warnings) != 1 || !strings.HasPrefix(s.Warnings[0].Text, want) || !strings.HasSuffix(s.Warnings[0].Text, ": beyond") {
			t.Errorf("%d failures, warnings %q", len(s.Fails), s.Warnings)
		}
		chains = append(chains, s.Theta)
	}
	std := distuv.UnitNormal
	mass := std.CDF(0.3) - std.CDF(-1)
	mean := 1 + (std.Prob(-1)-std.Prob(0.3))/mass
	square := 1 + (-1*std.Prob(-1)-0.3*std.Prob(0.3))/mass // E[(θ-1)²]
	expectation(t, "mean", chains, func(u []float64) float64 { return u[0] }, mean, 0.02)
	expectation(t, "square", chains, func(u []float64) float64 { return (u[0] - 1) * (u[0] - 1) }, square, 0.02)
}

func TestChainsRepeat(t *testing.T) {
	o := withPriors(t, approx.EP{}, LogPosterior{}, param.Gamma{Shape: 2, Rate: 0.7}, param.HalfT{Scale: 2, DegreesOfFreedom: 4}, param.Normal{SD: 0.5})
	short := Chain{Burn: 20, Samples: 5, Seed: 3}
	run := func(c Chain) *Samples {
		s, err := o.Sample(t.Context(), []float64{0, 0, 0}, c)
		if err != nil || len(s.Theta) != c.Samples || len(s.Values) != c.Samples {
			t.Fatal(err, s)
		}
		return s
	}
	first := run(short)
	if again := run(short); !reflect.DeepEqual(first, again) {
		t.Error("the same chain gave two different results")
	}
	other := short
	other.Seed = 4
	if reflect.DeepEqual(first.Theta, run(other).Theta) {
		t.Error("the seed changes nothing")
	}
	longer := short
	longer.Samples = 8
	if s := run(longer); !reflect.DeepEqual(first.Theta, s.Theta[:5]) {
		t.Error("more samples do not extend the chain")
	}
	thin := short
	thin.Samples, thin.Thin = 10, 1
	if s := run(thin); !reflect.DeepEqual(first.Theta[4], s.Theta[9]) {
		t.Error("thinning changes the chain")
	}
}

func TestWhatHasNoPosteriorIsNotSampled(t *testing.T) {
	given := param.Setting{Prior: param.HalfNormal{Scale: 1}}
	fixed := param.Setting{Fixed: ptr(1)}
	for _, c := range []struct {
		amplitude, length param.Setting
		criterion         Criterion
		inference         approx.Approximation
		want              string
	}{
		{given, given, LogEvidence{}, approx.Laplace{}, "make the objective with LogPosterior"},
		{given, given, nil, approx.Laplace{}, "make the objective with LogPosterior"},
		{given, param.Setting{}, LogPosterior{}, approx.Laplace{}, "length_scale has no prior"},
		{fixed, fixed, LogPosterior{}, approx.Laplace{}, "needs a free hyperparameter"},
		{given, given, LogPosterior{}, approx.EP{Iteration: approx.Iteration{MaxIterations: 1}}, "start point: objective: at log_amplitude=0, log_length_scale=0: not converged: ep stopped at iteration 1"},
	} {
		o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{Amplitude: c.amplitude, LengthScale: c.length}}, Likelihood: likelihood.Probit{}, Inference: c.inference}, c.criterion, ring(20, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Sample(t.Context(), make([]float64, len(o.Layout.Free)), Chain{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	evaluations := 0
	f := func([]float64) float64 {
		if evaluations++; evaluations == 50 {
			cancel()
		}
		return 0
	}
	o := posterior(functionOf(t, wide(1), f, nil, entry{noGradient: true}), param.Normal{SD: 1})
	if _, err := o.Sample(ctx, []float64{0}, Chain{}); !errors.Is(err, context.Canceled) || evaluations > 52 {
		t.Errorf("error %v after %d evaluations", err, evaluations)
	}
}
