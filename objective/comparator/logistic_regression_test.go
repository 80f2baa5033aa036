package comparator

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// laplace returns the same classifier in function space.
func laplace(t *testing.T, d objective.Data, bias bool) *objective.Objective {
	t.Helper()
	m := objective.Model{Kernels: []kernel.Kernel{kernel.Linear{Bias: &bias}}, Likelihood: likelihood.Logit{}, Inference: approx.Laplace{}}
	if d.Y.Classes > 2 {
		m.Likelihood = likelihood.Softmax{}
	}
	o, err := objective.New(m, objective.LogEvidence{}, d)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestWeightSpaceIsFunctionSpace compares log evidence, gradient and predictions with Laplace's method under the linear kernel.
func TestWeightSpaceIsFunctionSpace(t *testing.T) {
	for _, classes := range []int{2, 3, 5} {
		for _, bias := range []bool{true, false} {
			d, z := blobs(50, classes, 11), blobs(8, classes, 12)
			o := laplace(t, d, bias)
			for _, u := range []float64{-6, 0.3, 6} {
				t.Run(fmt.Sprintf("%d classes, bias %v, log amplitude %v", classes, bias, u), func(t *testing.T) {
					want, err := o.At(context.Background(), []float64{u})
					if err != nil {
						t.Fatal(err)
					}
					gradient := []float64{0}
					if err := want.Gradient(gradient); err != nil {
						t.Fatal(err)
					}
					amplitude := math.Exp(u)
					f := fitted(t, LogisticRegression{Bias: &bias, Average: Averaged}.at(amplitude), d).(*weights)
					if scale := max(1, math.Abs(want.Value())); math.Abs(f.value-want.Value()) > 1e-9*scale {
						t.Errorf("log evidence %.12f, in function space %.12f", f.value, want.Value())
					}
					if err := f.curvature(); err != nil {
						t.Fatal(err)
					}
					f.slope()
					if math.Abs(f.gradient-gradient[0]) > 1e-6*max(1, math.Abs(gradient[0]), math.Abs(f.value)) {
						t.Errorf("gradient %.12f, in function space %.12f", f.gradient, gradient[0])
					}
					means, variances := want.Latents(z.X)
					latent := mat.NewDense(z.X.N(), f.processes, nil)
					latent.Mul(mat.NewDense(z.X.N(), f.x.Cols, extended(z.X, f.x.Cols).Data), mat.NewDense(f.processes, f.x.Cols, f.w).T())
					// Both methods lose digits with the condition number of B, up to 2e7 here.
					f.covariances(extended(z.X, f.x.Cols), func(c, d int, covariance []float64) {
						if c != d {
							return
						}
						for i, v := range covariance {
							if math.Abs(latent.At(i, c)-means[c][i]) > 1e-8*max(1, amplitude) || math.Abs(v-variances[c][i]) > 1e-8*max(v, amplitude*amplitude) {
								t.Fatalf("case %d, process %d: latent mean %v and variance %v, in function space %v and %v", i, c, latent.At(i, c), v, means[c][i], variances[c][i])
							}
						}
					})
					tolerance := 1e-9
					if classes > 2 {
						tolerance = 2e-5 // the error of two averages
					}
					p, q := predicted(f, z.X, classes), mat.NewDense(z.X.N(), classes, nil)
					want.PredictProba(q, z.X, objective.Averaged{})
					for i := range z.X.N() {
						for c := range classes {
							if math.Abs(p.At(i, c)-q.At(i, c)) > tolerance {
								t.Fatalf("case %d: probabilities %v, in function space %v", i, p.RawRowView(i), q.RawRowView(i))
							}
						}
					}
				})
			}
		}
	}
}

// at returns the regression with its amplitude fixed.
func (l LogisticRegression) at(amplitude float64) LogisticRegression {
	l.Amplitude.Fixed = &amplitude
	return l
}

func TestGradientOfWeightSpaceAgainstDifferences(t *testing.T) {
	for _, classes := range []int{2, 4} {
		d := blobs(60, classes, 13)
		for _, u := range []float64{-4, 0, 4} {
			value := func(u float64) *weights { return fitted(t, LogisticRegression{}.at(math.Exp(u)), d).(*weights) }
			f := value(u)
			if err := f.curvature(); err != nil {
				t.Fatal(err)
			}
			f.slope()
			const h = 1e-4
			// Richardson extrapolation removes the h² term of a central difference's error.
			difference := func(h float64) float64 { return (value(u+h).value - value(u-h).value) / (2 * h) }
			want := (4*difference(h) - difference(2*h)) / 3
			if math.Abs(f.gradient-want) > 1e-6*max(1, math.Abs(want), math.Abs(f.value)) {
				t.Errorf("%d classes, log amplitude %v: gradient %.10f, by differences %.10f", classes, u, f.gradient, want)
			}
		}
	}
}

func TestAmplitudeMaximisesTheEvidence(t *testing.T) {
	for _, classes := range []int{2, 3} {
		d := blobs(80, classes, 14)
		o := laplace(t, d, true)
		want, err := objective.Optimize(context.Background(), o, []float64{0}, objective.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, start := range []float64{0.01, 1, 50} {
			l := LogisticRegression{}
			l.Amplitude.Init = &start
			s := fitted(t, l, d).Summary()
			if math.Abs(s.LogEvidence-want.Value) > 1e-8*math.Abs(want.Value) || math.Abs(math.Log(s.Natural[0])-want.Theta[0]) > 1e-3 {
				t.Errorf("%d classes from %v: log evidence %.9f at %.6f, in function space %.9f at %.6f", classes, start, s.LogEvidence, s.Natural[0], want.Value, math.Exp(want.Theta[0]))
			}
		}
		l := LogisticRegression{}
		l.Amplitude.Bounds = &[2]float64{0.001, 0.01}
		inside := 0.005
		l.Amplitude.Init = &inside
		if s := fitted(t, l, d).Summary(); math.Abs(s.Natural[0]-0.01) > 1e-12 || len(s.Warnings) != 1 {
			t.Errorf("between bounds below the maximum: amplitude %v, warnings %q", s.Natural[0], s.Warnings)
		}
	}
}

// TestWeightSpaceOfExtremes compares separated classes, inputs of size 1e4 and a constant input with Newton's method
// in 60 digits (mpmath). B has condition numbers of 1.1, 1e5 and 9e8, to which the rounding error is proportional.
func TestWeightSpaceOfExtremes(t *testing.T) {
	d := blobs(30, 3, 15)
	for i := range 30 {
		d.Y.Index[i] = i * i % 11 % 3
		d.X.X.SetRow(i, []float64{1e4 * float64(d.Y.Index[i]), 5})
	}
	for _, c := range []struct{ u, want, condition float64 }{
		{-12, -32.85056106023427, 1.0579},
		{-5, -33.07759259121433, 76529},
		{2, -14.7879172059135, 8.5697e8},
	} {
		f := fitted(t, LogisticRegression{}.at(math.Exp(c.u)), d).(*weights)
		if math.Abs(f.value-c.want) > 1e-11+1e-15*c.condition {
			t.Errorf("log amplitude %v: log evidence %.14f, want %.14f", c.u, f.value, c.want)
		}
	}
}

// TestNarrow: with more than twice as many inputs as cases, a fit in the span of the inputs equals
// the fit with all weights. So do the fits restored from its state and expanded without the cases.
// This also holds if rows repeat, or if inputs are centred or 0.
func TestNarrow(t *testing.T) {
	for _, classes := range []int{2, 3} {
		for _, kind := range []string{"full rank", "repeated rows", "centred, without bias", "zeros, without bias"} {
			t.Run(fmt.Sprint(classes, " classes, ", kind), func(t *testing.T) {
				const n, dim = 21, 60
				d, z := blobs(n, classes, 3), blobs(9, classes, 4)
				for k, of := range []*kernel.Inputs{d.X, z.X} {
					narrow := of.X
					r := rand.New(rand.NewPCG(5, uint64(k)))
					of.X = mat.NewDense(of.N(), dim, nil)
					for i := range of.N() {
						for j := range dim {
							of.X.Set(i, j, 0.3*r.NormFloat64())
						}
						copy(of.X.RawRowView(i), narrow.RawRowView(i))
					}
				}
				l := LogisticRegression{Average: Averaged}
				switch kind {
				case "repeated rows":
					d.X.X.SetRow(1, d.X.X.RawRowView(0))
				case "centred, without bias":
					l.Bias = new(false)
					for j := range dim {
						mean := mat.Sum(d.X.X.ColView(j)) / n
						for i := range n {
							d.X.X.Set(i, j, d.X.X.At(i, j)-mean)
						}
					}
				}
				if kind == "zeros, without bias" {
					l.Bias = new(false)
					d.X.X.Zero()
				}
				f := fitted(t, l, d).(*weights)
				if f.narrow == nil {
					t.Fatal("the inputs are not narrow")
				}
				whole := *f.regression // the same regression with all weights
				whole.x, whole.narrow = extended(d.X, f.columns), nil
				w, err := whole.tune(t.Context(), l.Params(dim, nil)[0])
				if err != nil {
					t.Fatal(err)
				}
				near := func(what string, got, want, scale float64) {
					t.Helper()
					if math.Abs(got-want) > 1e-6*max(scale, math.Abs(want)) {
						t.Errorf("%s %v, with all weights %v", what, got, want)
					}
				}
				near("log evidence", f.value, w.value, 1)
				near("amplitude", f.sigma, w.sigma, 1)
				s, of := f.Summary(), w.Summary()
				for c := range of.Coefficients {
					for j := range of.Coefficients[c] {
						near("coefficient", s.Coefficients[c][j], of.Coefficients[c][j], 0.1)
						near("standard error", s.StandardErrors[c][j], of.StandardErrors[c][j], 0.1)
					}
				}
				p, q := predicted(f, z.X, classes), predicted(w, z.X, classes)
				for i := range z.X.N() {
					for c := range classes {
						near("probability", p.At(i, c), q.At(i, c), 1)
					}
				}
				f.averaging, w.averaging = AtMode, AtMode
				p, q = predicted(f, z.X, classes), predicted(w, z.X, classes)
				for i := range z.X.N() {
					for c := range classes {
						near("probability at the mode", p.At(i, c), q.At(i, c), 1)
					}
				}
				again, err := l.Restore(d, f.State())
				if err != nil || !mat.Equal(predicted(again, z.X, classes), p) {
					t.Errorf("restored, it predicts differently: %v", err)
				}
				state := f.Condense()
				expanded, err := l.Expand(dim, classes, state)
				if err != nil || !mat.Equal(predicted(expanded, z.X, classes), p) {
					t.Errorf("without its cases it predicts differently: %v", err)
				}
				for _, wrong := range []approx.State{state[1:], append(approx.State{-float64(f.x.Cols + 1)}, state[1:]...),
					append(approx.State{-1e9}, state[1:]...), append(approx.State{-1.5}, state[1:]...), state[:1]} {
					if _, err := l.Expand(dim, classes, wrong); err == nil {
						t.Error("a wrong state is no error")
					}
				}
			})
		}
	}
}
