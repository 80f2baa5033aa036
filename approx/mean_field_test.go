package approx_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// oracleMeanField updates one case after the other, by [MF 5, 6] and [MF 9], and evaluates the free energies as
// printed: the ensemble's as entropy plus average energy, with its constants.
func oracleMeanField(t *testing.T, k *mat.SymDense, m0, y []float64, lik likelihood.GaussianNoise, naive bool) gaussianSites {
	n := len(y)
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = lik.NoiseVariance()
	}
	a := plusDiag(k, noise)
	precision := inverse(t, a)
	m, lambda, mean, b := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	copy(mean, m0)
	for range 3000 {
		for i := range n {
			m[i] = m0[i]
			for j := range n {
				switch {
				case j == i:
				case naive:
					m[i] += a.At(i, j) * b[j]
				default:
					m[i] -= precision.At(i, j) / precision.At(i, i) * (mean[j] - m0[j])
				}
			}
			if lambda[i] = a.At(i, i); !naive {
				lambda[i] = 1 / precision.At(i, i)
			}
			b[i] = y[i] * linalg.TruncatedNormal(y[i]*m[i]/math.Sqrt(lambda[i])).Hazard / math.Sqrt(lambda[i])
			mean[i] = m[i] + lambda[i]*b[i]
		}
	}
	s := gaussianSites{variance: make([]float64, n), mean: make([]float64, n)}
	off := make([]float64, n)
	for i := range n {
		z := y[i] * m[i] / math.Sqrt(lambda[i])
		c := linalg.TruncatedNormal(z)
		v := lambda[i] * c.Variance
		precision := 1/v - 1/lambda[i] // precision of the site on h
		s.variance[i] = 1/precision + noise[i]
		s.mean[i] = (mean[i]/v - m[i]/lambda[i]) / precision
		off[i] = mean[i] - m0[i]
		if naive {
			s.logEvidence += c.LogMass - (m[i]-m0[i])*b[i]/2
			continue
		}
		entropy := c.LogMass + math.Log(2*math.Pi*lambda[i])/2 + ((mean[i]-m[i])*(mean[i]-m[i])+v)/(2*lambda[i])
		s.logEvidence += entropy - v/(2*lambda[i]) - math.Log(2*math.Pi)/2
	}
	if !naive {
		s.logEvidence -= logDet(a)/2 + dot(off, product(precision, off))/2
	}
	return s
}

// extendedMeanField refines z by Newton's method; moments of truncated Gaussians are extrapolated from the double
// next to z by Taylor's formula.
func extendedMeanField(t *testing.T, k matrix, y []float64, lik likelihood.GaussianNoise, start []float64, naive bool) extended {
	n := len(y)
	a, rest, ones := zeros(n), zeros(n), make(vector, n) // A and A - I
	for i := range n {
		ones[i] = number(1)
		for j := range n {
			a[i][j].Set(k[i][j])
			rest[i][j].Set(k[i][j])
		}
		a[i][i].Add(a[i][i], number(lik.NoiseVariance()))
		rest[i][i].Sub(a[i][i], ones[i])
	}
	precision, logDet := precisionMatrix(rest, ones)
	lambda, root, z := make(vector, n), make(vector, n), vectorOf(start)
	for i := range n {
		if lambda[i] = a[i][i]; !naive {
			lambda[i] = quo(number(1), precision[i][i])
		}
		root[i] = number(0).Sqrt(lambda[i])
	}
	for range 30 {
		cut, b, h, tau := make([]linalg.Truncated, n), make(vector, n), make(vector, n), make(vector, n)
		value := 0.0
		for i := range n {
			at := float(z[i])
			off := sub(z[i], number(at))
			c := linalg.TruncatedNormal(at)
			cut[i] = c
			hazard := add(number(c.Hazard), mul(number(-c.Hazard*c.Mean), off))
			b[i] = quo(mul(number(y[i]), hazard), root[i])
			h[i] = mul(mul(number(y[i]), root[i]), add(number(c.Mean), mul(number(c.Variance), off)))
			tau[i] = quo(number(c.Hazard*c.Mean), add(number(c.Hazard*c.Mean), mul(lambda[i], number(c.Variance))))
			value += c.LogMass + c.Hazard*float(off) - float(mul(hazard, z[i]))/2
		}
		residual := a.times(b)
		for i := range n {
			residual[i].Sub(residual[i], h[i])
		}
		r, _ := precisionMatrix(rest, tau) // (A + T)⁻¹
		x := r.times(residual)
		ax := a.times(x)
		change := 0.0
		for i, c := range cut {
			step := quo(sub(residual[i], ax[i]), number(c.Variance))
			if c.Hazard*c.Mean > 0.5 {
				step = quo(mul(x[i], lambda[i]), number(c.Hazard*c.Mean))
			}
			step = quo(mul(step, number(y[i])), root[i])
			change = max(change, math.Abs(float(step))/max(1, math.Abs(float(z[i]))))
			z[i] = add(z[i], step)
		}
		if change > 1e-14 {
			continue
		}
		adjoint, half := zeros(n), number(0.5)
		none := make(vector, n)
		for i := range none {
			none[i] = number(0)
		}
		uncertainty := algebra(a, zeros(n), none, b)
		if !naive { // errors of ½ log|A| and of λ, which comes from A⁻¹
			uncertainty += unit(n) * scaledSum(a, precision)
		}
		for i := range n {
			for j := range n {
				adjoint[i][j] = mul(half, mul(b[i], b[j]))
				if naive {
					continue
				}
				adjoint[i][j].Sub(adjoint[i][j], mul(half, precision[i][j]))
				for l, c := range cut {
					v := mul(lambda[l], number(c.Variance))
					adjoint[i][j].Add(adjoint[i][j], mul(half, mul(v, mul(precision[i][l], precision[j][l]))))
				}
			}
			if naive {
				adjoint[i][i] = quo(mul(number(-cut[i].Hazard/2), z[i]), lambda[i])
			} else {
				value += math.Log(float(lambda[i])) / 2
			}
		}
		if !naive {
			value -= logDet / 2
		}
		return extended{value, adjoint.along, uncertainty}
	}
	t.Fatal("mean-field theory in extended precision does not converge")
	return extended{}
}

// scaledSum is Σ_ij |P_ij| √(A_ii A_jj) + Σ_i λ_i (Σ_j |P_ij| √A_jj)², P = A⁻¹, λ_i = 1/P_ii, halved.
func scaledSum(a, p matrix) float64 {
	sum := 0.0
	for i := range a {
		row := 0.0
		for j := range a {
			row += math.Abs(float(p[i][j])) * math.Sqrt(float(a[j][j]))
		}
		sum += row*math.Sqrt(float(a[i][i])) + row*row/float(p[i][i])
	}
	return sum / 2
}

var theories = []approx.Approximation{approx.EnsembleMeanField{}, approx.NaiveMeanField{}}

// orthant is log P(y_i h_i > 0 for all i), h ~ N(0, C), for two or three cases (Sheppard 1899).
func orthant(c *mat.SymDense, y []float64) float64 {
	n := len(y)
	p := math.Pow(2, -float64(n))
	for i := range n {
		for j := range i {
			p += math.Asin(y[i]*y[j]*c.At(i, j)/math.Sqrt(c.At(i, i)*c.At(j, j))) / (math.Pi * math.Pow(2, float64(n-1)))
		}
	}
	return math.Log(p)
}

// TestEnsembleIsALowerBound: it is below the log evidence, and EP is closer to the log evidence.
func TestEnsembleIsALowerBound(t *testing.T) {
	x, labels := twoClasses(3, 30)
	for _, n := range []int{2, 3} {
		for _, y := range [][]float64{{1, 1, 1}, {1, -1, 1}, labels} {
			for _, logLength := range []float64{-1, 0, 1, 3} {
				for _, logAmp := range []float64{-2, 0, 1, 3, 5} {
					k, _, _ := seGram(x[:n], logLength, logAmp)
					truth := orthant(pair{lik: likelihood.Step{}}.prior(k), y[:n])
					ensemble := pair{"ensemble", approx.EnsembleMeanField{}, likelihood.Probit{}}.fit(t, k, nil, y[:n], nil).Evidence().Value()
					ep := pair{"ep", approx.EP{}, likelihood.Probit{}}.fit(t, k, nil, y[:n], nil).Evidence().Value()
					if ensemble > truth+1e-12 || math.Abs(ep-truth) > truth-ensemble+1e-12 {
						t.Errorf("n = %d, labels %v, log l = %v, log sf = %v: log evidence %v, ensemble %v, ep %v", n, y[:n], logLength, logAmp, truth, ensemble, ep)
					}
				}
			}
		}
	}
}

// TestMeanFieldIsExact for one case, and for cases that are independent a priori.
func TestMeanFieldIsExact(t *testing.T) {
	for _, method := range theories {
		for _, variance := range []float64{1e-6, 1, 100, 1e8} {
			k := mat.NewSymDense(3, nil)
			mean, y := []float64{-20, 0, 0.3}, []float64{1, -1, 1}
			want := 0.0
			for i := range 3 {
				k.SetSym(i, i, variance*float64(i+1))
				logZ, _ := likelihood.Probit{}.Moments(y[i], mean[i], k.At(i, i))
				want += logZ
			}
			if got := (pair{"", method, likelihood.Probit{}}).fit(t, k, mean, y, nil).Evidence().Value(); !near(got, want, 1e-12) {
				t.Errorf("%T, variance %v: %.14g, want %.14g", method, variance, got, want)
			}
		}
	}
}

// TestStepWithNoiseIsProbit: moving the noise from the likelihood into the kernel, and scaling that kernel by v, does
// not change the result (GPML exercise 3.10.1).
func TestStepWithNoiseIsProbit(t *testing.T) {
	const n, v = 25, 7.0
	x, y := twoClasses(n, 31)
	for _, e := range approx.Table {
		method, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if caps, err := method.Uses(likelihood.Step{}, 2); err != nil || !caps.Gradient {
			continue // sampling has its own tests
		}
		if _, linear := method.(approx.PL); linear {
			continue // approximating y as linear in f, and as linear in f plus noise, give different results
		}
		for _, logAmp := range []float64{-2, 0, 3} {
			k, _, _ := seGram(x, 0.4, logAmp)
			noisy := mat.NewSymDense(n, nil)
			noisy.ScaleSym(v, k)
			diag, noisyDiag := make([]float64, n), make([]float64, n)
			for i := range n {
				diag[i] = k.At(i, i)
				noisyDiag[i] = v*diag[i] + v
				noisy.SetSym(i, i, noisyDiag[i])
			}
			fit := func(k *mat.SymDense, lik likelihood.Bound) approx.Posterior {
				post, err := method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
				if err != nil || !post.Diagnostics().Converged {
					t.Fatal(e.Name, err)
				}
				return post
			}
			probit, step := fit(k, likelihood.Probit{}), fit(noisy, likelihood.Step{})
			if got, want := step.Evidence().Value(), probit.Evidence().Value(); !near(got, want, 1e-9) {
				t.Errorf("%s, log sf = %v: %.13g with step, %.13g with probit", e.Name, logAmp, got, want)
			}
			p, q := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)
			probit.PredictProba(p, []*mat.Dense{mat.DenseCopyOf(k)}, [][]float64{diag}, nil)
			var cross mat.Dense
			cross.Scale(v, k)
			step.PredictProba(q, []*mat.Dense{&cross}, [][]float64{noisyDiag}, nil)
			if !mat.EqualApprox(p, q, 1e-8) {
				t.Errorf("%s, log sf = %v: predictions differ", e.Name, logAmp)
			}
		}
	}
}

// TestStepWithoutNoise: without noise, a smooth kernel leaves a log evidence dominated by rounding errors, and
// contradictory labels are impossible. The result is an error or a finite number, never NaN, and the fit always ends.
func TestStepWithoutNoise(t *testing.T) {
	x, y := twoClasses(24, 32)
	for _, e := range approx.Table {
		method, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if caps, err := method.Uses(likelihood.Step{}, 2); err != nil || !caps.Gradient {
			continue // sampling has its own tests
		}
		for _, c := range []struct {
			x [][]float64
			y []float64
		}{{x, y}, {[][]float64{x[0], x[0]}, []float64{1, -1}}, {[][]float64{x[0], x[0]}, []float64{1, 1}}} {
			for _, logLength := range []float64{-10, -3, 0, 1, 5, 10} {
				for _, logAmp := range []float64{-10, 0, 10} {
					k, _, _ := seGram(c.x, logLength, logAmp)
					post, err := method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: c.y}, likelihood.Step{}, nil)
					if err != nil {
						if !errors.Is(err, approx.ErrNotPositiveDefinite) && !errors.Is(err, approx.ErrNotConverged) {
							t.Errorf("%s: log l = %v, log sf = %v: %v", e.Name, logLength, logAmp, err)
						}
						continue
					}
					v := post.Evidence().Value()
					g := approx.Cov{K: mat.NewSymDense(len(c.y), nil)}
					err = post.Evidence().Adjoint(&g, 0)
					if math.IsNaN(v) || math.IsInf(v, 0) || post.Diagnostics().Converged != (err == nil) || err == nil && math.IsNaN(mat.Sum(g.K)) {
						t.Errorf("%s: log l = %v, log sf = %v: log evidence %v, %+v, adjoint %v", e.Name, logLength, logAmp, v, post.Diagnostics(), err)
					}
				}
			}
		}
	}
}

// TestEnsembleJitter: a smooth kernel without noise gets a jitter, which is reported. Value and
// adjoint belong to the kernel with jitter. The jitter is proportional to the squared amplitude.
func TestEnsembleJitter(t *testing.T) {
	const n = 8
	x, y := twoClasses(n, 33)
	for _, theta := range [][2]float64{{5, 0}, {6, 10}, {10, -3}} {
		k, byLength, byAmp := seGram(x, theta[0], theta[1])
		p := pair{"ensemble", approx.EnsembleMeanField{}, likelihood.Step{}}
		cov, targets := []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}
		post, err := p.method.Fit(context.Background(), cov, targets, p.lik, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := post.Diagnostics()
		share := d.Jitter / k.At(0, 0)
		if !d.Converged || !(share > 1e-13*n && share < 1e-12*n) || len(d.Warnings) == 0 || !strings.Contains(d.Warnings[0].Text, "jitter") {
			t.Errorf("%v: %+v", theta, d)
		}
		want := p.extended(t, exactly(k, d.Jitter), y, post.State())
		if got := post.Evidence().Value(); !(math.Abs(got-want.logEvidence) <= want.uncertainty) || !(want.uncertainty < 0.1) {
			t.Errorf("%v: log evidence %v, want %v to %v", theta, got, want.logEvidence, want.uncertainty)
		}
		g := p.adjoint(t, post, n)
		for i, e := range []*mat.SymDense{byLength, byAmp} {
			with := mat.NewSymDense(n, nil)
			with.CopySym(e)
			for j := range n {
				with.SetSym(j, j, e.At(j, j)*(1+share))
			}
			// Terms of the order of 1/share cancel in the adjoint, which leaves this error.
			if got, want := along(g.K, e), want.along(with); math.Abs(got-want) > 1e-3*max(1, math.Abs(want)) {
				t.Errorf("%v: gradient[%d] = %v, want %v", theta, i, got, want)
			}
		}
		again, err := p.method.Restore(cov, targets, p.lik, post.State())
		if err != nil || again.Evidence().Value() != post.Evidence().Value() || again.Diagnostics().Jitter != d.Jitter {
			t.Errorf("%v: restored: %v", theta, err)
		}
		if f, err := post.(approx.LeaveOneOut).LeaveOneOut(); err == nil && !(f.Value() > -50*n) || err != nil && !errors.Is(err, approx.ErrNotConverged) {
			t.Errorf("%v: leave-one-out %v, error %v", theta, f.Value(), err)
		}
	}
}

// TestMeanFieldRefuses likelihoods other than the sign of f plus noise, and the message names those.
func TestMeanFieldRefuses(t *testing.T) {
	for _, method := range theories {
		if _, err := method.Uses(likelihood.Logit{}, 2); err == nil || !strings.Contains(err.Error(), "probit") {
			t.Errorf("%T with logit: error %v", method, err)
		}
	}
}
