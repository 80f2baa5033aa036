package approx_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// shuffled is the order in which Online visits the cases by default.
func shuffled(n int) []int { return rand.New(rand.NewPCG(0, 0)).Perm(n) }

// oracleOnline includes one case after the other by Bayes' rule for its site, [MF 10-12] with explicit matrices.
func oracleOnline(t *testing.T, k *mat.SymDense, m, y []float64, lik likelihood.MomentMatcher, sweeps int) gaussianSites {
	n := len(y)
	s := gaussianSites{variance: make([]float64, n), mean: make([]float64, n)}
	tau, nu := make([]float64, n), make([]float64, n)
	sigma, mu := mat.DenseCopyOf(k), append([]float64(nil), m...)
	for sweep := range sweeps {
		for _, i := range shuffled(n) {
			mean, v := mu[i], sigma.At(i, i)
			logZ, d1, d2 := matched(lik, y[i], mean, v)
			if sweep == 0 {
				s.logEvidence += logZ
			}
			tiltedMean, tiltedVariance := mean+v*d1, v+v*v*d2
			site := 1/tiltedVariance - 1/v
			tau[i] += site
			nu[i] += tiltedMean/tiltedVariance - mean/v
			column := mat.Col(nil, i, sigma)
			for a := range n {
				mu[a] += column[a] / v * (tiltedMean - mean)
				for b := range n {
					sigma.Set(a, b, sigma.At(a, b)-column[a]*column[b]*site/(1+site*v))
				}
			}
		}
	}
	for i := range n {
		s.variance[i], s.mean[i] = 1/tau[i], nu[i]/tau[i]
	}
	return s
}

// extendedOnline computes the updates in extended precision, with their derivatives along e in forward mode.
func extendedOnline(k matrix, y []float64, lik likelihood.MomentMatcher) extended {
	n := len(y)
	// follow returns the log evidence and its slope along e.
	follow := func(e *mat.SymDense) (value float64, slope *big.Float) {
		sigma, dSigma := zeros(n), zeros(n)
		mu, dMu := vectorOf(make([]float64, n)), vectorOf(make([]float64, n))
		for i := range n {
			for j := range n {
				sigma[i][j].Set(k[i][j])
				dSigma[i][j].SetFloat64(e.At(i, j))
			}
		}
		slope = number(0)
		half := number(0.5)
		for _, i := range shuffled(n) {
			mean, v := float(mu[i]), float(sigma[i][i])
			logZ, l1, l2 := matched(lik, y[i], mean, v)
			_, l := lik.Moments(y[i], mean, v)
			l3, l4 := l[2], l[3]
			value += logZ
			d1, d2, d3, d4 := number(l1), number(l2), number(l3), number(l4)
			dm, dv := number(0).Set(dMu[i]), mul(half, dSigma[i][i])
			// By the heat equation, ∂log Z/∂v = ½ (d2 + d1²); the derivatives of this with respect to the mean
			// follow.
			slope.Add(slope, add(mul(d1, dm), mul(dv, add(d2, mul(d1, d1)))))
			change1 := add(mul(d2, dm), mul(dv, add(d3, mul(number(2*l1), d2))))
			change2 := add(mul(d3, dm), mul(dv, add(d4, mul(number(2), add(mul(d2, d2), mul(d1, d3))))))
			s, ds := make(vector, n), make(vector, n)
			for a := range n {
				s[a], ds[a] = number(0).Set(sigma[a][i]), number(0).Set(dSigma[a][i])
			}
			for a := range n {
				mu[a] = add(mu[a], mul(d1, s[a]))
				dMu[a] = add(dMu[a], add(mul(change1, s[a]), mul(d1, ds[a])))
				for b := range n {
					sigma[a][b] = add(sigma[a][b], mul(d2, mul(s[a], s[b])))
					change := add(mul(change2, mul(s[a], s[b])), mul(d2, add(mul(ds[a], s[b]), mul(s[a], ds[b]))))
					dSigma[a][b] = add(dSigma[a][b], change)
				}
			}
		}
		return value, slope
	}
	value, _ := follow(mat.NewSymDense(n, nil))
	return extended{logEvidence: value, along: func(e *mat.SymDense) float64 {
		_, slope := follow(e)
		return float(slope)
	}}
}

// TestOnlineBlocks: with several blocks, and in a second sweep, the updates agree with the
// oracle's.
func TestOnlineBlocks(t *testing.T) {
	const n = 75
	x, y := twoClasses(n, 40)
	k, _, _ := seGram(x, 0.2, 1)
	mean := make([]float64, n)
	for i := range mean {
		mean[i] = 0.2 * x[i][0]
	}
	diag := make([]float64, n)
	for i := range diag {
		diag[i] = k.At(i, i)
	}
	for sweeps := 1; sweeps <= 3; sweeps++ {
		post := pair{"online", approx.Online{Sweeps: sweeps}, likelihood.Logit{}}.fit(t, k, mean, y, nil)
		want := oracleOnline(t, k, mean, y, likelihood.Logit{}, sweeps)
		if got := post.Evidence().Value(); sweeps == 1 && !near(got, want.logEvidence, 1e-11) {
			t.Errorf("log evidence %.14g, want %.14g", got, want.logEvidence)
		}
		latent, variance := make([]float64, n), make([]float64, n)
		post.Latent(latent, variance, mat.DenseCopyOf(k), diag, 0)
		c := inverse(t, plusDiag(k, want.variance))
		off := make([]float64, n)
		for i := range off {
			off[i] = want.mean[i] - mean[i]
		}
		for i := range n {
			column := mat.Col(nil, i, k)
			if wantMean, wantVariance := dot(column, product(c, off)), diag[i]-dot(column, product(c, column)); !near(latent[i], wantMean, 1e-9) || !near(variance[i], wantVariance, 1e-9) {
				t.Errorf("%d sweeps: latent %d: N(%.12g, %.12g), want N(%.12g, %.12g)", sweeps, i, latent[i], variance[i], wantMean, wantVariance)
			}
		}
	}
}

// TestOnlineSeen: with Seen = s ≤ n the posterior equals the posterior of the first s cases alone;
// a larger Seen continues with further sweeps.
func TestOnlineSeen(t *testing.T) {
	const n = 70
	x, y := twoClasses(n, 42)
	k, _, _ := seGram(x, 0.3, 1.5)
	diag := make([]float64, n)
	for i := range diag {
		diag[i] = k.At(i, i)
	}
	unchanged := approx.OrderSeed{Unchanged: true}
	latents := func(method approx.Online, cases int) (mean, variance []float64) {
		p := pair{"online", method, likelihood.Probit{}}.fit(t, k.SliceSym(0, cases).(*mat.SymDense), nil, y[:cases], nil)
		mean, variance = make([]float64, n), make([]float64, n)
		p.Latent(mean, variance, mat.DenseCopyOf(mat.DenseCopyOf(k).Slice(0, cases, 0, n)), diag, 0)
		return mean, variance
	}
	for _, seen := range []int{1, 63, 64, 65, 69, 70} {
		mean, variance := latents(approx.Online{OrderSeed: unchanged, Seen: seen}, n)
		wantMean, wantVariance := latents(approx.Online{OrderSeed: unchanged}, seen)
		for i := range mean {
			if !near(mean[i], wantMean[i], 1e-9) || !near(variance[i], wantVariance[i], 1e-9) {
				t.Fatalf("%d cases: latent %d: N(%.12g, %.12g), want N(%.12g, %.12g)", seen, i, mean[i], variance[i], wantMean[i], wantVariance[i])
			}
		}
	}
	once, _ := latents(approx.Online{OrderSeed: unchanged}, n)
	twice, _ := latents(approx.Online{OrderSeed: unchanged, Sweeps: 2}, n)
	late, _ := latents(approx.Online{OrderSeed: unchanged, Seen: 2 * n}, n)
	early, _ := latents(approx.Online{OrderSeed: unchanged, Seen: n + 1}, n)
	for i := range once {
		if late[i] != twice[i] {
			t.Fatalf("latent %d: a whole second sweep gives %g, want %g", i, late[i], twice[i])
		}
	}
	if d := math.Abs(early[n-1] - once[n-1]); d == 0 || d > math.Abs(twice[n-1]-once[n-1]) {
		t.Errorf("one case more moves the last mean by %g, all of them from %g to %g", d, once[n-1], twice[n-1])
	}
	if caps, err := (approx.Online{Seen: 3}).Uses(likelihood.Probit{}, 2); err != nil || !caps.NoEvidence || caps.Gradient {
		t.Errorf("%+v, error %v", caps, err)
	}
	for _, wrong := range []approx.Online{{Seen: -1}, {Seen: 3, Sweeps: 2}} {
		if _, err := wrong.Uses(likelihood.Probit{}, 2); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}

// TestOnlineHasNoEvidenceAfterSeveralSweeps: the capabilities before the fit and the posterior after it say so.
func TestOnlineHasNoEvidenceAfterSeveralSweeps(t *testing.T) {
	method := approx.Online{Sweeps: 2}
	if caps, err := method.Uses(likelihood.Probit{}, 2); err != nil || !caps.NoEvidence || caps.Gradient {
		t.Errorf("%+v, error %v", caps, err)
	}
	f := pair{"online", method, likelihood.Probit{}}.fit(t, mat.NewSymDense(1, []float64{1}), nil, []float64{1}, nil).Evidence()
	if err := f.Adjoint(&approx.Cov{K: mat.NewSymDense(1, nil)}, 0); !math.IsNaN(f.Value()) || !errors.Is(err, approx.ErrNoEvidence) {
		t.Errorf("log evidence %v, adjoint: error %v", f.Value(), err)
	}
	if err := f.Likelihood(nil); !errors.Is(err, approx.ErrNoEvidence) {
		t.Errorf("gradient over the likelihood's parameters: error %v", err)
	}
	if _, err := (approx.Online{Sweeps: -1}).Uses(likelihood.Probit{}, 2); err == nil {
		t.Error("sweeps: -1 is accepted")
	}
}

// TestOnlineOrder: the seed determines the order, and "none" keeps the order of the data.
func TestOnlineOrder(t *testing.T) {
	const n = 20
	x, y := twoClasses(n, 41)
	value := func(seed string, x [][]float64, y []float64) float64 {
		var o approx.OrderSeed
		if err := o.UnmarshalText([]byte(seed)); err != nil {
			t.Fatal(err)
		}
		k, _, _ := seGram(x, 0, 1)
		return pair{"online", approx.Online{OrderSeed: o}, likelihood.Probit{}}.fit(t, k, nil, y, nil).Evidence().Value()
	}
	px, py := make([][]float64, n), make([]float64, n)
	for t, i := range shuffled(n) {
		px[t], py[t] = x[i], y[i]
	}
	k, _, _ := seGram(x, 0, 1)
	byDefault := pair{"online", approx.Online{}, likelihood.Probit{}}.fit(t, k, nil, y, nil).Evidence().Value()
	if a, b := value("0", x, y), value("none", px, py); a != byDefault || !near(a, b, 1e-12) {
		t.Errorf("default %v, seed 0 %v, its order without a seed %v", byDefault, a, b)
	}
	if a, b := value("1", x, y), value("none", x, y); near(a, byDefault, 1e-6) || near(b, byDefault, 1e-6) || near(a, b, 1e-6) {
		t.Errorf("seed 0 %v, seed 1 %v, none %v", byDefault, a, b)
	}
	for _, bad := range []string{"", "-1", "1.5", "None", "18446744073709551616"} {
		var o approx.OrderSeed
		if err := o.UnmarshalText([]byte(bad)); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("order_seed %q: error %v", bad, err)
		}
	}
}

// TestOnlineIsExactForOneCase, and for cases that are independent a priori.
func TestOnlineIsExactForOneCase(t *testing.T) {
	for _, l := range []likelihood.MomentMatcher{likelihood.Probit{}, likelihood.Logit{}, likelihood.Step{}} {
		k, mean, y, want := mat.NewSymDense(3, nil), []float64{-20, 0, 0.3}, []float64{1, -1, 1}, 0.0
		for i := range 3 {
			k.SetSym(i, i, math.Pow(10, float64(3*i)))
			logZ, _ := l.Moments(y[i], mean[i], k.At(i, i))
			want += logZ
		}
		post, err := approx.Online{}.Fit(context.Background(), []approx.Cov{{K: k, Mean: mean}}, approx.Targets{Classes: 2, Value: y}, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := post.Evidence().Value(); !near(got, want, 1e-12) {
			t.Errorf("%T: %.14g, want %.14g", l, got, want)
		}
	}
}

// TestOnlineBeyondDoublePrecision: one latent value with labels of both kinds, whose posterior variance falls below
// the rounding error of the prior variance.
func TestOnlineBeyondDoublePrecision(t *testing.T) {
	const n = 40
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Copysign(1, float64(i%2)-0.5)
	}
	for _, c := range []struct {
		logAmp    float64
		converged bool
		warnings  int
	}{{3, true, 0}, {9, true, 1}, {15, false, 0}} {
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				k.SetSym(i, j, math.Exp(2*c.logAmp))
			}
		}
		post, err := approx.Online{}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Probit{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = post.Evidence().Adjoint(&approx.Cov{K: mat.NewSymDense(n, nil)}, 0)
		if d := post.Diagnostics(); d.Converged != c.converged || len(d.Warnings) != c.warnings || (err == nil) != c.converged || err != nil && !errors.Is(err, approx.ErrNotConverged) {
			t.Errorf("log sf = %v: %+v, adjoint: error %v", c.logAmp, d, err)
		}
	}
}
