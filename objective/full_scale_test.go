package objective_test

import (
	"fmt"
	"math"
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

func fullScale(points, count int) objective.FullScale {
	return objective.FullScale{Inducing: objective.Inducing{Points: points}, Neighbours: objective.Neighbours{Count: count}}
}

// TestFullScaleOfAMarkovProcess: with one input the residual of the exponential kernel, given inducing variables, is a
// Markov process too, so that one neighbour gives the whole covariance. Every method has the values, gradients and
// predictions that it has with the matrix.
func TestFullScaleOfAMarkovProcess(t *testing.T) {
	dense := methodsWithStructure(nil)
	for name, m := range methodsWithStructure(fullScale(7, 1)) {
		for _, c := range []objective.Criterion{objective.LogEvidence{}, objective.LeaveOneOut{}} {
			t.Run(fmt.Sprintf("%s, %T", name, c), func(t *testing.T) {
				data := roughData(1, 60, 1, name == "exact")
				k := kernel.Matern12{}
				got, want := pointAt(t, m, k, c, data, 0.3), pointAt(t, dense[name], k, c, data, 0.3)
				near := func(what string, a, b float64) {
					t.Helper()
					if !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(b))) {
						t.Errorf("%s is %.12g at full scale, %.12g with the matrix", what, a, b)
					}
				}
				near("the value", got.Value(), want.Value())
				one, two := make([]float64, 2), make([]float64, 2)
				if err := got.Gradient(one); err == nil {
					if err := want.Gradient(two); err != nil {
						t.Fatal(err)
					}
					for j := range one {
						near("a derivative", one[j], two[j])
					}
				}
				z := &kernel.Inputs{X: mat.NewDense(7, 1, []float64{-9, -1, -0.2, 0.1, 0.7, 2, 9})}
				means, variances := got.Latents(z)
				wantMeans, wantVariances := want.Latents(z)
				for j := range z.N() {
					near("a latent mean", means[0][j], wantMeans[0][j])
					near("a latent variance", variances[0][j], wantVariances[0][j])
				}
			})
		}
	}
}

// TestFullScaleGradients compares gradients with central differences, with noise and with weights.
func TestFullScaleGradients(t *testing.T) {
	noise := kernel.Sum{{Kind: "matern32", Kernel: kernel.Matern32{ARD: true}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	for name, m := range methodsWithStructure(fullScale(6, 4)) {
		for kind, k := range map[string]kernel.Kernel{"ard": kernel.Matern12{ARD: true}, "noise": noise, "weights": kernel.Matern12{}} {
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
						at[j] += 1.5 * math.Cos(float64(j))
					}
					centralDifferences(t, o, at)
				})
			}
		}
	}
}

// TestFullScaleHasTheSameBits: on one thread and on two.
func TestFullScaleHasTheSameBits(t *testing.T) {
	data := roughData(3, 900, 2, false)
	m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: fullScale(30, 8)}}
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

// TestFullScaleIsBetterThanEither: the log evidence of a rough process with a long trend is nearer the matrix's with
// both than with inducing inputs or neighbours alone.
func TestFullScaleIsBetterThanEither(t *testing.T) {
	data := roughData(5, 300, 2, false)
	k := kernel.Sum{{Kind: "matern12", Kernel: kernel.Matern12{}}, {Kind: "se", Kernel: kernel.SE{}}}
	off := func(s approx.Structure) float64 {
		m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: s}}
		return pointAt(t, m, k, objective.LogEvidence{}, data, 0.3).Value()
	}
	exact := off(nil)
	low, near, both := off(objective.Inducing{Points: 30}), off(objective.Neighbours{Count: 5}), off(fullScale(30, 5))
	if d := math.Abs(both - exact); !(d < math.Abs(low-exact)/2 && d < math.Abs(near-exact)) {
		t.Errorf("log evidence %.6g with both, %.6g with inducing inputs, %.6g with neighbours, %.6g exactly", both, low, near, exact)
	}
}

// TestFullScaleOfSeveralClasses: one_vs_rest works, softmax names it, and with all other cases as neighbours the matrix
// is used.
func TestFullScaleOfSeveralClasses(t *testing.T) {
	data := roughData(5, 60, 2, false)
	data.Y = approx.Targets{Classes: 3}
	for i := range 60 {
		data.Y.Index = append(data.Y.Index, i%3)
	}
	m := objective.Model{Kernels: []kernel.Kernel{kernel.Matern12{}}, Likelihood: likelihood.Softmax{},
		Inference: approx.Laplace{Structure: fullScale(5, 5)}}
	if _, err := objective.New(m, objective.LogEvidence{}, data); err == nil || !strings.Contains(err.Error(), "one_vs_rest") {
		t.Errorf("error %v", err)
	}
	value := func(s approx.Structure) float64 {
		m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.OneVsRest{Binary: approx.EP{Structure: s}}}
		p := pointAt(t, m, kernel.Matern12{}, objective.LogEvidence{}, data, 0)
		if err := p.Gradient(make([]float64, 2)); err != nil {
			t.Fatal(err)
		}
		return p.Value()
	}
	want := value(nil)
	if got := value(fullScale(5, 59)); got != want {
		t.Errorf("%v with all neighbours, %v with the matrix", got, want)
	}
	if got := value(fullScale(20, 10)); !(math.Abs(got-want) <= 0.02*math.Abs(want)) {
		t.Errorf("%v, %v with the matrix", got, want)
	}
}

// TestRefusalsOfFullScale: options that inducing inputs have alone are refused.
func TestRefusalsOfFullScale(t *testing.T) {
	s := fullScale(5, 5)
	s.Inducing.TuneInputs = true
	_, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Logit{},
		Inference: approx.Laplace{Structure: s}}, nil, sums(20))
	if err == nil || !strings.Contains(err.Error(), "points and select only") {
		t.Errorf("%v", err)
	}
}
