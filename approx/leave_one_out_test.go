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
)

// leavingEachOut is the sum of the predictions, by GPML (3.60) and (3.61), for each case from the sites of all the others:
// their precisions τ, and their information about f - m.
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
		logZ, _, _ := lik.LogZ(y[i], mean, k.At(i, i)-dot(gain, cross))
		sum += logZ
	}
	return sum
}

// TestLeaveOneOutOfSites holds every method to the sites that its oracle finds.
func TestLeaveOneOutOfSites(t *testing.T) {
	const n = 9
	x, y := twoClasses(n, 21)
	smooth, _, _ := seGram(x, -0.7, 0.8)
	mean := make([]float64, n)
	for i := range mean {
		mean[i] = 0.3 - 0.4*x[i][0]
	}
	for _, p := range pairs(t) {
		caps, err := p.method.Uses(p.lik.Likelihood(), 2)
		if err != nil {
			t.Fatal(err)
		}
		l, ok := p.fit(t, smooth, mean, y, nil).(approx.LeaveOneOuter)
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

// TestLeaveOneOutOfNegativeSites: the noisy threshold leaves sites of negative precision, and online learning keeps them.
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
		f, err := p.fit(t, smooth, nil, y, nil).(approx.LeaveOneOuter).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		if !near(f.Value(), want, 1e-9) {
			t.Errorf("log sf = %v: leave-one-out %.13g, want %.13g", logAmp, f.Value(), want)
		}
	}
}

// TestLeaveOneOutBesideQuietSites: at large amplitudes some sites say next to nothing of widely spread latent values, so that
// neither the posterior variances nor the sites' share of them can be had from the other.
func TestLeaveOneOutBesideQuietSites(t *testing.T) {
	x, y := twoClasses(40, 6)
	mean := make([]float64, len(y))
	for _, p := range []pair{{"probit", approx.Laplace{}, likelihood.Probit{}}, {"logit", approx.Laplace{}, likelihood.Logit{}}} {
		k, _, _ := seGram(x, 0, 5)
		post := p.fit(t, k, mean, y, nil)
		tau, information := make([]float64, len(y)), make([]float64, len(y))
		for i := range y { // a State is a, and then the mode
			f := post.State()[len(y)+i]
			_, g, h, _ := p.lik.(likelihood.Differentiable).Derivs(y[i], f)
			tau[i], information[i] = -h, g-h*f
		}
		if quietest := slices.Min(tau); quietest > 1e-12 {
			t.Errorf("%s: the quietest site has precision %v", p.name, quietest)
		}
		f, err := post.(approx.LeaveOneOuter).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		if want := leavingEachOut(t, k, mean, y, tau, information, p.lik.(likelihood.MomentMatcher)); !near(f.Value(), want, 1e-7) {
			t.Errorf("%s: leave-one-out %.13g, want %.13g", p.name, f.Value(), want)
		}
	}
}

// TestLeaveOneOutAnswers: wherever a fit converges the sum is finite, with finite derivatives or the reason why not.
func TestLeaveOneOutAnswers(t *testing.T) {
	x, y := twoClasses(24, 6)
	x = append(x, x[0], x[0], x[1])
	y = append(y, y[0], -y[0], -y[1])
	for _, p := range pairs(t) {
		t.Run(p.name, func(t *testing.T) {
			for _, logLength := range []float64{-10, 0, 4, 10} {
				for _, logAmp := range []float64{-10, 0, 4, 7, 10} {
					k, _, _ := seGram(x, logLength, logAmp)
					post, err := p.method.Fit(context.Background(), []approx.Cov{{K: p.prior(k)}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil)
					if err != nil || !post.Diagnostics().Converged {
						continue
					}
					l, ok := post.(approx.LeaveOneOuter)
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
