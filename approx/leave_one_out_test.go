package approx_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// leavingEachOut is the leave-one-out sum: by GPML (3.60) and (3.61) it predicts each case from the sites of all
// others, given their precisions τ and their information about f - m.
func leavingEachOut(t *testing.T, k *mat.SymDense, m, y, tau, information []float64, lik likelihood.MomentMatcher) float64 {
	t.Helper()
	n, sum := len(y), 0.0
	for i := range n {
		var rest []int
		for j := range n {
			if j != i {
				rest = append(rest, j)
			}
		}
		b, cross, kInformation := mat.NewDense(n-1, n-1, nil), make([]float64, n-1), make([]float64, n-1)
		for a, j := range rest {
			for c, l := range rest {
				b.Set(a, c, tau[j]*k.At(j, l))
				kInformation[a] += k.At(j, l) * information[l]
			}
			b.Set(a, a, 1+b.At(a, a))
			cross[a] = k.At(i, j)
		}
		reduced := inverse(t, b) // R = (I + S K)⁻¹ S
		gain, mean := make([]float64, n-1), m[i]
		for a := range rest {
			for c, j := range rest {
				gain[c] += cross[a] * reduced.At(a, c) * tau[j]
			}
		}
		for a, j := range rest {
			mean += cross[a]*information[j] - gain[a]*kInformation[a]
		}
		logZ, _ := lik.Moments(y[i], mean, k.At(i, i)-dot(gain, cross))
		sum += logZ
	}
	return sum
}

// TestLeaveOneOutOfSites compares every method with the sum from the sites that its oracle finds.
func TestLeaveOneOutOfSites(t *testing.T) {
	const n = 7
	x, y := twoClasses(n, 21)
	smooth, _, _ := seGram(x, -0.7, 0.8)
	mean := make([]float64, n)
	for i := range mean {
		mean[i] = 0.3 - 0.4*x[i][0]
	}
	for i, p := range formulated(t) {
		if !exhaustive.Tries(2, i) {
			continue
		}
		caps, err := p.method.Uses(p.lik.Likelihood(), 2)
		if err != nil {
			t.Fatal(err)
		}
		l, ok := p.fit(t, smooth, mean, y, nil).(approx.LeaveOneOut)
		if ok != caps.LeaveOneOut {
			t.Fatalf("%s: leave-one-out is said to be there: %v, and is: %v", p.name, caps.LeaveOneOut, ok)
		}
		if !ok {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			k := p.prior(smooth)
			sites, tau, information := p.oracle(t, k, mean, y), make([]float64, n), make([]float64, n)
			for i, v := range sites.variance {
				tau[i], information[i] = 1/v, (sites.mean[i]-mean[i])/v
			}
			want := leavingEachOut(t, k, mean, y, tau, information, p.lik.(likelihood.MomentMatcher))
			f, err := l.LeaveOneOut()
			if err != nil {
				t.Fatal(err)
			}
			if !near(f.Value(), want, 1e-9) {
				t.Errorf("leave-one-out %.13g, want %.13g", f.Value(), want)
			}
		})
	}
}

// TestLeaveOneOutOfNegativeSites: the noisy threshold gives sites of negative precision, and online learning keeps
// them.
func TestLeaveOneOutOfNegativeSites(t *testing.T) {
	const n = 14
	lik := likelihood.NoisyThreshold{}.At([]float64{math.Log(0.1 / 0.9)})
	p := pair{"online/noisy_threshold", approx.Online{}, lik}
	x, y := twoClasses(n, 21)
	for i := range 4 {
		y[i] = -y[i]
	}
	for _, logAmp := range []float64{1.5, 3} {
		smooth, _, _ := seGram(x, 0.3, logAmp)
		k := p.prior(smooth)
		mean := make([]float64, n)
		sites, tau, information := p.oracle(t, k, mean, y), make([]float64, n), make([]float64, n)
		for i, v := range sites.variance {
			tau[i], information[i] = 1/v, sites.mean[i]/v
		}
		if slices.Min(tau) >= 0 {
			t.Errorf("log sf = %v: no site has negative precision", logAmp)
		}
		want := leavingEachOut(t, k, mean, y, tau, information, lik.(likelihood.MomentMatcher))
		f, err := p.fit(t, smooth, nil, y, nil).(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		if !near(f.Value(), want, 1e-9) {
			t.Errorf("log sf = %v: leave-one-out %.13g, want %.13g", logAmp, f.Value(), want)
		}
	}
}

// TestLeaveOneOutBesideQuietSites: at large amplitudes some sites have almost no precision while the posterior
// variances are large. Then neither the posterior variances nor the sites' share of them can be computed from the
// other.
func TestLeaveOneOutBesideQuietSites(t *testing.T) {
	x, y := twoClasses(40, 6)
	mean := make([]float64, len(y))
	for _, p := range []pair{{"probit", approx.Laplace{}, likelihood.Probit{}}, {"logit", approx.Laplace{}, likelihood.Logit{}}} {
		k, _, _ := seGram(x, 0, 5)
		post := p.fit(t, k, mean, y, nil)
		tau, information := make([]float64, len(y)), make([]float64, len(y))
		for i := range y { // a State is a, then the mode
			f := post.State()[len(y)+i]
			_, g, h, _ := p.lik.(likelihood.Differentiable).Derivs(y[i], f)
			tau[i], information[i] = -h, g-h*f
		}
		if quietest := slices.Min(tau); quietest > 1e-12 {
			t.Errorf("%s: the quietest site has precision %v", p.name, quietest)
		}
		f, err := post.(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		if want := leavingEachOut(t, k, mean, y, tau, information, p.lik.(likelihood.MomentMatcher)); !near(f.Value(), want, 1e-7) {
			t.Errorf("%s: leave-one-out %.13g, want %.13g", p.name, f.Value(), want)
		}
	}
}

// TestLeaveOneOutAnswers: wherever a fit converges, the sum is finite, and its derivatives are finite or an error
// says why not.
func TestLeaveOneOutAnswers(t *testing.T) {
	x, y := twoClasses(24, 6)
	x = append(x, x[0], x[0], x[1])
	y = append(y, y[0], -y[0], -y[1])
	for a, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			for i, logLength := range []float64{-10, 0, 4, 10} {
				for j, logAmp := range []float64{-10, 0, 4, 7, 10} {
					if !exhaustive.Tries(3, a, i, j) {
						continue
					}
					k, _, _ := seGram(x, logLength, logAmp)
					post, err := p.method.Fit(context.Background(), []approx.Cov{{K: p.prior(k)}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil)
					if err != nil || !post.Diagnostics().Converged {
						continue
					}
					l, ok := post.(approx.LeaveOneOut)
					if !ok {
						return
					}
					f, err := l.LeaveOneOut()
					if err != nil {
						t.Errorf("log l = %v, log sf = %v: %v", logLength, logAmp, err)
						continue
					}
					if v := f.Value(); !(v < 0) || math.IsInf(v, 0) {
						t.Errorf("log l = %v, log sf = %v: leave-one-out %v", logLength, logAmp, v)
					}
					g := approx.Cov{K: mat.NewSymDense(len(y), nil), Mean: make([]float64, len(y))}
					if err := f.Adjoint(&g, 0); err != nil {
						if !errors.Is(err, approx.ErrNoGradient) {
							t.Errorf("log l = %v, log sf = %v: %v", logLength, logAmp, err)
						}
						continue
					}
					for _, v := range append(g.K.RawSymmetric().Data, g.Mean...) {
						if math.IsNaN(v) || math.IsInf(v, 0) {
							t.Fatalf("log l = %v, log sf = %v: adjoint holds %v", logLength, logAmp, v)
						}
					}
				}
			}
		})
	}
}

// TestLeaveOneOutByRefits: on the crabs, the mean log probability from the cavities of one fit
// agrees to 0.02 nats with the mean from 200 fits that leave out one case each.
func TestLeaveOneOutByRefits(t *testing.T) {
	x, y := crabs(t)
	n := len(y)
	for _, logAmp := range []float64{math.Log(12), math.Log(5)}[:exhaustive.Of(1, 2)] {
		p := pair{"ep", approx.EP{}, likelihood.Probit{}}
		k, _, _ := seGram(x, 0.5, logAmp)
		full := p.fit(t, k, nil, y, nil)
		f, err := full.(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		refit := pair{"ep", approx.EP{Iteration: approx.Iteration{Tolerance: 1e-4}}, p.lik}
		sum := 0.0
		for i := range n {
			rest := mat.NewSymDense(n-1, nil)
			labels, state := slices.Delete(slices.Clone(y), i, i+1), slices.Delete(slices.Delete(slices.Clone(full.State()), n+i, n+i+1), i, i+1)
			cross := mat.NewDense(n-1, 1, nil)
			for a := range n - 1 {
				j := a
				if a >= i {
					j++
				}
				cross.Set(a, 0, k.At(j, i))
				for b := a; b < n-1; b++ {
					l := b
					if b >= i {
						l++
					}
					rest.SetSym(a, b, k.At(j, l))
				}
			}
			proba := mat.NewDense(1, 2, nil)
			refit.fit(t, rest, nil, labels, state).PredictProba(proba, []*mat.Dense{cross}, [][]float64{{k.At(i, i)}}, nil)
			sum += math.Log(proba.At(0, int(1+y[i])/2))
		}
		got, want := f.Value()/float64(n), sum/float64(n)
		t.Logf("amplitude %.3g: mean log probability %.5f from one fit, %.5f from %d fits", math.Exp(logAmp), got, want, n)
		if !(math.Abs(got-want) < 0.02) {
			t.Errorf("amplitude %.3g: mean log probability %v from one fit, %v from %d fits", math.Exp(logAmp), got, want, n)
		}
	}
}

// TestCavityIgnoresItsSite: the cavity of a case does not depend on its own site (GPML exercise 3.10.5). Marginals
// and the cavities of other cases do change with the site.
func TestCavityIgnoresItsSite(t *testing.T) {
	const n = 12
	x, y := twoClasses(n, 61)
	k, _, _ := seGram(x, 0, 1)
	p := pair{"ep", approx.EP{}, likelihood.Probit{}}
	cavities := func(state approx.State) (mean, variance, marginal []float64) {
		post, err := p.method.Restore([]approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, p.lik, state)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, marginal = make([]float64, n), make([]float64, n), make([]float64, n)
		post.Latent(mean, marginal, mat.DenseCopyOf(k), diagonal(k), 0)
		for i, v := range marginal {
			variance[i] = 1 / (1/v - state[i])
			mean[i] = variance[i] * (mean[i]/v - state[n+i])
		}
		return mean, variance, marginal
	}
	state := p.fit(t, k, nil, y, nil).State()
	mean, variance, marginal := cavities(state)
	for i := range n {
		for _, factor := range []float64{0, 0.3, 5} {
			moved := slices.Clone(state)
			moved[i] *= factor
			moved[n+i] = factor*moved[n+i] - 0.7
			m, v, all := cavities(moved)
			if !near(m[i], mean[i], 1e-10) || !near(v[i], variance[i], 1e-10) {
				t.Errorf("case %d, site times %v: cavity N(%v, %v), want N(%v, %v)", i, factor, m[i], v[i], mean[i], variance[i])
			}
			other := (i + 1) % n
			if near(all[i], marginal[i], 1e-3) || m[other] == mean[other] {
				t.Errorf("case %d, site times %v: marginal variance %v and the other's cavity mean %v did not move", i, factor, all[i], m[other])
			}
		}
	}
}
