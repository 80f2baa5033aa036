package explain

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

func raw(x *mat.Dense) *kernel.Inputs { return &kernel.Inputs{X: x} }

// Partial dependence of g(x₀) + x₁x₂ over cases is g(x₀) + mean x₁x₂. Accumulated local effects are
// g, less its mean over the cases, each in the middle of its interval of the grid. Of x₁ with
// correlated x₂ they are x₁ times the local mean of x₂, not the mean over all cases.
func TestCurvesOfAKnownPrediction(t *testing.T) {
	x := drawn(400, 3, 5)
	for i := range 400 {
		x.Set(i, 2, x.At(i, 1)+0.1*x.At(i, 2))
	}
	g := func(v float64) float64 { return v*v + math.Sin(v) }
	m := Model{Preprocess: raw, Predict: func(z *kernel.Inputs) (*mat.Dense, error) {
		out := mat.NewDense(z.N(), 1, nil)
		for i := range z.N() {
			row := z.X.RawRowView(i)
			out.Set(i, 0, g(row[0])+row[1]*row[2])
		}
		return out, nil
	}}
	product := 0.0
	for i := range 400 {
		product += x.At(i, 1) * x.At(i, 2) / 400
	}
	grid := Numeric("x0", x, 0)
	curves, err := m.Curves(grid, x)
	if err != nil {
		t.Fatal(err)
	}
	centre := 0.0
	for i := range 400 {
		k := 1
		for x.At(i, 0) > grid.X[k] {
			k++
		}
		centre += (g(grid.X[k-1]) + g(grid.X[k])) / 800
	}
	for k, v := range grid.X {
		if got, want := float64(curves[0].Mean[k]), g(v)+product; math.Abs(got-want) > 1e-12 {
			t.Errorf("partial dependence at %v is %v, want %v", v, got, want)
		}
		if got, want := float64(curves[1].Mean[k]), g(v)-centre; math.Abs(got-want) > 1e-12 {
			t.Errorf("accumulated local effect at %v is %v, want %v", v, got, want)
		}
	}
	if curves[0].Kind != partialDependence || curves[1].Kind != accumulatedLocal || len(curves) != 2 || curves[0].Lo != nil {
		t.Errorf("%+v", curves)
	}
	// d(x₁x₂)/dx₁ = x₂ ≈ x₁ near x₁: the accumulated effect is x₁²/2, while the partial dependence is
	// x₁ mean x₂, flat.
	grid = Numeric("x1", x, 1)
	if curves, err = m.Curves(grid, x); err != nil {
		t.Fatal(err)
	}
	last := len(grid.X) - 1
	rise := float64(curves[1].Mean[last] - curves[1].Mean[last/2])
	want := (grid.X[last]*grid.X[last] - grid.X[last/2]*grid.X[last/2]) / 2
	if math.Abs(rise-want) > 0.15*want {
		t.Errorf("the accumulated effect rises by %v, want about %v", rise, want)
	}
}

// A category has a point for each level, at which all cases have the indicators of the level.
func TestCurveOfACategory(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{1, 0, 5, 0, 1, 6, 0, 1, 7, 1, 0, 8})
	m := Model{Preprocess: raw, Classes: []string{"a", "b", "c"}, Predict: func(z *kernel.Inputs) (*mat.Dense, error) {
		out := mat.NewDense(z.N(), 3, nil)
		for i := range z.N() {
			row := z.X.RawRowView(i)
			out.SetRow(i, []float64{0.1*row[0] + 0.3*row[1], row[2] / 100, 1 - 0.1*row[0] - 0.3*row[1] - row[2]/100})
		}
		return out, nil
	}}
	g := Grid{Input{"colour", []int{0, 1}}, []float64{0, 1}, []string{"red", "blue"}, [][]float64{{1, 0}, {0, 1}}}
	curves, err := m.Curves(g, x)
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range [][]float64{{0.1, 0.3}, {0.065, 0.065}, {0.835, 0.635}} {
		for k, v := range want {
			if math.Abs(float64(curves[c].Mean[k])-v) > 1e-12 {
				t.Errorf("class %d, level %d: %v, want %v", c, k, curves[c].Mean[k], v)
			}
		}
	}
	if len(curves) != 3 {
		t.Errorf("%d curves, want 3: a category has no accumulated effects", len(curves))
	}
}

// Latent functions are drawn from the prior, labels from them through the logistic function. The 95
// % bands of partial dependence then contain the true one in 95 % of 400 sets, on both scales,
// within 3 standard errors of such a count: the hyperparameters are known.
func TestBandsContainDrawnEffects(t *testing.T) {
	const sets, n, cases, d = 400, 60, 6, 3
	model := objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Logit{}, Inference: approx.EP{}}
	inside := map[string]int{}
	for set := range uint64(sets) {
		x := drawn(n, d, set)
		grid := Numeric("x0", x, 0)
		middle := 7 // one point of the curve a set, so that sets are independent
		grid.X, grid.Rows = grid.X[middle:middle+1], grid.Rows[middle:middle+1]
		held := x.Slice(0, cases, 0, d).(*mat.Dense)
		at := grid.partial(held)[0].x
		all := mat.NewDense(n+cases, d, nil)
		all.Stack(x, at)
		theta := []float64{math.Log(2), math.Log(1.2)}
		gram := mat.NewSymDense(n+cases, nil)
		kernel.Gram(kernel.SE{}, gram, theta, raw(all))
		for i := range n + cases {
			gram.SetSym(i, i, gram.At(i, i)+1e-8)
		}
		var factor mat.Cholesky
		if !factor.Factorize(gram) {
			t.Fatal("the covariance has no factor")
		}
		var lower mat.TriDense
		factor.LTo(&lower)
		var f mat.VecDense
		f.MulVec(&lower, drawn(n+cases, 1, set+1000).ColView(0))
		rng := rand.New(rand.NewPCG(set, 9))
		labels := make([]float64, n)
		for i := range labels {
			labels[i] = -1
			if rng.Float64() < 1/(1+math.Exp(-f.AtVec(i))) {
				labels[i] = 1
			}
		}
		o, err := objective.New(model, nil, objective.Data{X: raw(x), Y: approx.Targets{Classes: 2, Value: labels}})
		if err != nil {
			t.Fatal(err)
		}
		point, err := o.Fit(context.Background(), theta, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := Model{Preprocess: raw, Classes: []string{"a", "b"},
			Posteriors: func() iter.Seq2[*objective.Point, error] {
				return func(yield func(*objective.Point, error) bool) { yield(point, nil) }
			},
			Predict: func(z *kernel.Inputs) (*mat.Dense, error) {
				out := mat.NewDense(z.N(), 2, nil)
				point.PredictProba(out, z, objective.Averaged{})
				return out, nil
			}}
		curves, err := m.Curves(grid, held)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range curves {
			truth := 0.0
			for i := range cases {
				v := f.AtVec(n + i)
				if c.Scale == probabilityScale {
					v = 1 / (1 + math.Exp(-v))
				}
				truth += v / cases
			}
			if float64(c.Lo[0]) <= truth && truth <= float64(c.Hi[0]) {
				inside[c.Scale]++
			}
		}
	}
	for _, scale := range []string{latentScale, probabilityScale} {
		t.Logf("%s: %d of %d", scale, inside[scale], sets)
		if got := float64(inside[scale]) / sets; math.Abs(got-0.95) > 3*math.Sqrt(0.95*0.05/sets) {
			t.Errorf("%s: the band contains the truth in %.1f %%", scale, 100*got)
		}
	}
}

// A calibration c(p) = σ(a + b logit p) has the derivative b c (1 - c) / (p (1 - p)), by which the
// slopes of the probabilities are multiplied.
func TestCurvesOfCalibratedProbabilities(t *testing.T) {
	const a, b = 0.3, 0.7
	c := func(p float64) float64 { return 1 / (1 + math.Exp(-a-b*math.Log(p/(1-p)))) }
	p := []float64{0.02, 0.3, 0.5, 0.97}
	slope, was := []float64{1, 2, -3, 4}, []float64{1, 2, -3, 4}
	for i, v := range p {
		was[i] *= b * c(v) * (1 - c(v)) / (v * (1 - v))
	}
	got := slices.Clone(p)
	Model{Calibrate: c}.recalibrate(got, slope)
	for i, v := range p {
		if got[i] != c(v) || math.Abs(slope[i]-was[i]) > 1e-4*math.Abs(was[i]) {
			t.Errorf("at %v: %v with slope %v, want %v with %v", v, got[i], slope[i], c(v), was[i])
		}
	}
	ends := []float64{0, 1}
	Model{Calibrate: func(p float64) float64 { return p * p }}.recalibrate(ends, slope[:2])
	if math.IsNaN(slope[0]) || math.IsNaN(slope[1]) || ends[0] != 0 || ends[1] != 1 {
		t.Errorf("at 0 and 1: %v with slopes %v", ends, slope[:2])
	}
}

// The band of a probability p with half width h on its scale is σ(logit p ± h/(p (1-p))); every
// other band is v ± h.
func TestBandsOfProbabilitiesAreOddsBands(t *testing.T) {
	var latent, probability Curve
	latent.add(0.3, 0.5, false)
	probability.add(0.3, 0.5, true)
	if latent.Lo[0] != -0.2 || latent.Hi[0] != 0.8 {
		t.Errorf("latent: %v to %v", latent.Lo[0], latent.Hi[0])
	}
	odds := func(at float64) float64 { return 1 / (1 + 7./3*math.Exp(-at/0.21)) }
	if lo, hi := float64(probability.Lo[0]), float64(probability.Hi[0]); math.Abs(lo-odds(-0.5)) > 1e-12 || math.Abs(hi-odds(0.5)) > 1e-12 {
		t.Errorf("probability: %v to %v, want %v to %v", lo, hi, odds(-0.5), odds(0.5))
	}
}
