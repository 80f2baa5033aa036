package approx_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
)

// regression is a problem with numeric targets and a nonzero prior mean, as a function of log length scale, log
// amplitude and log noise.
type regression struct {
	x       [][]float64
	y, mean []float64
}

func newRegression(n int, seed uint64) regression {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, _ := twoClasses(n, seed)
	r := regression{x, make([]float64, n), make([]float64, n)}
	for i, p := range x {
		r.y[i] = 2 + math.Sin(2*p[0]) + 0.3*rng.NormFloat64()
		r.mean[i] = 1 + 0.2*p[1]
	}
	return r
}

func (r regression) fit(t testing.TB, method approx.Approximation, k *mat.SymDense, mean []float64, logNoise float64) approx.Posterior {
	t.Helper()
	post, err := method.Fit(context.Background(), []approx.Cov{{K: k, Mean: mean}}, approx.Targets{Value: r.y}, likelihood.Gaussian{}.At([]float64{logNoise}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post
}

// TestExactAgainstDenseAlgebra compares with GPML (2.25), (2.26) and (2.30), and the leave-one-out sum with one
// regression per left-out case.
func TestExactAgainstDenseAlgebra(t *testing.T) {
	const n, m = 12, 4
	data := newRegression(n+m, 20)
	for _, logNoise := range []float64{-4, -1, 2} {
		joint, _, _ := seGram(data.x, 0.2, 0.7)
		k := mat.NewSymDense(n, nil)
		k.CopySym(joint)
		noise := make([]float64, n)
		for i := range noise {
			noise[i] = math.Exp(2 * logNoise)
		}
		residual := func(keep []int) []float64 {
			r := make([]float64, len(keep))
			for i, j := range keep {
				r[i] = data.y[j] - data.mean[j]
			}
			return r
		}
		// predict conditions f(x_j) on the cases in keep.
		predict := func(keep []int, j int) (mean, variance float64) {
			c, cross := mat.NewSymDense(len(keep), nil), make([]float64, len(keep))
			for a, i := range keep {
				cross[a] = joint.At(i, j)
				for b, l := range keep {
					c.SetSym(a, b, joint.At(i, l))
				}
			}
			inv := inverse(t, plusDiag(c, noise[:len(keep)]))
			return dot(cross, product(inv, residual(keep))), joint.At(j, j) - dot(cross, product(inv, cross))
		}
		var all []int
		for i := range n {
			all = append(all, i)
		}

		post := regression{data.x, data.y[:n], nil}.fit(t, approx.Exact{}, k, data.mean[:n], logNoise)
		c, r := plusDiag(k, noise), residual(all)
		want := -dot(r, product(inverse(t, c), r))/2 - logDet(c)/2 - n*math.Log(2*math.Pi)/2
		if got := post.Evidence().Value(); !near(got, want, 1e-10) {
			t.Errorf("log noise %v: log evidence %.13g, want %.13g", logNoise, got, want)
		}

		cross, diag := mat.NewDense(n, m, nil), make([]float64, m)
		for j := range m {
			diag[j] = joint.At(n+j, n+j)
			for i := range n {
				cross.Set(i, j, joint.At(i, n+j))
			}
		}
		mean, variance := make([]float64, m), make([]float64, m)
		post.Latent(mean, variance, cross, diag, 0)
		for j := range m {
			if wantMean, wantVariance := predict(all, n+j); !near(mean[j], wantMean, 1e-10) || !near(variance[j], wantVariance, 1e-10) {
				t.Errorf("log noise %v: latent N(%.12g, %.12g), want N(%.12g, %.12g)", logNoise, mean[j], variance[j], wantMean, wantVariance)
			}
		}

		want = 0
		for i := range n {
			var keep []int
			for j := range n {
				if j != i {
					keep = append(keep, j)
				}
			}
			mean, variance := predict(keep, i)
			logp, _ := likelihood.Gaussian{}.At([]float64{logNoise}).(likelihood.MomentMatcher).Moments(data.y[i], data.mean[i]+mean, variance)
			want += logp
		}
		loo, err := post.(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		if got := loo.Value(); !near(got, want, 1e-9) {
			t.Errorf("log noise %v: leave-one-out %.13g, want %.13g", logNoise, got, want)
		}

		// log p(y_g|y_-g) = log p(y) - log p(y_-g)
		for _, groups := range [][][]int{{{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}}, {{9, 0, 4}, {1}, {2, 3, 5, 6, 7, 8, 10, 11}}} {
			want := 0.0
			for _, g := range groups {
				var part regression
				var keep []int
				for j := range n {
					if !slices.Contains(g, j) {
						keep, part.y, part.mean = append(keep, j), append(part.y, data.y[j]), append(part.mean, data.mean[j])
					}
				}
				c := mat.NewSymDense(len(keep), nil)
				for a, i := range keep {
					for b, j := range keep {
						c.SetSym(a, b, joint.At(i, j))
					}
				}
				want += post.Evidence().Value() - part.fit(t, approx.Exact{}, c, part.mean, logNoise).Evidence().Value()
			}
			left, err := post.(approx.LeaveGroupOut).LeaveGroupOut(groups)
			if err != nil {
				t.Fatal(err)
			}
			if got := left.Value(); !near(got, want, 1e-9) {
				t.Errorf("log noise %v: leave-group-out %.13g, want %.13g", logNoise, got, want)
			}
		}
	}
}

// functionals are the differentiable scalars of a posterior.
func functionals(t testing.TB, post approx.Posterior) map[string]approx.Functional {
	all := map[string]approx.Functional{"evidence": post.Evidence()}
	if _, ok := post.(approx.LeaveOneOut); ok {
		loo, err := post.(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		all["leave-one-out"] = loo
	}
	return all
}

// TestExactGradients compares both gradients with central differences over entries of K, the mean and all
// hyperparameters.
func TestExactGradients(t *testing.T) {
	const n, h = 15, 2e-5
	data := newRegression(n, 21)
	rng := rand.New(rand.NewPCG(21, 2))
	for _, at := range [][3]float64{{0, 0, -1}, {-3, 3, 1}, {3, 3, -2}, {3, -3, 0}, {-3, -3, -3}, {1, 2, 3}} {
		direction, byMean := mat.NewSymDense(n, nil), make([]float64, n)
		for i := range n {
			byMean[i] = rng.NormFloat64()
			for j := i; j < n; j++ {
				// the size of a change of K + σ²I
				direction.SetSym(i, j, math.Exp(2*at[2])*rng.NormFloat64())
			}
		}
		// move fits after steps along log l, log amplitude, log noise, the direction of K and the direction of the
		// mean.
		move := func(step [5]float64) approx.Posterior {
			k, _, _ := seGram(data.x, at[0]+step[0], at[1]+step[1])
			mean := make([]float64, n)
			for i := range n {
				mean[i] = data.mean[i] + step[4]*byMean[i]
				for j := i; j < n; j++ {
					k.SetSym(i, j, k.At(i, j)+step[3]*direction.At(i, j))
				}
			}
			return data.fit(t, approx.Exact{}, k, mean, at[2]+step[2])
		}
		_, byLength, byAmp := seGram(data.x, at[0], at[1])
		all := func(post approx.Posterior) map[string]approx.Functional {
			all := functionals(t, post)
			left, err := post.(approx.LeaveGroupOut).LeaveGroupOut([][]int{{9, 0, 4}, {1}, {14}, {2, 3, 5, 6, 7, 8, 10, 11, 12, 13}})
			if err != nil {
				t.Fatal(err)
			}
			all["leave-group-out"] = left
			return all
		}
		for name, f := range all(move([5]float64{})) {
			g, byNoise := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}, []float64{7} // Likelihood adds
			if err := f.Adjoint(&g, 0); err != nil {
				t.Fatal(err)
			}
			if err := f.Likelihood(byNoise); err != nil {
				t.Fatal(err)
			}
			got := [5]float64{along(g.K, byLength), along(g.K, byAmp), byNoise[0] - 7, along(g.K, direction), dot(g.Mean, byMean)}
			for c := range got {
				step := [5]float64{}
				step[c] = h
				up := all(move(step))[name].Value()
				step[c] = -h
				want := (up - all(move(step))[name].Value()) / (2 * h)
				if scale := max(1, math.Abs(want), math.Abs(f.Value())); !(math.Abs(got[c]-want) <= 1e-6*scale) {
					t.Errorf("%v: %s: gradient[%d] = %.10g, differences give %.10g", at, name, c, got[c], want)
				}
			}
		}
	}
}

// TestGaussianLikelihoodIsExact: with Gaussian noise no approximation is needed, so every method that supports it
// agrees with exact regression in value, gradients, predictions and leave-one-out.
func TestGaussianLikelihoodIsExact(t *testing.T) {
	const n = 20
	data := newRegression(n, 22)
	for _, e := range approx.Table {
		method, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := method.Uses(likelihood.Gaussian{}, 0); err != nil {
			continue
		}
		if _, err := method.Uses(likelihood.Gaussian{}, 2); err == nil {
			t.Errorf("%s takes two classes for numbers", e.Name)
		}
		t.Run(e.Name, func(t *testing.T) {
			for _, at := range [][3]float64{{0, 0, -1}, {0.5, 2, 0}, {-2, 1, -2}, {3, 3, 1}} {
				k, _, _ := seGram(data.x, at[0], at[1])
				want, got := data.fit(t, approx.Exact{}, k, data.mean, at[2]), data.fit(t, method, k, data.mean, at[2])
				wants := functionals(t, want)
				for name, f := range functionals(t, got) {
					if !near(f.Value(), wants[name].Value(), 1e-9) {
						t.Errorf("%v: %s %.12g, want %.12g", at, name, f.Value(), wants[name].Value())
					}
				}
				g, w := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}, approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
				byNoise, wantByNoise := []float64{0}, []float64{0}
				for _, err := range []error{
					got.Evidence().Adjoint(&g, 0), want.Evidence().Adjoint(&w, 0),
					got.Evidence().Likelihood(byNoise), want.Evidence().Likelihood(wantByNoise),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				if !mat.EqualApprox(g.K, w.K, 1e-7*mat.Max(w.K)) || !near(byNoise[0], wantByNoise[0], 1e-8) {
					t.Errorf("%v: gradients differ: by noise %v, want %v", at, byNoise, wantByNoise)
				}
				cross, diag := mat.DenseCopyOf(k), make([]float64, n)
				for i := range diag {
					diag[i] = k.At(i, i)
					if !near(g.Mean[i], w.Mean[i], 1e-8) {
						t.Errorf("%v: ∂L/∂m[%d] = %v, want %v", at, i, g.Mean[i], w.Mean[i])
					}
				}
				var latent, wantLatent [2][]float64
				for c := range latent {
					latent[c], wantLatent[c] = make([]float64, n), make([]float64, n)
				}
				got.Latent(latent[0], latent[1], cross, diag, 0)
				want.Latent(wantLatent[0], wantLatent[1], cross, diag, 0)
				for i := range n {
					if !near(latent[0][i], wantLatent[0][i], 1e-8) || !near(latent[1][i], wantLatent[1][i], 1e-8) {
						t.Errorf("%v: latent %d: N(%v, %v), want N(%v, %v)", at, i, latent[0][i], latent[1][i], wantLatent[0][i], wantLatent[1][i])
					}
				}
			}
		})
	}
}

// TestExactExtremes: over the range of hyperparameters, with repeated inputs, Fit returns a finite value or an error.
func TestExactExtremes(t *testing.T) {
	data := newRegression(20, 23)
	data.x[3], data.x[4], data.x[5] = data.x[0], data.x[0], data.x[1]
	steps := []float64{-10, -4, 0, 4, 10}
	for _, logLength := range steps {
		for _, logAmp := range steps {
			for _, logNoise := range []float64{-10, -3, 0, 15} {
				k, _, _ := seGram(data.x, logLength, logAmp)
				cov, lik := []approx.Cov{{K: k}}, likelihood.Gaussian{}.At([]float64{logNoise})
				post, err := approx.Exact{}.Fit(context.Background(), cov, approx.Targets{Value: data.y}, lik, nil)
				// Rounding errors of K move its eigenvalues by about n eps max K_ii; larger noise hides that.
				if certain := math.Exp(2*logNoise) > 1e-13*math.Exp(2*logAmp); err != nil {
					if certain {
						t.Errorf("log l, sf, noise = %v, %v, %v: %v", logLength, logAmp, logNoise, err)
					}
					continue
				}
				for name, f := range functionals(t, post) {
					g := approx.Cov{K: mat.NewSymDense(20, nil)}
					if err := f.Adjoint(&g, 0); err != nil || math.IsNaN(f.Value()+mat.Sum(g.K)) || math.IsInf(f.Value()+mat.Sum(g.K), 0) {
						t.Errorf("log l, sf, noise = %v, %v, %v: %s %v, adjoint %v", logLength, logAmp, logNoise, name, f.Value(), err)
					}
				}
			}
		}
	}
}

// TestExactRefuses checks that anything but regression is refused, and that the message says what is supported.
func TestExactRefuses(t *testing.T) {
	if _, err := (approx.Exact{}).Uses(likelihood.Probit{}, 2); err == nil {
		t.Error("exact takes probit")
	}
	one := []approx.Cov{{K: mat.NewSymDense(1, []float64{1})}}
	lik := likelihood.Gaussian{}.At([]float64{0})
	for _, y := range []float64{math.NaN(), math.Inf(1), 1e200} {
		if _, err := (approx.Exact{}).Fit(context.Background(), one, approx.Targets{Value: []float64{y}}, lik, nil); err == nil {
			t.Errorf("a target of %v is no error", y)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (approx.Exact{}).Fit(cancelled, one, approx.Targets{Value: []float64{1}}, lik, nil); err == nil {
		t.Error("a cancelled fit is no error")
	}
	if _, err := (approx.Exact{}).Restore(one, approx.Targets{Value: []float64{1}}, lik, approx.State{1}); err == nil {
		t.Error("restored a state of another method")
	}
	post, err := approx.Exact{}.Fit(context.Background(), one, approx.Targets{Value: []float64{1}}, lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("numbers have class probabilities")
		}
	}()
	post.PredictProba(mat.NewDense(1, 2, nil), []*mat.Dense{mat.NewDense(1, 1, nil)}, [][]float64{{1}}, nil)
}

// noisyProbit is p(y|f) = Φ(yf/s) with the one parameter log s, with all derivatives in closed form.
type noisyProbit struct{ s float64 }

func (noisyProbit) Domain() likelihood.Domain         { return likelihood.Binary }
func (noisyProbit) Likelihood() likelihood.Likelihood { return noisyProbit{} }
func (noisyProbit) Params() []param.Spec {
	return []param.Spec{{Name: "noise", Map: param.Log, Init: 1}}
}
func (noisyProbit) At(theta []float64) likelihood.Bound {
	return noisyProbit{math.Exp(theta[0])}
}

func (p noisyProbit) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	logp, d1, d2, d3 = likelihood.Probit{}.Derivs(y, f/p.s)
	return logp, d1 / p.s, d2 / (p.s * p.s), d3 / (p.s * p.s * p.s)
}

func (p noisyProbit) LogProb(y, f float64) float64 { return likelihood.Probit{}.LogProb(y, f/p.s) }

func (p noisyProbit) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	logZ, d = likelihood.Probit{}.Moments(y, mean/p.s, variance/(p.s*p.s))
	for k := range d {
		d[k] /= math.Pow(p.s, float64(k+1))
	}
	return logZ, d
}

func (p noisyProbit) paramDerivs(logp, d1, d2 []float64, y, f float64) {
	_, l1, l2, l3 := p.Derivs(y, f)
	logp[0], d1[0], d2[0] = -f*l1, -l1-f*l2, -2*l2-f*l3
}

func (p noisyProbit) DMoments(logZ, dMean, d2Mean []float64, y, mean, variance float64) {
	wide := noisyProbit{math.Sqrt(p.s*p.s + variance)} // LogZ is log p of this likelihood at the mean
	wide.paramDerivs(logZ, dMean, d2Mean, y, mean)
	for _, d := range [][]float64{logZ, dMean, d2Mean} {
		d[0] *= p.s * p.s / (wide.s * wide.s)
	}
}

// TestLikelihoodGradient checks the derivative with respect to a parameter of a likelihood that is not Gaussian,
// where the mode of Laplace's method moves with the parameter.
func TestLikelihoodGradient(t *testing.T) {
	const n, h = 20, 2e-5
	x, y := twoClasses(n, 24)
	for _, method := range []approx.Approximation{approx.Laplace{}, approx.EP{}, approx.Online{}} {
		t.Run(fmt.Sprintf("%T", method), func(t *testing.T) {
			for _, at := range [][2]float64{{0, 0}, {2, -1}, {3, 2}, {-2, 1}} {
				k, _, _ := seGram(x, 0.5, at[0])
				evidence := func(logS float64) approx.Functional {
					return pair{"", method, noisyProbit{math.Exp(logS)}}.fit(t, k, nil, y, nil).Evidence()
				}
				got := []float64{0}
				if err := evidence(at[1]).Likelihood(got); err != nil {
					t.Fatal(err)
				}
				want := (evidence(at[1]+h).Value() - evidence(at[1]-h).Value()) / (2 * h)
				if !near(got[0], want, 1e-6) {
					t.Errorf("%v: %.10g, differences give %.10g", at, got[0], want)
				}
			}
		})
	}
}
