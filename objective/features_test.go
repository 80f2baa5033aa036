package objective_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestFeaturesOfALinearKernel: the features of a linear kernel with noise are exact. Every method has the values,
// gradients and predictions that it has with the matrix, and effects too.
func TestFeaturesOfALinearKernel(t *testing.T) {
	k := kernel.Sum{{Kind: "linear", Kernel: kernel.Linear{ARD: true}}, {Kind: "constant", Kernel: kernel.Constant{}},
		{Kind: "noise", Kernel: kernel.Noise{}}}
	dense := methodsWithStructure(nil)
	for name, m := range methodsWithStructure(objective.Features{Count: 6}) {
		for _, weighted := range []bool{false, true} {
			for _, c := range []objective.Criterion{objective.LogEvidence{}, objective.LeaveOneOut{}} {
				t.Run(fmt.Sprintf("%s, %T, weighted %v", name, c, weighted), func(t *testing.T) {
					data := roughData(1, 60, 2, name == "exact")
					if weighted {
						for i := range 60 {
							data.Y.Weight = append(data.Y.Weight, 1+float64(i%3))
						}
					}
					got, want := pointAt(t, m, k, c, data, 0.3), pointAt(t, dense[name], k, c, data, 0.3)
					near := func(what string, a, b float64) {
						t.Helper()
						if !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(b))) {
							t.Errorf("%s is %.12g with features, %.12g with the matrix", what, a, b)
						}
					}
					near("the value", got.Value(), want.Value())
					one, two := make([]float64, 5), make([]float64, 5)
					if err := got.Gradient(one); err == nil {
						if err := want.Gradient(two); err != nil {
							t.Fatal(err)
						}
						for j := range one {
							near("a derivative", one[j], two[j])
						}
					}
					z, w := roughData(2, 5, 2, false).X, mat.NewDense(5, 2, []float64{1, 2, 0, -1, 0.5, 0.3, 0, 0, -1, 1})
					means, variances := got.Latents(z)
					wantMeans, wantVariances := want.Latents(z)
					for j := range z.N() {
						near("a latent mean", means[0][j], wantMeans[0][j])
						near("a latent variance", variances[0][j], wantVariances[0][j])
					}
					sums, of := got.Functionals(z, w, 0)
					wantSums, wantOf := want.Functionals(z, w, 0)
					for j := range sums {
						near("the mean of a sum", sums[j], wantSums[j])
						near("the variance of a sum", of[j], wantOf[j])
					}
				})
			}
		}
	}
}

// TestGradientsWithFeatures compares gradients with central differences near the start and far from it, for every
// method, with noise and with weights.
func TestGradientsWithFeatures(t *testing.T) {
	noise := kernel.Sum{{Kind: "rational_quadratic", Kernel: kernel.RationalQuadratic{ARD: true}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	for name, m := range methodsWithStructure(objective.Features{Count: 30}) {
		for kind, k := range map[string]kernel.Kernel{"ard": kernel.SE{ARD: true}, "noise": noise, "weights": kernel.Matern32{}} {
			for _, c := range []objective.Criterion{objective.LogEvidence{}, objective.LeaveOneOut{}} {
				t.Run(fmt.Sprintf("%s, %s, %T", name, kind, c), func(t *testing.T) {
					data := roughData(2, 50, 2, name == "exact")
					if kind == "weights" {
						for i := range 50 {
							data.Y.Weight = append(data.Y.Weight, 1+float64(i%3))
						}
					}
					m.Kernels = []kernel.Kernel{k}
					o, err := objective.New(m, c, data)
					if err != nil {
						t.Fatal(err)
					}
					if !o.HasGradient() {
						return
					}
					at := o.Layout.Pick(o.Layout.Start())
					centralDifferences(t, o, at)
					for j := range at {
						at[j] += 1.2 * math.Cos(float64(j))
					}
					centralDifferences(t, o, at)
				})
			}
		}
	}
}

// TestFeaturesOfSeveralClasses: softmax with one kernel for all classes and with one each, and one_vs_rest, have the
// values of the matrix where the features are exact.
func TestFeaturesOfSeveralClasses(t *testing.T) {
	data := roughData(5, 60, 2, false)
	data.Y = approx.Targets{Classes: 3}
	for i := range 60 {
		data.Y.Index = append(data.Y.Index, (i+int(2+data.X.X.At(i, 0)))%3)
	}
	shared, each := kernel.Kernel(kernel.Linear{}), kernel.Kernel(kernel.PerClass{Kernel: kernel.Linear{ARD: true}})
	with := func(s approx.Structure, k kernel.Kernel) map[string]objective.Model {
		return map[string]objective.Model{
			"softmax":     {Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{Structure: s}},
			"one_vs_rest": {Likelihood: likelihood.Probit{}, Inference: approx.OneVsRest{Binary: approx.EP{Structure: s}}},
		}
	}
	for kind, k := range map[string]kernel.Kernel{"shared": shared, "each": each} {
		dense := with(nil, k)
		for name, m := range with(objective.Features{Count: 3}, k) {
			got, want := pointAt(t, m, k, objective.LogEvidence{}, data, 0.1), pointAt(t, dense[name], k, objective.LogEvidence{}, data, 0.1)
			if !(math.Abs(got.Value()-want.Value()) <= 1e-8*math.Abs(want.Value())) {
				t.Errorf("%s, %s: %.12g with features, %.12g with the matrix", name, kind, got.Value(), want.Value())
			}
		}
	}
}

// TestSumsOfFeatures: with two frequencies the latent values of more new inputs than features are linearly dependent.
// The sum of them that is 0 has variance 0, a priori too.
func TestSumsOfFeatures(t *testing.T) {
	m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: objective.Features{Count: 4}}}
	p := pointAt(t, m, kernel.SE{}, objective.LogEvidence{}, roughData(6, 30, 1, false), 0)
	z := mat.NewDense(5, 1, []float64{-2, -1, 0.3, 1.1, 2})
	// frequencies of M = 2 points of Hammersley, in units of 1/l with l = 1
	phi := mat.NewDense(4, 5, nil)
	for j := range 5 {
		for k, u := range []float64{0.25, 0.75} {
			sin, cos := math.Sincos(math.Sqrt2 * math.Erfinv(2*u-1) * z.At(j, 0))
			phi.Set(2*k, j, cos)
			phi.Set(2*k+1, j, sin)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(phi, mat.SVDFullV) {
		t.Fatal("no decomposition")
	}
	var v mat.Dense
	svd.VTo(&v)
	w := mat.NewDense(5, 1, mat.Col(nil, 4, &v))
	if _, variance := p.Functionals(&kernel.Inputs{X: z}, w, 0); !(variance[0] <= 1e-12) {
		t.Errorf("the variance of a sum that is 0 is %v", variance[0])
	}
}

// TestFeaturesHaveTheSameBits: on one thread and on two.
func TestFeaturesHaveTheSameBits(t *testing.T) {
	data := roughData(3, 4500, 2, false)
	m := objective.Model{Likelihood: likelihood.Logit{}, Inference: approx.Laplace{Structure: objective.Features{Count: 40}}}
	results := func() []float64 {
		p := pointAt(t, m, kernel.Matern32{ARD: true}, objective.LogEvidence{}, data, 0.2)
		out := make([]float64, 3)
		if err := p.Gradient(out); err != nil {
			t.Fatal(err)
		}
		means, variances := p.Latents(roughData(4, 100, 2, false).X)
		return slices.Concat(out, []float64{p.Value()}, means[0], variances[0])
	}
	one := results()
	linalg.SetThreads(2)
	two := results()
	linalg.SetThreads(1)
	if !slices.Equal(one, two) {
		t.Error("two threads give other bits than one")
	}
}

// TestFeaturesApproachTheMatrix: the log evidence of a smooth kernel comes near the matrix's as the features grow.
func TestFeaturesApproachTheMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	data := roughData(7, 400, 2, false)
	for i := range data.Y.Value {
		data.Y.Value[i] = math.Copysign(1, data.X.X.At(i, 0)*data.X.X.At(i, 1)+0.3*rng.NormFloat64())
	}
	value := func(s approx.Structure) float64 {
		m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: s}}
		return pointAt(t, m, kernel.SE{}, objective.LogEvidence{}, data, 0).Value()
	}
	want := value(nil)
	for count, most := range map[int]float64{30: 20, 100: 2, 300: 1} {
		if got := value(objective.Features{Count: count}); !(math.Abs(got-want) <= most) {
			t.Errorf("%d features: %.6g, the matrix has %.6g", count, got, want)
		}
	}
}

// TestRefusalsOfFeatures: an incomplete option, a kernel without features and too few of them are errors that say what
// to do.
func TestRefusalsOfFeatures(t *testing.T) {
	for want, of := range map[string]struct {
		k     kernel.Kernel
		count int
	}{
		"count is missing, or below 1; write how many":              {kernel.SE{}, 0},
		"use inducing inputs":                                       {kernel.Periodic{}, 10},
		"features: 2 are too few for this kernel; write at least 3": {kernel.Linear{}, 2},
	} {
		_, err := objective.New(objective.Model{Kernels: []kernel.Kernel{of.k}, Likelihood: likelihood.Logit{},
			Inference: approx.Laplace{Structure: objective.Features{Count: of.count}}}, nil, sums(20))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var f objective.Features
	for _, text := range []string{"many", "0", "-3", "1000001"} {
		if err := f.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "write how many") {
			t.Errorf("%s: %v", text, err)
		}
	}
	// with as many features as cases the matrix itself is used, of any number of kernels
	p := pointAt(t, objective.Model{Likelihood: likelihood.Logit{}, Inference: approx.Laplace{Structure: objective.Features{Count: 20}}},
		kernel.SE{}, objective.LogEvidence{}, sums(20), 0)
	q := pointAt(t, objective.Model{Likelihood: likelihood.Logit{}, Inference: approx.Laplace{}}, kernel.SE{},
		objective.LogEvidence{}, sums(20), 0)
	if p.Value() != q.Value() {
		t.Errorf("%v, want %v", p.Value(), q.Value())
	}
}
