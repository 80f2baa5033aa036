package approx_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// fit fits and requires convergence.
func (p pair) fit(t testing.TB, k *mat.SymDense, mean, y []float64, start approx.State) approx.Posterior {
	t.Helper()
	post, err := p.method.Fit(context.Background(), []approx.Cov{{K: p.prior(k), Mean: mean}}, approx.Targets{Classes: 2, Value: y}, p.lik, start)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post
}

func (p pair) adjoint(t testing.TB, post approx.Posterior, n int) approx.Cov {
	t.Helper()
	dst := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
	if err := post.Evidence().Adjoint(&dst, 0); err != nil {
		t.Fatal(err)
	}
	return dst
}

// TestAdjointThroughKernel holds the adjoint to central differences of the evidence over the hyperparameters of a squared
// exponential, from where the prior says nothing to where it says everything.
func TestAdjointThroughKernel(t *testing.T) {
	const h = 2e-5
	x, y := twoClasses(25, 2)
	grid := []float64{-5, -2.5, 0, 2.5, 5}
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			for _, logLength := range grid {
				for _, logAmp := range grid {
					value := func(dl, da float64) float64 {
						k, _, _ := seGram(x, logLength+dl, logAmp+da)
						return p.fit(t, k, nil, y, nil).Evidence().Value()
					}
					k, byLength, byAmp := seGram(x, logLength, logAmp)
					post := p.fit(t, k, nil, y, nil)
					g := p.adjoint(t, post, len(y))
					got := []float64{along(g.K, byLength), along(g.K, byAmp)}
					want := []float64{(value(h, 0) - value(-h, 0)) / (2 * h), (value(0, h) - value(0, -h)) / (2 * h)}
					scale := max(1, math.Abs(want[0]), math.Abs(want[1]), math.Abs(post.Evidence().Value()))
					for i := range got {
						if !(math.Abs(got[i]-want[i]) <= 1e-6*scale) {
							t.Errorf("log l = %v, log sf = %v: gradient[%d] = %.10g, differences give %.10g", logLength, logAmp, i, got[i], want[i])
						}
					}
				}
			}
		})
	}
}

// TestAdjointOfEntries holds the adjoint to central differences along random directions of K and of the prior mean.
func TestAdjointOfEntries(t *testing.T) {
	const n, h = 15, 2e-5
	x, y := twoClasses(n, 3)
	rng := rand.New(rand.NewPCG(3, 0))
	for _, p := range pairs(t) {
		for _, logAmp := range []float64{-3, 0, 1.5} {
			t.Run(fmt.Sprintf("%s/%v", p.name, logAmp), func(t *testing.T) {
				k, _, _ := seGram(x, 0, logAmp)
				scale := math.Exp(2 * logAmp)
				mean := make([]float64, n)
				for i := range n {
					k.SetSym(i, i, k.At(i, i)+scale) // so that K + hE stays positive definite
					mean[i] = rng.NormFloat64()
				}
				g := p.adjoint(t, p.fit(t, k, mean, y, nil), n)
				for range 4 {
					e, em := mat.NewSymDense(n, nil), make([]float64, n)
					want := 0.0
					for i := range n {
						em[i] = rng.NormFloat64()
						want += g.Mean[i] * em[i]
						for j := i; j < n; j++ {
							e.SetSym(i, j, scale*rng.NormFloat64())
						}
					}
					want += along(g.K, e)
					value := func(h float64) float64 {
						kh, mh := mat.NewSymDense(n, nil), make([]float64, n)
						for i := range n {
							mh[i] = mean[i] + h*em[i]
							for j := i; j < n; j++ {
								kh.SetSym(i, j, k.At(i, j)+h*e.At(i, j))
							}
						}
						return p.fit(t, kh, mh, y, nil).Evidence().Value()
					}
					if got := (value(h) - value(-h)) / (2 * h); !near(got, want, 1e-6) {
						t.Errorf("differences give %.10g, the adjoint %.10g", got, want)
					}
				}
			})
		}
	}
}

// TestLeaveOneOutAdjoint holds it to differences over hyperparameters and the prior mean.
func TestLeaveOneOutAdjoint(t *testing.T) {
	const n, h = 25, 1e-4
	x, y := twoClasses(n, 16)
	direction, mean := make([]float64, n), make([]float64, n)
	for i := range n {
		direction[i], mean[i] = x[i][0], 0.2*x[i][1]
	}
	for _, p := range pairs(t) {
		if caps, err := p.method.Uses(p.lik.Likelihood(), 2); err != nil || !caps.LeaveOneOutGradient {
			continue
		}
		switch p.method.(type) { // the sum is not stationary in the sites: differences see what the tolerance leaves
		case approx.EP:
			p.method = approx.EP{Tolerance: 1e-13}
		case approx.PL:
			p.method = approx.PL{Tolerance: 1e-13}
		}
		t.Run(p.name, func(t *testing.T) {
			for _, theta := range [][2]float64{{-2, 0}, {0, -3}, {0, 0}, {0.5, 1.5}, {1, 4}, {4, 1}, {5, 5}} {
				leaveOneOut := func(dl, da, dm float64) approx.Functional {
					k, _, _ := seGram(x, theta[0]+dl, theta[1]+da)
					m := make([]float64, n)
					for i := range n {
						m[i] = mean[i] + dm*direction[i]
					}
					f, err := p.fit(t, k, m, y, nil).(approx.LeaveOneOuter).LeaveOneOut()
					if err != nil {
						t.Fatal(err)
					}
					return f
				}
				_, byLength, byAmp := seGram(x, theta[0], theta[1])
				f := leaveOneOut(0, 0, 0)
				g := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
				if err := f.Adjoint(&g, 0); err != nil {
					t.Fatal(err)
				}
				got := []float64{along(g.K, byLength), along(g.K, byAmp), dot(g.Mean, direction)}
				scale := max(1, math.Abs(f.Value()))
				for i, want := range []float64{
					(leaveOneOut(h, 0, 0).Value() - leaveOneOut(-h, 0, 0).Value()) / (2 * h),
					(leaveOneOut(0, h, 0).Value() - leaveOneOut(0, -h, 0).Value()) / (2 * h),
					(leaveOneOut(0, 0, h).Value() - leaveOneOut(0, 0, -h).Value()) / (2 * h),
				} {
					if !(math.Abs(got[i]-want) <= 1e-6*max(scale, math.Abs(want))) {
						t.Errorf("log l, log sf = %v: gradient[%d] = %.10g, differences give %.10g", theta, i, got[i], want)
					}
				}
			}
		})
	}
}

// TestInvariance: the order of the cases and the names of the classes do not matter.
func TestInvariance(t *testing.T) {
	const n = 60
	x, y := twoClasses(n, 4)
	k, _, _ := seGram(x, 0.3, 1.5)
	permutation := rand.New(rand.NewPCG(4, 0)).Perm(n)
	px, py, flipped := make([][]float64, n), make([]float64, n), make([]float64, n)
	for i, j := range permutation {
		px[i], py[i], flipped[i] = x[j], y[j], -y[i]
	}
	pk, _, _ := seGram(px, 0.3, 1.5)
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			want := p.fit(t, k, nil, y, nil).Evidence().Value()
			got := p.fit(t, pk, nil, py, nil).Evidence().Value()
			if _, ok := p.method.(approx.Online); near(got, want, 1e-10) == ok { // whose order is part of the method
				t.Errorf("permuted: %.14g, want %.14g", got, want)
			}
			for i := range flipped {
				flipped[i] = -y[i]
			}
			if got := p.fit(t, k, nil, flipped, nil).Evidence().Value(); !near(got, want, 1e-10) {
				t.Errorf("flipped labels: %.14g, want %.14g", got, want)
			}
		})
	}
}

// TestWarmStart: the state of a neighbour saves iterations and does not change the result; the state of the fit itself
// restores it bit for bit.
func TestWarmStart(t *testing.T) {
	x, y := twoClasses(80, 5)
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			var cold, warm int
			for _, theta := range [][2]float64{{0, 0}, {0.5, 2}, {1, 3}, {-1, 4}} {
				near1, _, _ := seGram(x, theta[0]+0.05, theta[1]-0.05)
				k, byLength, byAmp := seGram(x, theta[0], theta[1])
				start := p.fit(t, near1, nil, y, nil).State()
				kept := slices.Clone(start)
				a, b := p.fit(t, k, nil, y, nil), p.fit(t, k, nil, y, start)
				if !slices.Equal(start, kept) {
					t.Error("Fit wrote to its start")
				}
				cold, warm = cold+a.Diagnostics().Iterations, warm+b.Diagnostics().Iterations
				if got, want := b.Evidence().Value(), a.Evidence().Value(); !near(got, want, 1e-9) {
					t.Errorf("%v: warm %.13g, cold %.13g", theta, got, want)
				}
				ga, gb := p.adjoint(t, a, len(y)), p.adjoint(t, b, len(y))
				for _, e := range []*mat.SymDense{byLength, byAmp} {
					if got, want := along(gb.K, e), along(ga.K, e); !near(got, want, 1e-8) {
						t.Errorf("%v: warm gradient %.13g, cold %.13g", theta, got, want)
					}
				}

				r, err := p.method.Restore([]approx.Cov{{K: p.prior(k)}}, approx.Targets{Classes: 2, Value: y}, p.lik, a.State())
				if err != nil {
					t.Fatal(err)
				}
				if r.Evidence().Value() != a.Evidence().Value() || !slices.Equal(r.State(), a.State()) || !r.Diagnostics().Converged {
					t.Errorf("%v: restored %v %+v, fitted %v", theta, r.Evidence().Value(), r.Diagnostics(), a.Evidence().Value())
				}
				if gr := p.adjoint(t, r, len(y)); !mat.Equal(gr.K, ga.K) || !slices.Equal(gr.Mean, ga.Mean) {
					t.Errorf("%v: restored adjoint differs", theta)
				}
				if !mat.Equal(predict(r, k, nil), predict(a, k, nil)) {
					t.Errorf("%v: restored predictions differ", theta)
				}
			}
			if _, ok := p.method.(approx.Online); warm >= cold && !ok { // which makes one pass, from no state
				t.Errorf("%d iterations from a neighbour's state, %d without", warm, cold)
			}
			t.Log(cold, warm)
		})
	}
}

// predict gives the class probabilities at the training inputs.
func predict(post approx.Posterior, k *mat.SymDense, mean []float64) *mat.Dense {
	n := k.SymmetricDim()
	diag := make([]float64, n)
	for i := range diag {
		diag[i] = k.At(i, i)
	}
	var means [][]float64
	if mean != nil {
		means = [][]float64{mean}
	}
	dst := mat.NewDense(n, 2, nil)
	post.PredictProba(dst, []*mat.Dense{mat.DenseCopyOf(k)}, [][]float64{diag}, means)
	return dst
}

// TestAlwaysAnswers: for log-concave likelihoods there is a finite answer over the whole range of hyperparameters,
// with any labels and with repeated cases.
func TestAlwaysAnswers(t *testing.T) {
	x, y := twoClasses(24, 6)
	x = append(x, x[0], x[0], x[1]) // the same case again, with the same label and with the other
	y = append(y, y[0], -y[0], -y[1])
	one := make([]float64, len(y))
	for i := range one {
		one[i] = 1
	}
	steps := []float64{-10, -4, 0, 4, 7, 10}
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			for name, c := range map[string]struct {
				x [][]float64
				y []float64
			}{"both": {x, y}, "one class": {x, one}, "one case": {x[:1], y[:1]}, "two cases": {x[:2], []float64{-1, 1}}, "contradiction": {[][]float64{x[0], x[0]}, []float64{-1, 1}}} {
				for _, logLength := range steps {
					for _, logAmp := range steps {
						k, _, _ := seGram(c.x, logLength, logAmp)
						post := p.fit(t, k, nil, c.y, nil)
						v := post.Evidence().Value()
						if !(v < 0) || math.IsInf(v, 0) {
							t.Errorf("%s: log l = %v, log sf = %v: log evidence %v", name, logLength, logAmp, v)
						}
						for _, g := range p.adjoint(t, post, len(c.y)).K.RawSymmetric().Data {
							if math.IsNaN(g) || math.IsInf(g, 0) {
								t.Fatalf("%s: log l = %v, log sf = %v: adjoint holds %v", name, logLength, logAmp, g)
							}
						}
						prob := predict(post, k, nil)
						for i := range c.y {
							lo, hi := prob.At(i, 0), prob.At(i, 1)
							if !(lo >= 0 && hi >= 0 && math.Abs(lo+hi-1) <= 1e-15) {
								t.Errorf("%s: log l = %v, log sf = %v: probabilities %v and %v", name, logLength, logAmp, lo, hi)
							}
						}
					}
				}
			}
		})
	}
}

// TestBadCovariance: what hyperparameters can do to K is an error, and never a hang.
func TestBadCovariance(t *testing.T) {
	x, y := twoClasses(5, 7)
	for _, p := range pairs(t) {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e6} {
			k, _, _ := seGram(x, 0, 0)
			k.SetSym(2, 2, bad)
			_, err := p.method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil)
			if !errors.Is(err, approx.ErrNotPositiveDefinite) {
				t.Errorf("%s: K[2,2] = %v: error %v", p.name, bad, err)
			}
		}
		// An indefinite K may escape notice where the sites do not look; the largest variances may overflow.
		indefinite, _, _ := seGram(x, 0, 0)
		indefinite.SetSym(1, 3, 1e4)
		huge, _, _ := seGram(x, 0, 354)
		for _, k := range []*mat.SymDense{indefinite, huge} {
			post, err := p.method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil)
			if err == nil && (math.IsNaN(post.Evidence().Value()) || math.IsInf(post.Evidence().Value(), 0)) {
				t.Errorf("%s: log evidence %v without an error", p.name, post.Evidence().Value())
			}
			if _, ok := p.method.(approx.Laplace); ok && k == indefinite && !errors.Is(err, approx.ErrNotPositiveDefinite) {
				t.Errorf("%s: indefinite K: error %v", p.name, err)
			}
		}
		k, _, _ := seGram(x, 0, 0)
		mean := []float64{0, math.NaN(), 0, 0, 0}
		if _, err := p.method.Fit(context.Background(), []approx.Cov{{K: k, Mean: mean}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil); err == nil {
			t.Errorf("%s: a NaN in the mean is no error", p.name)
		}
	}
}

// TestStops: cancellation, too few iterations and bad states are reported.
func TestStops(t *testing.T) {
	const n = 40
	x, y := twoClasses(n, 8)
	k, _, _ := seGram(x, 0, 3)
	cov, targets := []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, p := range pairs(t) {
		if _, err := p.method.Fit(cancelled, cov, targets, p.lik, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled fit: error %v", p.name, err)
		}
		good := p.fit(t, k, nil, y, nil).State()
		wrong := []approx.State{append(slices.Clone(good), 1)}
		if n := len(good); n > 0 {
			wrong = append(wrong, append(slices.Clone(good[1:]), math.NaN()))
		}
		for _, bad := range wrong {
			if _, err := p.method.Restore(cov, targets, p.lik, bad); err == nil {
				t.Errorf("%s: restored a state of %d numbers ending in %v", p.name, len(bad), bad[len(bad)-1])
			}
			if _, err := p.method.Fit(context.Background(), cov, targets, p.lik, bad); err == nil {
				t.Errorf("%s: started from a state of %d numbers ending in %v", p.name, len(bad), bad[len(bad)-1])
			}
		}
	}
	negative := make(approx.State, 2*n)
	negative[3] = -0.1
	for _, method := range []approx.Approximation{approx.EP{}, approx.PL{}} {
		if _, err := method.Restore(cov, targets, likelihood.Probit{}, negative); err == nil {
			t.Errorf("%T restored a negative site precision", method)
		}
	}
	for _, short := range []approx.Approximation{
		approx.Laplace{MaxIterations: 2}, approx.EP{MaxIterations: 2}, approx.PL{MaxIterations: 2},
		approx.EnsembleMeanField{MaxIterations: 2}, approx.NaiveMeanField{MaxIterations: 2}, approx.Variational{MaxIterations: 2},
	} {
		post, err := short.Fit(context.Background(), cov, targets, likelihood.Probit{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := post.Diagnostics()
		if d.Converged || d.Iterations != 2 || math.IsNaN(post.Evidence().Value()) {
			t.Errorf("%T: %+v after 2 iterations", short, d)
		}
		dst := approx.Cov{K: mat.NewSymDense(n, nil)}
		if err := post.Evidence().Adjoint(&dst, 0); !errors.Is(err, approx.ErrNotConverged) {
			t.Errorf("%T: adjoint of an unfinished fit: error %v", short, err)
		}
		if l, ok := post.(approx.LeaveOneOuter); ok {
			if _, err := l.LeaveOneOut(); !errors.Is(err, approx.ErrNotConverged) {
				t.Errorf("%T: leave-one-out of an unfinished fit: error %v", short, err)
			}
		}
	}
}

// TestBeyondDoublePrecision: where the prior variance drowns the posterior in rounding, the fit ends soon and says so.
func TestBeyondDoublePrecision(t *testing.T) {
	x, y := twoClasses(60, 13)
	k, _, _ := seGram(x, 3, 15)
	for _, p := range pairs(t) {
		if p.fickle() {
			continue // floors leave little of it
		}
		post, err := p.method.Fit(context.Background(), []approx.Cov{{K: p.prior(k)}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil)
		if errors.Is(err, approx.ErrNotPositiveDefinite) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		d := post.Diagnostics()
		if _, ok := p.method.(approx.Online); ok && d.Converged { // no case met a small variance
			exact := zeros(len(y))
			for i := range exact {
				for j := range exact {
					exact[i][j] = number(p.prior(k).At(i, j))
				}
			}
			if want := p.extended(t, exact, y, nil).logEvidence; !near(post.Evidence().Value(), want, 1e-7) {
				t.Errorf("%s: log evidence %v, want %v", p.name, post.Evidence().Value(), want)
			}
			continue
		}
		if d.Jitter > 0 && d.Converged && len(d.Warnings) > 0 {
			continue // it is another model's answer, and says so
		}
		if d.Converged || d.Iterations > 50 || math.IsNaN(post.Evidence().Value()) {
			t.Errorf("%s: %+v, log evidence %v", p.name, d, post.Evidence().Value())
		}
		if err := post.Evidence().Adjoint(&approx.Cov{K: mat.NewSymDense(60, nil)}, 0); !errors.Is(err, approx.ErrNotConverged) {
			t.Errorf("%s: adjoint: error %v", p.name, err)
		}
	}
}

// TestRefusals: what a method cannot do is said when a plan is checked, with a way out.
func TestRefusals(t *testing.T) {
	for _, m := range approx.Table {
		method, err := m.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, classes := range []int{0, 3} {
			if _, err := method.Uses(likelihood.Probit{}, classes); err == nil {
				t.Errorf("%s takes %d classes", m.Name, classes)
			}
		}
	}
	for _, bad := range []approx.Approximation{
		approx.Laplace{Tolerance: -1}, approx.Laplace{MaxIterations: -1}, approx.EP{Tolerance: math.NaN()}, approx.EP{MaxIterations: -1},
		approx.EP{Damping: 1.5}, approx.EP{Damping: -0.1}, approx.PL{Damping: 2}, approx.PL{Tolerance: -1}, approx.PL{MaxIterations: -1},
		approx.EP{Quadrature: approx.Quadrature{Order: 101}}, approx.PL{Evidence: approx.PosteriorForm, Quadrature: approx.Quadrature{Order: -1}},
		approx.EnsembleMeanField{Tolerance: 2}, approx.NaiveMeanField{MaxIterations: -1}, approx.Variational{MaxIterations: -1},
	} {
		if _, err := bad.Uses(likelihood.Probit{}, 2); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	for _, bad := range []approx.Approximation{approx.EP{Quadrature: approx.Quadrature{Order: 1}}, approx.PL{Quadrature: approx.Quadrature{Order: 1}}} {
		if _, err := bad.Uses(likelihood.Logit{}, 2); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	var s approx.Schedule
	if s.UnmarshalText([]byte("parallel")) != nil || s != approx.Parallel || s.UnmarshalText([]byte("zigzag")) == nil {
		t.Error("schedule names")
	}
	var e approx.EvidenceForm
	if e.UnmarshalText([]byte("posterior")) != nil || e != approx.PosteriorForm || e.UnmarshalText([]byte("exact")) == nil {
		t.Error("evidence names")
	}
	var n approx.NegativeSites
	if n.UnmarshalText([]byte("error")) != nil || n != approx.RefuseNegative || n.UnmarshalText([]byte("floor")) != nil || n != approx.FloorNegative || n.UnmarshalText([]byte("")) == nil {
		t.Error("negative_sites names")
	}
}

// What the table has as defaults is what zero stands for.
func TestDefaultsAreThoseOfZero(t *testing.T) {
	x, y := twoClasses(12, 5)
	k, _, _ := seGram(x, 0, 1)
	for _, p := range pairs(t) {
		zero := pair{p.name, reflect.Zero(reflect.TypeOf(p.method)).Interface().(approx.Approximation), p.lik}
		if size := (approx.Size{Cases: 9, Distinct: 9, New: 4, Classes: 3}); p.method.Memory(size) != zero.method.Memory(size) {
			t.Errorf("%s takes other memory than by default", p.name)
		}
		a, b := p.fit(t, k, nil, y, nil), zero.fit(t, k, nil, y, nil)
		if !slices.Equal(a.State(), b.State()) || !reflect.DeepEqual(a.Diagnostics(), b.Diagnostics()) {
			t.Errorf("%s: %+v, %v, by default %+v, %v", p.name, b.Diagnostics(), b.State(), a.Diagnostics(), a.State())
		}
	}
}
