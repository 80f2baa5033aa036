package objective_test

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
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// methodsWithStructure are the methods that take a structure of the covariance, each with a likelihood.
func methodsWithStructure(s approx.Structure) map[string]objective.Model {
	return map[string]objective.Model{
		"laplace":     {Likelihood: likelihood.Logit{}, Inference: approx.Laplace{Structure: s}},
		"ep":          {Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: s}},
		"ep parallel": {Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: s, Iteration: approx.Iteration{Schedule: approx.Parallel}}},
		"power ep":    {Likelihood: likelihood.Logit{}, Inference: approx.EP{Structure: s, Alpha: 0.5}},
		"pl":          {Likelihood: likelihood.Probit{}, Inference: approx.PL{Structure: s}},
		"variational": {Likelihood: likelihood.Logit{}, Inference: approx.Variational{Structure: s}},
		"exact":       {Likelihood: likelihood.Gaussian{}, Inference: approx.Exact{Structure: s}},
	}
}

// roughData is a rough process at random inputs, as classes, or as numbers.
func roughData(seed uint64, n, d int, numbers bool) objective.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
		y[i] = math.Sin(3*x.At(i, 0)) + 0.5*rng.NormFloat64()
		if !numbers {
			y[i] = math.Copysign(1, y[i])
		}
	}
	data := objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}, Scaled: true}
	if numbers {
		data.Y.Classes = 0
	}
	return data
}

func pointAt(t *testing.T, m objective.Model, k kernel.Kernel, c objective.Criterion, data objective.Data, shift float64) *objective.Point {
	t.Helper()
	m.Kernels = []kernel.Kernel{k}
	o, err := objective.New(m, c, data)
	if err != nil {
		t.Fatal(err)
	}
	at := o.Layout.Pick(o.Layout.Start())
	for j := range at {
		at[j] += shift * math.Cos(float64(j))
	}
	p, err := o.At(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestOneNeighbourOfAMarkovProcess: with one input the exponential kernel is a Markov process, whose covariance one
// neighbour on the left gives exactly; a new input has one on either side. Every method has the values, gradients and
// predictions that it has with the matrix.
func TestOneNeighbourOfAMarkovProcess(t *testing.T) {
	dense := methodsWithStructure(nil)
	for name, m := range methodsWithStructure(objective.Neighbours{Count: 1}) {
		for _, c := range []objective.Criterion{objective.LogEvidence{}, objective.LeaveOneOut{}} {
			t.Run(fmt.Sprintf("%s, %T", name, c), func(t *testing.T) {
				data := roughData(1, 60, 1, name == "exact")
				k := kernel.Matern12{}
				got, want := pointAt(t, m, k, c, data, 0.3), pointAt(t, dense[name], k, c, data, 0.3)
				near := func(what string, a, b float64) {
					t.Helper()
					if !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(b))) {
						t.Errorf("%s is %.12g with a neighbour, %.12g with the matrix", what, a, b)
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

// TestNeighbourGradients compares gradients with neighbours with central differences, for kernels with noise and with
// weights.
func TestNeighbourGradients(t *testing.T) {
	noise := kernel.Sum{{Kind: "matern32", Kernel: kernel.Matern32{ARD: true}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	for name, m := range methodsWithStructure(objective.Neighbours{Count: 4}) {
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
					for j := range at { // far from the start: large amplitudes, long and short lengths
						at[j] += 1.5 * math.Cos(float64(j))
					}
					centralDifferences(t, o, at)
				})
			}
		}
	}
}

// TestNeighboursHaveTheSameBits: on one thread and on two, and for another order of the rows up to rounding.
func TestNeighboursHaveTheSameBits(t *testing.T) {
	const n = 900
	data := roughData(3, n, 2, false)
	m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: objective.Neighbours{Count: 12}}}
	results := func(data objective.Data) []float64 {
		p := pointAt(t, m, kernel.Matern32{ARD: true}, objective.LogEvidence{}, data, 0.2)
		out := make([]float64, 3)
		if err := p.Gradient(out); err != nil {
			t.Fatal(err)
		}
		z := &kernel.Inputs{X: mat.NewDense(100, 2, nil)}
		for i := range 100 {
			z.X.SetRow(i, []float64{math.Sin(float64(i)), math.Cos(3 * float64(i))})
		}
		means, variances := p.Latents(z)
		return slices.Concat(out, []float64{p.Value()}, means[0], variances[0])
	}
	one := results(data)
	linalg.SetThreads(2)
	two := results(data)
	linalg.SetThreads(1)
	if !slices.Equal(one, two) {
		t.Error("two threads give other bits than one")
	}
	turned := data
	turned.X = &kernel.Inputs{X: mat.NewDense(n, 2, nil)}
	turned.Y.Value = make([]float64, n)
	for i := range n {
		turned.X.X.SetRow(i, data.X.X.RawRowView(n-1-i))
		turned.Y.Value[i] = data.Y.Value[n-1-i]
	}
	for i, v := range results(turned) {
		if !(math.Abs(v-one[i]) <= 1e-7*max(1, math.Abs(one[i]))) {
			t.Errorf("result %d is %.12g, and %.12g for rows in another order", i, one[i], v)
		}
	}
}

// TestNeighboursOfEqualInputs: cases with equal inputs have nearly the same value, and the jitter is reported.
func TestNeighboursOfEqualInputs(t *testing.T) {
	data := roughData(4, 40, 1, false)
	for i := 20; i < 40; i++ {
		data.X.X.SetRow(i, data.X.X.RawRowView(i-20))
	}
	for name, s := range map[string]approx.Structure{"matrix": nil, "neighbours": objective.Neighbours{Count: 3}} {
		m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: s}}
		p := pointAt(t, m, kernel.Matern12{}, objective.LogEvidence{}, data, 0.2)
		want := pointAt(t, objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{}}, kernel.Matern12{},
			objective.LogEvidence{}, data, 0.2)
		// with 1e-6 K_ii of noise the log evidence changes by at most n/2 times the largest site precision, below 1, of it
		variance := math.Exp(2 * p.Theta[0])
		if math.Abs(p.Value()-want.Value()) > 20*1e-6*variance {
			t.Errorf("%s: log evidence %.12g, want %.12g", name, p.Value(), want.Value())
		}
		if jitter := p.Diagnostics().Jitter; (jitter > 0) != (s != nil) {
			t.Errorf("%s: jitter %v", name, jitter)
		}
	}
}

// classesWithStructure are the methods that fit several classes together, each with a likelihood.
func classesWithStructure(s approx.Structure) map[string]objective.Model {
	return map[string]objective.Model{
		"laplace":     {Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{Structure: s}},
		"ep":          {Likelihood: likelihood.MultinomialProbit{}, Inference: approx.EP{Structure: s}},
		"ep softmax":  {Likelihood: likelihood.Softmax{}, Inference: approx.EP{Structure: s}},
		"pl":          {Likelihood: likelihood.MultinomialProbit{}, Inference: approx.PL{Structure: s}},
		"variational": {Likelihood: likelihood.Softmax{}, Inference: approx.Variational{Structure: s}},
		"one_vs_rest": {Likelihood: likelihood.Probit{}, Inference: approx.OneVsRest{Binary: approx.EP{Structure: s}}},
	}
}

// threeClasses is a rough process as three classes.
func threeClasses(seed uint64, n, d int) objective.Data {
	data := roughData(seed, n, d, true)
	y := approx.Targets{Classes: 3}
	for _, v := range data.Y.Value {
		y.Index = append(y.Index, int(min(max(v+1.5, 0), 2)))
	}
	data.Y = y
	return data
}

// TestNeighboursOfSeveralClasses: one neighbour gives a Markov process of every class exactly, so that every method
// has the values, gradients, leave-one-out probabilities and predictions that it has with the matrix, with one kernel
// for all classes or one for each.
func TestNeighboursOfSeveralClasses(t *testing.T) {
	dense := classesWithStructure(nil)
	for name, m := range classesWithStructure(objective.Neighbours{Count: 1}) {
		for kind, k := range map[string]kernel.Kernel{"shared": kernel.Matern12{}, "per class": kernel.PerClass{Kernel: kernel.Matern12{}}} {
			t.Run(name+", "+kind, func(t *testing.T) {
				if name == "one_vs_rest" && kind == "per class" {
					return
				}
				data := threeClasses(3, 40, 1)
				c := objective.LogEvidence{}
				got, want := pointAt(t, m, k, c, data, 0.3), pointAt(t, dense[name], k, c, data, 0.3)
				near := func(what string, a, b float64) {
					t.Helper()
					if !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(b))) {
						t.Errorf("%s is %.12g with a neighbour, %.12g with the matrix", what, a, b)
					}
				}
				near("the value", got.Value(), want.Value())
				free := 2
				if kind == "per class" {
					free = 6
				}
				one, two := make([]float64, free), make([]float64, free)
				if err := want.Gradient(two); err == nil {
					if err := got.Gradient(one); err != nil {
						t.Fatal(err)
					}
					for j := range one {
						near("a derivative", one[j], two[j])
					}
				}
				out, err := got.LeaveOneOut()
				wantOut, wantErr := want.LeaveOneOut()
				if err != nil || wantErr != nil {
					t.Fatal(err, wantErr)
				}
				if !math.IsNaN(wantOut) {
					near("leave-one-out", out, wantOut)
				}
				z := &kernel.Inputs{X: mat.NewDense(7, 1, []float64{-9, -1, -0.2, 0.1, 0.7, 2, 9})}
				means, variances := got.Latents(z)
				wantMeans, wantVariances := want.Latents(z)
				proba, wantProba := mat.NewDense(7, 3, nil), mat.NewDense(7, 3, nil)
				got.PredictProba(proba, z, objective.Averaged{})
				want.PredictProba(wantProba, z, objective.Averaged{})
				for j := range z.N() {
					for c := range 3 {
						near("a latent mean", means[c][j], wantMeans[c][j])
						near("a latent variance", variances[c][j], wantVariances[c][j])
						near("a probability", proba.At(j, c), wantProba.At(j, c))
					}
				}
			})
		}
	}
}

// TestPredictionsByNeighboursAlone: a case is predicted the same, bit by bit, with others and alone, with two classes
// and with three.
func TestPredictionsByNeighboursAlone(t *testing.T) {
	z, structure := roughData(9, 37, 2, true).X, objective.Neighbours{Count: 4}
	for name, p := range map[string]*objective.Point{
		"two":   pointAt(t, methodsWithStructure(structure)["ep"], kernel.Matern32{}, objective.LogEvidence{}, roughData(4, 90, 2, false), 0),
		"three": pointAt(t, classesWithStructure(structure)["laplace"], kernel.Matern32{}, objective.LogEvidence{}, threeClasses(4, 90, 2), 0),
	} {
		means, variances := p.Latents(z)
		for i := range 37 {
			mean, variance := p.Latents(&kernel.Inputs{X: mat.NewDense(1, 2, z.X.RawRowView(i))})
			for c := range means {
				if mean[c][0] != means[c][i] || variance[c][0] != variances[c][i] {
					t.Errorf("%s classes, case %d: N(%v, %v) alone, N(%v, %v) with others", name, i, mean[c][0], variance[c][0],
						means[c][i], variances[c][i])
				}
			}
		}
	}
}

// TestNeighbourGradientsOfSeveralClasses compares gradients with central differences, with noise too.
func TestNeighbourGradientsOfSeveralClasses(t *testing.T) {
	noise := kernel.Sum{{Kind: "matern32", Kernel: kernel.Matern32{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	for name, m := range classesWithStructure(objective.Neighbours{Count: 4}) {
		for kind, k := range map[string]kernel.Kernel{"ard": kernel.Matern12{ARD: true}, "noise": noise} {
			t.Run(name+", "+kind, func(t *testing.T) {
				m.Kernels = []kernel.Kernel{k}
				o, err := objective.New(m, objective.LogEvidence{}, threeClasses(2, 40, 2))
				if err != nil {
					t.Fatal(err)
				}
				if o.HasGradient() {
					centralDifferences(t, o, o.Layout.Pick(o.Layout.Start()))
				}
			})
		}
	}
}

// TestNeighboursOfASmoothProcess: the variance that is added to nearly singular covariances is the same at all
// hyperparameters, so that a climb ends at a maximum.
func TestNeighboursOfASmoothProcess(t *testing.T) {
	data := roughData(6, 120, 2, false)
	o, err := objective.New(objective.Model{
		Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{},
		Inference: approx.EP{Structure: objective.Neighbours{Count: 8}},
	}, objective.LogEvidence{}, data)
	if err != nil {
		t.Fatal(err)
	}
	best, err := objective.Optimize(context.Background(), o, o.Layout.Pick(o.Layout.Start()), objective.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for j, g := range best.Gradient {
		if math.Abs(g) > 1e-3 {
			t.Errorf("the climb ended (%v) at a derivative of %v by hyperparameter %d", best.Status, g, j)
		}
	}
}

// TestSumsOfNeighbours: a sum of one latent value has its moments, a sum over inputs that are far apart the sums of
// the moments, and for a Markov process the mean of any sum is that of the matrix.
func TestSumsOfNeighbours(t *testing.T) {
	data := roughData(7, 50, 1, false)
	z := &kernel.Inputs{X: mat.NewDense(3, 1, []float64{-1.5, 0.2, 1.4})}
	w := mat.NewDense(3, 2, []float64{0, 0.5, 1, -1, 0, 2})
	m := objective.Model{Mean: objective.Constant{}, Likelihood: likelihood.Probit{},
		Inference: approx.OneVsRest{Binary: approx.EP{Structure: objective.Neighbours{Count: 1}}}}
	data.Y = approx.Targets{Classes: 3}
	for i := range 50 {
		data.Y.Index = append(data.Y.Index, i%3)
	}
	got := pointAt(t, m, kernel.Matern12{}, objective.LogEvidence{}, data, 0.1)
	m.Inference = approx.OneVsRest{Binary: approx.EP{}}
	want := pointAt(t, m, kernel.Matern12{}, objective.LogEvidence{}, data, 0.1)
	for class := range 3 {
		means, variances := got.Functionals(z, w, class)
		wantMeans, wantVariances := want.Functionals(z, w, class)
		own, ownVariances := got.Latents(z)
		for what, pair := range map[string][2]float64{
			"the mean of one value": {means[0], own[class][1]}, "the variance of one value": {variances[0], ownVariances[class][1]},
			"a mean": {means[1], wantMeans[1]}, "a variance": {variances[1], wantVariances[1]},
		} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-7*max(1, math.Abs(pair[1]))) {
				t.Errorf("class %d: %s is %.12g, want %.12g", class, what, pair[0], pair[1])
			}
		}
	}
}

// TestNeighboursOfZeroVariance: where a linear kernel without bias has variance 0, a case is no close neighbour, and nothing is NaN.
func TestNeighboursOfZeroVariance(t *testing.T) {
	data := roughData(8, 40, 2, false)
	data.X.X.SetRow(7, []float64{0, 0})
	m := objective.Model{Likelihood: likelihood.Probit{}, Inference: approx.EP{Structure: objective.Neighbours{Count: 4}}}
	k := kernel.Sum{{Kind: "linear", Kernel: kernel.Linear{Bias: new(bool)}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	p := pointAt(t, m, k, objective.LogEvidence{}, data, 0)
	z := &kernel.Inputs{X: mat.NewDense(2, 2, []float64{0, 0, 1, -1})}
	means, variances := p.Latents(z)
	for i := range 2 {
		if math.IsNaN(means[0][i]) || !(variances[0][i] > 0) || math.IsNaN(p.Value()) {
			t.Errorf("input %d has mean %v and variance %v, log evidence %v", i, means[0][i], variances[0][i], p.Value())
		}
	}
	if similar := p.Similarities(z); similar.At(3, 0) != 0 || math.IsNaN(similar.At(7, 1)) {
		t.Errorf("correlations with a value of variance 0: %v, %v", similar.At(3, 0), similar.At(7, 1))
	}
}
