package approx_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/approxtest"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestWeightsOfOptions: the options of the methods take weights too.
func TestWeightsOfOptions(t *testing.T) {
	for _, m := range []approx.Approximation{
		approx.EP{Alpha: 0.5}, approx.EP{Evidence: approx.PosteriorForm}, approx.PL{Evidence: approx.PosteriorForm},
		approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}}, approx.EP{NegativeSites: approx.KeepNegative},
		approx.OneVsRest{Binary: approx.EP{}}, approx.OneVsRest{Binary: approx.Laplace{}},
	} {
		t.Run(fmt.Sprintf("%T%+v", m, m), func(t *testing.T) { approxtest.CheckWeights(t, m) })
	}
}

// partlyShared is a prior of cases that share all but independent variances with equal ones: a matrix with noise, or
// inducing inputs with a correction.
type partlyShared struct {
	name      string
	structure approx.Structure
	points    int // inducing inputs
	noise     float64
}

// cov returns the prior of the cases. If apart, Noise has the noise of a matrix, and K does not.
func (s partlyShared) cov(x [][]float64, of []int, logLength, logAmp float64, apart bool) approx.Cov {
	n := len(of)
	all := slices.Clone(x[:s.points])
	for _, i := range of {
		all = append(all, x[i])
	}
	k, _, _ := seGram(all, logLength, logAmp)
	noise := slices.Repeat([]float64{s.noise}, n)
	mean := make([]float64, n)
	for a, i := range of {
		noise[a] *= 1 + x[i][0]*x[i][0]
		mean[a] = x[i][1] / 4
	}
	if s.points == 0 {
		if !apart {
			for i, v := range noise {
				k.SetSym(i, i, k.At(i, i)+v)
			}
			noise = nil
		}
		return approx.Cov{K: k, Noise: noise, Mean: mean}
	}
	zz, cross, diag := mat.NewSymDense(s.points, nil), mat.NewDense(s.points, n, nil), make([]float64, n)
	for i := range s.points {
		for j := range s.points {
			zz.SetSym(i, j, k.At(i, j))
		}
		for a := range n {
			cross.Set(i, a, k.At(i, s.points+a))
			diag[a] = k.At(s.points+a, s.points+a)
		}
	}
	return approx.Cov{K: zz, Cross: cross, Diag: diag, Noise: noise, Mean: mean}
}

// adjointOf has the shape of cov.
func adjointOf(t *testing.T, f approx.Functional, cov approx.Cov) approx.Cov {
	t.Helper()
	n := len(cov.Mean)
	dst := approx.Cov{K: mat.NewSymDense(cov.K.SymmetricDim(), nil), Mean: make([]float64, n)}
	if cov.Noise != nil {
		dst.Noise = make([]float64, n)
	}
	if cov.Cross != nil {
		m, _ := cov.Cross.Dims()
		dst.Cross, dst.Diag = mat.NewDense(m, n, nil), make([]float64, n)
	}
	if err := f.Adjoint(&dst, 0); err != nil {
		t.Fatal(err)
	}
	return dst
}

// summed is the adjoint of repeated cases as one of the cases: with a matrix without Noise its diagonal is that.
func summed(g approx.Cov, of []int) approx.Cov {
	n := 1 + slices.Max(of)
	out := approx.Cov{Mean: make([]float64, n), Noise: make([]float64, n), K: g.K}
	add := func(dst, src []float64) {
		for a, i := range of {
			dst[i] += src[a]
		}
	}
	add(out.Mean, g.Mean)
	if g.Cross == nil {
		sum := mat.NewDense(n, n, nil)
		for a, i := range of {
			out.Noise[i] += g.K.At(a, a)
			for b, j := range of {
				sum.Set(i, j, sum.At(i, j)+g.K.At(a, b))
			}
		}
		out.K = mat.NewSymDense(n, sum.RawMatrix().Data)
		return out
	}
	add(out.Noise, g.Noise)
	out.Diag = make([]float64, n)
	add(out.Diag, g.Diag)
	m, _ := g.Cross.Dims()
	out.Cross = mat.NewDense(m, n, nil)
	for k := range m {
		add(out.Cross.RawRowView(k), g.Cross.RawRowView(k))
	}
	return out
}

// TestWeightsWithVariancesOfTheirOwn: repeated cases with noise of their own, and with the variances that inducing
// inputs lack, are weights.
func TestWeightsWithVariancesOfTheirOwn(t *testing.T) {
	fitc, vfe, half := approx.Correction{Form: approx.FITC}, approx.Correction{Form: approx.VFE}, approx.Correction{Power: 0.5}
	structures := []partlyShared{
		{"noise", nil, 0, 0.4}, {"fitc", fitc, 5, 0}, {"fitc and noise", fitc, 5, 0.4}, {"vfe", vfe, 5, 0},
		{"vfe and noise", vfe, 5, 0.3}, {"power", half, 5, 0.1},
	}
	const n = 16
	x, y := twoClasses(n, 23)
	var of []int
	weighted := approx.Targets{Classes: 2, Value: y}
	repeated := approx.Targets{Classes: 2}
	for i := range n {
		w := 1 + (i*i+i/2)%3
		weighted.Weight = append(weighted.Weight, float64(w))
		for range w {
			of, repeated.Value = append(of, i), append(repeated.Value, y[i])
		}
	}
	single := make([]int, n)
	for i := range single {
		single[i] = i
	}
	iteration := approx.Iteration{Tolerance: 1e-13}
	for _, s := range structures {
		for _, c := range []struct {
			method approx.Approximation
			lik    likelihood.Likelihood
		}{
			{approx.Laplace{Structure: s.structure, Tolerance: 1e-13}, likelihood.Logit{}},
			{approx.EP{Structure: s.structure, Iteration: iteration}, likelihood.Probit{}},
			{approx.EP{Structure: s.structure, Iteration: iteration, Alpha: 0.5}, likelihood.Probit{}},
			{approx.PL{Structure: s.structure, Iteration: iteration}, likelihood.Logit{}},
			{approx.Variational{Structure: s.structure, Tolerance: 1e-13}, likelihood.Probit{}},
			{approx.Exact{Structure: s.structure}, likelihood.Gaussian{}},
		} {
			name := fmt.Sprintf("%s, %T", s.name, c.method)
			classes := 2
			if _, ok := c.method.(approx.Exact); ok {
				classes = 0
			}
			weighted.Classes, repeated.Classes = classes, classes
			lik := approxtest.AtInit(c.lik)
			fit := func(cov approx.Cov, y approx.Targets) approx.Posterior {
				post, err := c.method.Fit(context.Background(), []approx.Cov{cov}, y, lik, nil)
				if err != nil || !post.Diagnostics().Converged {
					t.Fatal(name, err, post)
				}
				return post
			}
			for _, theta := range [][2]float64{{0, 0}, {0.5, 1.2}} {
				own, all := s.cov(x, single, theta[0], theta[1], true), s.cov(x, of, theta[0], theta[1], false)
				got, want := fit(own, weighted), fit(all, repeated)
				compare := func(what string, f, g approx.Functional) {
					if !near(f.Value(), g.Value(), 1e-9) {
						t.Errorf("%s %v: %s %.14g, of repeated cases %.14g", name, theta, what, f.Value(), g.Value())
					}
					a, b := adjointOf(t, f, own), summed(adjointOf(t, g, all), of)
					scale := 1e-9 * max(1, mat.Max(b.K), -mat.Min(b.K))
					if !mat.EqualApprox(a.K, b.K, scale) {
						t.Errorf("%s %v: the adjoint of %s by K differs", name, theta, what)
					}
					if !floats.EqualApprox(a.Mean, b.Mean, scale) {
						t.Errorf("%s %v: the adjoint of %s by the mean differs", name, theta, what)
					}
					if !floats.EqualApprox(a.Noise, b.Noise, scale) {
						t.Errorf("%s %v: the adjoint of %s by the noise is\n%.6f, of repeated cases\n%.6f", name, theta, what, a.Noise, b.Noise)
					}
					if own.Cross != nil && !(floats.EqualApprox(a.Diag, b.Diag, scale) && mat.EqualApprox(a.Cross, b.Cross, scale)) {
						t.Errorf("%s %v: the adjoint of %s by the covariances with inducing inputs differs", name, theta, what)
					}
					p, q := make([]float64, len(c.lik.Params())), make([]float64, len(c.lik.Params()))
					if f.Likelihood(p) != nil || g.Likelihood(q) != nil || !floats.EqualApprox(p, q, scale) {
						t.Errorf("%s %v: the derivatives of %s by the likelihood's parameters are %v, of repeated cases %v", name, theta, what, p, q)
					}
				}
				compare("evidence", got.Evidence(), want.Evidence())
				if s.structure == nil || s.structure.PowerOr(1) == 1 {
					f, err := got.(approx.LeaveOneOut).LeaveOneOut()
					g, wrong := want.(approx.LeaveOneOut).LeaveOneOut()
					if err != nil || wrong != nil {
						t.Fatal(name, err, wrong)
					}
					compare("leave-one-out", f, g)
				}
				known := s.points
				if known == 0 {
					known = n
				}
				latent := func(post approx.Posterior, points []int) (mean, variance []float64) {
					mean, variance = make([]float64, 2), make([]float64, 2)
					z := [][]float64{{0.3, -0.2}, {-1, 2}}
					var rows [][]float64
					for _, i := range points {
						rows = append(rows, x[i])
					}
					k, _, _ := seGram(append(rows, z...), theta[0], theta[1])
					m := len(points)
					cross := mat.NewDense(m, 2, nil)
					for a := range m {
						cross.Set(a, 0, k.At(a, m))
						cross.Set(a, 1, k.At(a, m+1))
					}
					amp := math.Exp(2 * theta[1])
					post.Latent(mean, variance, cross, []float64{amp, amp}, 0)
					return mean, variance
				}
				points, more := single[:known], single[:known]
				if s.points == 0 {
					more = of
				}
				m, v := latent(got, points)
				m2, v2 := latent(want, more)
				if !floats.EqualApprox(m, m2, 1e-9) || !floats.EqualApprox(v, v2, 1e-9) {
					t.Errorf("%s %v: predictions %v %v, of repeated cases %v %v", name, theta, m, v, m2, v2)
				}
			}
		}
	}
}

// TestHeavyWeights: a hundred copies of a case and thousandths of one, with contradicting labels, are no obstacle.
func TestHeavyWeights(t *testing.T) {
	x, y := twoClasses(30, 5)
	targets := approx.Targets{Classes: 2, Value: slices.Concat(y, floats.ScaleTo(make([]float64, len(y)), -1, y))}
	k, _, _ := seGram(slices.Concat(x, x), 0.5, 2)
	for _, scale := range []float64{1e-3, 100} {
		targets.Weight = nil
		for i := range targets.Value {
			targets.Weight = append(targets.Weight, scale*(1+float64(i%5))/float64(1+i/len(y)))
		}
		for _, m := range []approx.Approximation{approx.Laplace{}, approx.EP{}, approx.EP{Alpha: 0.3}, approx.PL{}, approx.Variational{}} {
			for _, lik := range []likelihood.Bound{likelihood.Logit{}, likelihood.Probit{}} {
				post, err := m.Fit(context.Background(), []approx.Cov{{K: k}}, targets, lik, nil)
				if err != nil || !post.Diagnostics().Converged {
					t.Errorf("%T, %T, weights from %v: %v %+v", m, lik, scale, err, post)
				}
				// Plain updates of the sites of copies take hundreds.
				if d := post.Diagnostics(); d.Iterations > 20 {
					t.Errorf("%T, %T, weights from %v: %d iterations", m, lik, scale, d.Iterations)
				}
			}
		}
	}
}
