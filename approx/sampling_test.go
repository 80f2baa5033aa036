package approx_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// sample fits and requires convergence.
func sample(t testing.TB, s approx.Sampling, k *mat.SymDense, mean, y []float64, lik likelihood.Bound) approx.Sampled {
	t.Helper()
	post, err := s.Fit(context.Background(), []approx.Cov{{K: k, Mean: mean}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post.(approx.Sampled)
}

// covers reports whether want lies within 4 standard errors of got, with a small allowance for rounding.
func covers(got, standardError, want float64) bool {
	return math.Abs(got-want) <= 4*standardError+1e-9*max(1, math.Abs(want))
}

// cubature returns E[g(f)], f ~ N(m, K), by the trapezoidal rule in whitened coordinates. For the smooth g below it
// converges exponentially: halving the step changes no result by 1e-9.
func cubature(k mat.Symmetric, m []float64, g func(f []float64) float64) float64 {
	const h, reach = 0.25, 9
	n := len(m)
	var c mat.Cholesky
	if !c.Factorize(k) {
		panic("not positive definite")
	}
	var l mat.TriDense
	c.LTo(&l)
	x, f := make([]float64, n), make([]float64, n)
	var along func(i int) float64
	along = func(i int) float64 {
		if i == n {
			for j := range f {
				f[j] = m[j]
				for p := range j + 1 {
					f[j] += l.At(j, p) * x[p]
				}
			}
			return g(f)
		}
		sum := 0.0
		for s := -reach / h; s <= reach/h; s++ {
			x[i] = s * h
			sum += h * math.Exp(-x[i]*x[i]/2) / math.Sqrt(2*math.Pi) * along(i+1)
		}
		return sum
	}
	return along(0)
}

// jointWithNew is p(y) and p(y, y* = +1), where y* belongs to the last of the cases of K and m.
func jointWithNew(k *mat.SymDense, m, y []float64, lik likelihood.MomentMatcher) (evidence, joint float64) {
	n := len(y)
	p := func(y, f float64) float64 {
		logp, _ := lik.Moments(y, f, 0)
		return math.Exp(logp)
	}
	both := func(f []float64) (before, with float64) {
		before = 1
		for i := range n {
			before *= p(y[i], f[i])
		}
		return before, before * p(1, f[n])
	}
	train := k.SliceSym(0, n)
	evidence = cubature(train, m[:n], func(f []float64) float64 { b, _ := both(append(slices.Clone(f), 0)); return b })
	joint = cubature(k, m, func(f []float64) float64 { _, w := both(f); return w })
	return evidence, joint
}

// TestSamplingAgainstQuadrature: log evidence and prediction of up to three cases are within the error bars.
func TestSamplingAgainstQuadrature(t *testing.T) {
	all := mat.NewSymDense(4, []float64{
		6, 4, -2, 3,
		0, 5, 1, 2,
		0, 0, 4, -1,
		0, 0, 0, 3,
	})
	m, y := []float64{0.5, -1, 0.3, 0.2}, []float64{1, -1, 1}
	for _, lik := range []likelihood.MomentMatcher{likelihood.Probit{}, likelihood.Logit{}} {
		for n := 1; n <= 2; n++ {
			// The last case is the new one.
			k := mat.NewSymDense(n+1, nil)
			order := append(slices.Clone([]int{0, 1, 2}[:n]), 3)
			mean := make([]float64, n+1)
			for i, a := range order {
				mean[i] = m[a]
				for j, b := range order[i:] {
					k.SetSym(i, i+j, all.At(min(a, b), max(a, b)))
				}
			}
			evidence, joint := jointWithNew(k, mean, y[:n], lik)
			train := mat.NewSymDense(n, nil)
			train.CopySym(k.SliceSym(0, n))
			post := sample(t, approx.Sampling{Temperatures: 1000}, train, mean[:n], y[:n], lik)
			d := post.Diagnostics()
			if got := post.Evidence().Value(); !covers(got, d.StandardError, math.Log(evidence)) || !(d.StandardError < 0.003) || d.Jitter != 0 {
				t.Errorf("%T, n = %d: log evidence %v, quadrature gives %v; %+v", lik, n, got, math.Log(evidence), d)
			}
			cross, diag, prior := mat.NewDense(n, 1, nil), [][]float64{{k.At(n, n)}}, [][]float64{{mean[n]}}
			for i := range n {
				cross.Set(i, 0, k.At(i, n))
			}
			proba, standardError := mat.NewDense(1, 2, nil), make([]float64, 1)
			post.PredictProba(proba, []*mat.Dense{cross}, diag, prior)
			post.ProbaStandardError(standardError, []*mat.Dense{cross}, diag, prior)
			if got, want := proba.At(0, 1), joint/evidence; !covers(got, standardError[0], want) || !(standardError[0] < 0.01) {
				t.Errorf("%T, n = %d: p(y = +1) = %v ± %v, quadrature gives %v", lik, n, got, standardError[0], want)
			}
			mu, variance := make([]float64, 1), make([]float64, 1)
			post.Latent(mu, variance, cross, diag[0], 0)
			if lik == (likelihood.Probit{}) { // EP's moments are accurate at this n
				e, ev := make([]float64, 1), make([]float64, 1)
				pair{"ep", approx.EP{}, lik}.fit(t, train, mean[:n], y[:n], nil).Latent(e, ev, cross, diag[0], 0)
				if math.Abs(mu[0]-e[0]) > 0.15 || math.Abs(variance[0]/ev[0]-1) > 0.15 {
					t.Errorf("n = %d: latent N(%v, %v), EP has N(%v, %v)", n, mu[0], variance[0], e[0], ev[0])
				}
			}
		}
		k := mat.NewSymDense(3, nil)
		k.CopySym(all.SliceSym(0, 3))
		want := math.Log(cubature(k, m[:3], func(f []float64) float64 {
			sum := 0.0
			for i, v := range f {
				logp, _ := lik.Moments(y[i], v, 0)
				sum += logp
			}
			return math.Exp(sum)
		}))
		post := sample(t, approx.Sampling{Temperatures: 1000}, k, m[:3], y, lik)
		if got, se := post.Evidence().Value(), post.Diagnostics().StandardError; !covers(got, se, want) || !(se < 0.005) {
			t.Errorf("%T, n = 3: log evidence %v ± %v, quadrature gives %v", lik, got, se, want)
		}
	}
}

// TestSamplingOrthants: if p(y|f) is 0 on one side of f = 0, the evidence is an orthant probability; with outliers it
// is a sum of orthant probabilities.
func TestSamplingOrthants(t *testing.T) {
	const a, b, c = 0.7, -0.4, 0.1 // correlations of f_1 f_2, f_1 f_3, f_2 f_3
	k := mat.NewSymDense(3, []float64{4, 2 * 5 * a, 2 * 0.1 * b, 0, 25, 5 * 0.1 * c, 0, 0, 0.01})
	// P(y_i f_i > 0 for all i): Sheppard's formula and its extension to three values.
	orthant := func(y []float64) float64 {
		ab, ac, bc := math.Asin(a*y[0]*y[1]), math.Asin(b*y[0]*y[2]), math.Asin(c*y[1]*y[2])
		return 0.125 + (ab+ac+bc)/(4*math.Pi)
	}
	for _, y := range [][]float64{{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}} {
		outliers := 0.0
		for s := range 8 {
			flipped, p := slices.Clone(y), 1.0
			for i := range flipped {
				if s>>i&1 == 1 {
					flipped[i] *= -1
					p *= 0.05
				} else {
					p *= 0.95
				}
			}
			outliers += p * orthant(flipped)
		}
		for _, test := range []struct {
			lik  likelihood.Bound
			want float64
		}{{likelihood.Step{}, orthant(y)}, {outlier{}, outliers}} {
			post := sample(t, approx.Sampling{Temperatures: 500}, k, nil, y, test.lik)
			if got, se := post.Evidence().Value(), post.Diagnostics().StandardError; !covers(got, se, math.Log(test.want)) || !(se < 0.1) {
				t.Errorf("%T, y = %v: log evidence %v ± %v, want %v", test.lik, y, got, se, math.Log(test.want))
			}
		}
	}
}

// TestSamplingStepWithNoise: the step likelihood under a kernel with noise of variance 1 is the probit likelihood
// (GPML exercise 3.10.1), also by sampling, where the two computations share nothing.
func TestSamplingStepWithNoise(t *testing.T) {
	const cases = 40
	x, y := twoClasses(cases, 31)
	k, _, _ := seGram(x, 0, 1)
	noisy := mat.NewSymDense(cases, nil)
	noisy.CopySym(k)
	for i := range x {
		noisy.SetSym(i, i, k.At(i, i)+1)
	}
	probit := sample(t, approx.Sampling{Temperatures: 500}, k, nil, y, likelihood.Probit{})
	hard := sample(t, approx.Sampling{Temperatures: 1000, Seed: 1}, noisy, nil, y, likelihood.Step{})
	se := math.Hypot(probit.Diagnostics().StandardError, hard.Diagnostics().StandardError)
	if got, want := hard.Evidence().Value(), probit.Evidence().Value(); !covers(got, se, want) || !(se < 0.1) {
		t.Errorf("step %v ± %v, probit %v ± %v", got, hard.Diagnostics().StandardError, want, probit.Diagnostics().StandardError)
	}
	// All samples lie where the likelihood is not 0.
	cross, diag := mat.DenseCopyOf(noisy), make([]float64, cases)
	for i := range diag {
		diag[i] = noisy.At(i, i)
	}
	proba := mat.NewDense(cases, 2, nil)
	hard.PredictProba(proba, []*mat.Dense{cross}, [][]float64{diag}, nil)
	for i, label := range y {
		if p := proba.At(i, int(label+1)/2); p < 1-1e-6 {
			t.Errorf("case %d: the step likelihood leaves its own label with probability %v", i, p)
		}
	}
}

// TestSamplingAgainstImportanceSampling compares 30 cases with plain importance sampling from a widened Gaussian,
// with densities from another library.
func TestSamplingAgainstImportanceSampling(t *testing.T) {
	const n, draws = 30, 40_000
	x, y := twoClasses(n, 32)
	k, _, _ := seGram(x, -0.5, 1)
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+0.1)
	}
	for _, lik := range []likelihood.MomentMatcher{likelihood.Probit{}, likelihood.Logit{}} {
		s := oracleEP(t, k, make([]float64, n), y, lik, 20)
		precision, nu := make([]float64, n), make([]float64, n)
		for i, v := range s.variance {
			precision[i], nu[i] = 1/v, s.mean[i]/v
		}
		sigma := inverse(t, plusDiag(inverse(t, k), precision))
		wide := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				wide.SetSym(i, j, 1.1*sigma.At(i, j))
			}
		}
		q, ok := distmv.NewNormal(product(sigma, nu), wide, rand.NewPCG(32, 1))
		prior, ok2 := distmv.NewNormal(make([]float64, n), k, nil)
		if !ok || !ok2 {
			t.Fatal("not positive definite")
		}
		f, logW := make([]float64, n), make([]float64, draws)
		for d := range logW {
			q.Rand(f)
			logW[d] = prior.LogProb(f) - q.LogProb(f)
			for i, v := range f {
				logp, _ := lik.Moments(y[i], v, 0)
				logW[d] += logp
			}
		}
		mean, square, largest := 0.0, 0.0, slices.Max(logW)
		for _, w := range logW {
			mean += math.Exp(w-largest) / draws
		}
		for _, w := range logW {
			r := math.Exp(w-largest)/mean - 1
			square += r * r / draws
		}
		want, plain := largest+math.Log(mean), math.Sqrt(square/draws)
		post := sample(t, approx.Sampling{Temperatures: 1000}, k, nil, y, lik)
		se := math.Hypot(plain, post.Diagnostics().StandardError)
		if got := post.Evidence().Value(); !covers(got, se, want) || !(se < 0.02) {
			t.Errorf("%T: annealed %v ± %v, plain %v ± %v", lik, got, post.Diagnostics().StandardError, want, plain)
		}
		if ep := s.logEvidence; math.Abs(ep-want) > 0.5 {
			t.Errorf("%T: EP %v, importance sampling %v", lik, ep, want)
		}
	}
}

// TestSamplingErrorBars: over many seeds the errors, in units of their error bars, have mean 0 and the standard
// deviation of Student's t with 15 degrees of freedom, √(15/13) = 1.07. Over 100 seeds the mean is known to 0.11 and
// the standard deviation to 0.08.
func TestSamplingErrorBars(t *testing.T) {
	k, m, y := mat.NewSymDense(3, []float64{9, 5, 3, 0, 8, 4, 0, 0, 6}), []float64{0.5, -1, 0}, []float64{1, -1}
	train := mat.NewSymDense(2, nil)
	train.CopySym(k.SliceSym(0, 2))
	evidence, joint := jointWithNew(k, m, y, likelihood.Probit{})
	cross, diag, mean := []*mat.Dense{mat.NewDense(2, 1, []float64{3, 4})}, [][]float64{{6}}, [][]float64{{0}}
	const seeds = 100
	var z [2][]float64
	for seed := range uint64(seeds) {
		post := sample(t, approx.Sampling{Chains: 16, Temperatures: 40, Seed: seed}, train, m[:2], y, likelihood.Probit{})
		z[0] = append(z[0], (post.Evidence().Value()-math.Log(evidence))/post.Diagnostics().StandardError)
		proba, se := mat.NewDense(1, 2, nil), make([]float64, 1)
		post.PredictProba(proba, cross, diag, mean)
		post.ProbaStandardError(se, cross, diag, mean)
		z[1] = append(z[1], (proba.At(0, 1)-joint/evidence)/se[0])
	}
	for i, what := range []string{"log evidence", "probability"} {
		average, square := 0.0, 0.0
		for _, v := range z[i] {
			average += v / seeds
			square += v * v / seeds
		}
		t.Logf("%s: mean %.3f, root mean square %.3f", what, average, math.Sqrt(square))
		if math.Abs(average) > 0.35 || square < 0.8*0.8 || square > 1.35*1.35 {
			t.Errorf("%s: errors over error bars have mean %v and root mean square %v", what, average, math.Sqrt(square))
		}
	}
}

// TestSamplingRepeats: equal seeds give equal bits on any number of threads, another seed gives other numbers, and
// the state restores everything.
func TestSamplingRepeats(t *testing.T) {
	x, y := twoClasses(80, 33)
	k, _, _ := seGram(x, 0, 1)
	cov, targets := []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}
	short := approx.Sampling{Chains: 40, Temperatures: 50}
	a := sample(t, short, k, nil, y, likelihood.Logit{})
	linalg.SetThreads(2)
	b := sample(t, short, k, nil, y, likelihood.Logit{})
	linalg.SetThreads(1)
	if !slices.Equal(a.State(), b.State()) {
		t.Error("the same seed gave other samples")
	}
	short.Seed++
	if c := sample(t, short, k, nil, y, likelihood.Logit{}); c.Evidence().Value() == a.Evidence().Value() {
		t.Error("another seed gave the same log evidence")
	}
	r, err := short.Restore(cov, targets, likelihood.Logit{}, a.State())
	if err != nil {
		t.Fatal(err)
	}
	da, dr := a.Diagnostics(), r.Diagnostics()
	da.Iterations = 0
	if r.Evidence().Value() != a.Evidence().Value() || fmt.Sprint(da) != fmt.Sprint(dr) || !mat.Equal(predict(r, k, nil), predict(a, k, nil)) {
		t.Errorf("restored %v %+v, fitted %v %+v", r.Evidence().Value(), dr, a.Evidence().Value(), da)
	}
	bad := slices.Clone(a.State())
	bad[7] = math.NaN()
	for _, s := range []approx.State{bad, bad[8:]} {
		if _, err := short.Restore(cov, targets, likelihood.Logit{}, s); err == nil {
			t.Error("restored a bad state")
		}
		if _, err := short.Fit(context.Background(), cov, targets, likelihood.Logit{}, s); err == nil {
			t.Error("started from a bad state")
		}
	}
	if err := a.Evidence().Adjoint(&approx.Cov{K: mat.NewSymDense(80, nil)}, 0); !errors.Is(err, approx.ErrNoGradient) {
		t.Errorf("adjoint: error %v", err)
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := short.Fit(cancelled, cov, targets, likelihood.Logit{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled fit: error %v", err)
	}
}

// TestSamplingDuplicates: a K without full rank gets a jitter, which is reported and does not change the results.
func TestSamplingDuplicates(t *testing.T) {
	k := mat.NewSymDense(2, []float64{4, 4, 4, 4})
	for _, y := range [][]float64{{1, 1}, {1, -1}} {
		want := math.Log(integrate(func(f float64) float64 {
			return math.Erfc(-y[0]*f/math.Sqrt2) * math.Erfc(-y[1]*f/math.Sqrt2) / 4
		}, 0, 4))
		post := sample(t, approx.Sampling{Temperatures: 1000}, k, nil, y, likelihood.Probit{})
		d := post.Diagnostics()
		if got := post.Evidence().Value(); !covers(got, d.StandardError, want) || !(d.StandardError < 0.005) || !(d.Jitter > 0 && d.Jitter < 1e-13) {
			t.Errorf("y = %v: log evidence %v, want %v; %+v", y, got, want, d)
		}
	}
}

// TestSamplingExtremes: hyperparameters at both ends of the range give a finite log evidence or a warning that the
// error bar is unreliable; too few temperatures for the data give this warning.
func TestSamplingExtremes(t *testing.T) {
	x, y := twoClasses(30, 34)
	x, y = append(x, x[0], x[1]), append(y, y[0], -y[1])
	targets := approx.Targets{Classes: 2, Value: y}
	for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		for _, logLength := range []float64{-10, 0, 10} {
			for _, logAmp := range []float64{-10, 0, 10} {
				k, _, _ := seGram(x, logLength, logAmp)
				post, err := approx.Sampling{Temperatures: 20}.Fit(context.Background(), []approx.Cov{{K: k}}, targets, lik, nil)
				if err != nil {
					t.Errorf("%T, log l = %v, log sf = %v: %v", lik, logLength, logAmp, err)
					continue
				}
				d := post.Diagnostics()
				if v := post.Evidence().Value(); !(v < 0) || math.IsInf(v, 0) || d.Converged != (len(d.Warnings) == 0) {
					t.Errorf("%T, log l = %v, log sf = %v: log evidence %v, %+v", lik, logLength, logAmp, v, d)
				}
				for _, p := range predict(post, k, nil).RawMatrix().Data {
					if !(p >= 0 && p <= 1) {
						t.Errorf("%T, log l = %v, log sf = %v: probability %v", lik, logLength, logAmp, p)
					}
				}
			}
		}
	}
	k, _, _ := seGram(x, 0, 4)
	post, err := approx.Sampling{Temperatures: 1}.Fit(context.Background(), []approx.Cov{{K: k}}, targets, likelihood.Probit{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := post.Diagnostics(); d.Converged || len(d.Warnings) != 1 {
		t.Errorf("one temperature: %+v", d)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1e6} {
		k.SetSym(2, 2, bad)
		if _, err := (approx.Sampling{}).Fit(context.Background(), []approx.Cov{{K: k}}, targets, likelihood.Probit{}, nil); !errors.Is(err, approx.ErrNotPositiveDefinite) {
			t.Errorf("K[2,2] = %v: error %v", bad, err)
		}
	}
	for _, bad := range []approx.Sampling{{Chains: 1}, {Temperatures: -1}, {Moves: -1}, {Burn: -1}, {Samples: -1}} {
		if _, err := bad.Uses(likelihood.Probit{}, 2); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestSamplingCrabs: for these 200 cases EP's log evidence is within half a nat, and Laplace's is not.
func TestSamplingCrabs(t *testing.T) {
	x, y := readCrabs(t)
	for _, c := range []struct{ logLength, logAmp float64 }{{0, 1.15}, {1.5, 2.5}} {
		k, _, _ := seGram(x, c.logLength, c.logAmp)
		for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
			post := sample(t, approx.Sampling{Temperatures: 300}, k, nil, y, lik)
			got, se := post.Evidence().Value(), post.Diagnostics().StandardError
			ep := pair{"ep", approx.EP{}, lik}.fit(t, k, nil, y, nil).Evidence().Value()
			if !(se < 0.1) || math.Abs(ep-got) > 0.5 {
				t.Errorf("%T, log l = %v, log sf = %v: sampled %v ± %v, EP %v", lik, c.logLength, c.logAmp, got, se, ep)
			}
		}
	}
}

// readCrabs reads the bundled crabs, standardised, males as +1.
func readCrabs(t *testing.T) (x [][]float64, y []float64) {
	f, err := os.Open("../experiments/data/sets/crabs.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		v := make([]float64, len(row)-1)
		for j := range v {
			if v[j], err = strconv.ParseFloat(row[j], 64); err != nil {
				t.Fatal(err)
			}
		}
		x, y = append(x, v), append(y, -1)
		if row[len(v)] == "M" {
			y[len(y)-1] = 1
		}
	}
	n := float64(len(x))
	for j := range x[0] {
		mean, square := 0.0, 0.0
		for _, v := range x {
			mean += v[j] / n
		}
		for _, v := range x {
			square += (v[j] - mean) * (v[j] - mean) / n
		}
		for _, v := range x {
			v[j] = (v[j] - mean) / math.Sqrt(square)
		}
	}
	return x, y
}
