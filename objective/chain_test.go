package objective

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// ring draws n cases in two dimensions, +1 outside a circle and -1 inside, with some labels flipped.
func ring(n int, seed uint64) Data {
	rng := rand.New(rand.NewPCG(seed, 0))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		y[i] = -1
		if a*a+b*b > 1.4 != (rng.Float64() < 0.02) {
			y[i] = 1
		}
	}
	return Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}, Scaled: true}
}

// Every kernel with every pair of a likelihood and an approximation that has a gradient, with
// amplitudes and length scales from e^-5 to e^5. If the likelihood has no noise, the kernel gets
// noise.
func TestGradientsOverTheTables(t *testing.T) {
	d := ring(9, 3)
	for i, k := range kernel.Table {
		for j, l := range likelihood.Table {
			for n, a := range approx.Table {
				kern, err1 := k.New(nil)
				lik, err2 := l.New(nil)
				inference, err3 := a.New(nil)
				if err1 != nil || err2 != nil || err3 != nil {
					t.Fatal(err1, err2, err3)
				}
				if _, smooth := lik.At(make([]float64, len(lik.Params()))).(likelihood.Differentiable); !smooth {
					kern = kernel.Sum{{Kind: k.Name, Kernel: kern}, {Kind: "noise", Kernel: kernel.Noise{Amplitude: param.Setting{Fixed: ptr(1)}}}}
				}
				m := Model{Kernels: []kernel.Kernel{kern}, Mean: Constant{}, Likelihood: lik, Inference: inference}
				if caps, err := m.Check(2); err != nil || !caps.Gradient {
					continue
				}
				t.Run(fmt.Sprint(k.Name, "/", l.Name, "/", a.Name), func(t *testing.T) {
					o, err := New(m, LogEvidence{}, d)
					if err != nil {
						t.Fatal(err)
					}
					for at, p := range [][2]float64{{0, 0}, {-5, -5}, {-5, 5}, {5, -5}, {5, 5}, {2.3, 0.4}} {
						if !exhaustive.Tries(4, i, j, n, at) {
							continue
						}
						free := o.Layout.Pick(o.Layout.Start())
						for i, s := range o.Layout.FreeSpecs() {
							switch {
							case s.Map == param.Choice:
								free[i] = float64(at % 2)
							case strings.HasSuffix(s.Name, "amplitude") && k.Name == "product": // of two parts
								free[i] = p[0] / 2
							case strings.HasSuffix(s.Name, "amplitude"):
								free[i] = p[0]
							case strings.Contains(s.Name, "length_scale"):
								free[i] = p[1]
							case s.Name == "mean.constant":
								free[i] = 0.3
							}
						}
						differences(t, o, free, 1e-4)
					}
				})
			}
		}
	}
}

// Every combination of entries of the tables either gives a value or an error that says why not.
func TestCriteria(t *testing.T) {
	for _, e := range Criteria {
		c, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range approx.Table {
			inference, err := a.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: inference}, c, ring(20, 1))
			if err != nil {
				continue
			}
			if p, err := o.At(context.Background(), []float64{1, 0}); err != nil || !(p.Value() < 0) {
				t.Errorf("%s of %s: %v, error %v", e.Name, a.Name, p.Value(), err)
			}
		}
	}
}

// The leave-one-out probabilities from one fit agree with n fits without one case each, provided that the other sites
// do not change. At this amplitude of e^-1 the difference is below 1e-3 nats and falls with a high power of the
// amplitude, while the log evidence differs by 0.14.
func TestLeaveOneOut(t *testing.T) {
	const n = 20
	d := ring(n, 1)
	m := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}}
	o, err := New(m, LeaveOneOut{}, d)
	if err != nil {
		t.Fatal(err)
	}
	all, err := o.At(context.Background(), []float64{-1, 0})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for i := range n {
		x, y := mat.NewDense(n-1, 2, nil), make([]float64, 0, n-1)
		for j := range n {
			if j != i {
				x.SetRow(len(y), d.X.X.RawRowView(j))
				y = append(y, d.Y.Value[j])
			}
		}
		o, err := New(m, LogEvidence{}, Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.At(context.Background(), []float64{-1, 0})
		if err != nil {
			t.Fatal(err)
		}
		proba := predict(p, &kernel.Inputs{X: d.X.X.Slice(i, i+1, 0, 2).(*mat.Dense)}, Averaged{})
		want += math.Log(proba.At(0, int(1+d.Y.Value[i])/2))
	}
	if math.Abs(all.Value()-want) > 1e-3 {
		t.Errorf("leave-one-out log probability %v, %v by leaving one out", all.Value(), want)
	}
}

// The optimum is higher than every point of a grid around it.
func TestOptimumAgainstAGrid(t *testing.T) {
	for _, inference := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
		for _, lik := range []likelihood.Likelihood{likelihood.Probit{}, likelihood.Logit{}} {
			o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: lik, Inference: inference}, LogEvidence{}, ring(60, 1))
			if err != nil {
				t.Fatal(err)
			}
			m, err := Maximize(context.Background(), o, Restarts{Count: 2, Seed: 1, Workers: 1}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if m.Status != Converged {
				t.Errorf("%T, %T: %s %q", inference, lik, m.Status, m.Warnings)
			}
			run := NewRun(context.Background(), o)
			for i := -10; i <= 10; i++ {
				for j := -10; j <= 10; j++ {
					u := []float64{m.Theta[0] + 0.1*float64(i), m.Theta[1] + 0.1*float64(j)}
					if p, err := run.At(u); err != nil || !(p.Value() <= m.Value+1e-6) {
						t.Errorf("%T, %T: value %v at %v, optimum %v, error %v", inference, lik, p.Value(), u, m.Value, err)
					}
				}
			}
		}
	}
}

// Along a row of a grid a Run saves work by starting from the states of the last two points, and does not change the
// value.
func TestWarmEqualsCold(t *testing.T) {
	for name, m := range map[string]approx.Approximation{
		"laplace": approx.Laplace{}, "ep": approx.EP{}, "parallel ep": approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}}, "pl": approx.PL{}, "variational": approx.Variational{},
		"ensemble_mean_field": approx.EnsembleMeanField{}, "naive_mean_field": approx.NaiveMeanField{}, "online": approx.Online{},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: m}, LogEvidence{}, ring(60, 1))
			if err != nil {
				t.Fatal(err)
			}
			run, alone := NewRun(context.Background(), o), 0
			near, far := 0, 0            // work along the line, and from the last state only
			work := func(p *Point) int { // mostly factorisations, where these are counted, and sweeps
				d := p.Diagnostics()
				if name == "laplace" {
					return d.Factorizations
				}
				return d.Factorizations + d.Iterations
			}
			for i, s := range []float64{0, 1, 2, 3, 4, 5.5, 6, 7, 8, 7.5, 10, 11, 12} {
				u := []float64{0.25 * s, 0.3}
				warm, err := run.At(u)
				if err != nil {
					t.Fatal(err)
				}
				cold, err := o.At(context.Background(), u)
				if err != nil {
					t.Fatal(err)
				}
				if d := math.Abs(warm.Value() - cold.Value()); d > 1e-9*math.Abs(cold.Value()) {
					t.Errorf("at %v: warm %v, cold %v", u, warm.Value(), cold.Value())
				}
				if i < 2 {
					continue
				}
				near, alone = near+work(warm), alone+work(cold)
				last, err := o.Fit(context.Background(), o.Layout.Fill(u), run.last[1].state)
				if err != nil {
					t.Fatal(err)
				}
				far += work(last)
			}
			if near > far || near > alone {
				t.Errorf("work of %d along the line, %d from the last states, %d cold", near, far, alone)
			}
			t.Log(near, far, alone)
		})
	}
}

// TestStartInAPlane: states that are linear in theta are extrapolated to points off the line of the previous fits,
// with an error of at most a tenth of their change, plus a tenth of the curvature.
func TestStartInAPlane(t *testing.T) {
	o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Logit{}, Inference: approx.Laplace{}},
		LogEvidence{}, ring(9, 3))
	if err != nil {
		t.Fatal(err)
	}
	for _, curvature := range []float64{0, 0.3} {
		at := func(x, y float64) float64 { return 7 + 2*x - 3*y + curvature*x*y }
		r := NewRun(t.Context(), o)
		for _, p := range [][]float64{{0.1, 0.1}, {0, 0.3}, {0.2, 0}} {
			r.last = append(r.last, waypoint{p, approx.State{at(p[0], p[1])}})
		}
		for _, free := range [][]float64{{0.15, 0.2}, {0, 0}, {-0.1, 0.3}} {
			want := at(free[0], free[1])
			got, latest := r.start(free)[0], r.last[0].state[0]
			if math.Abs(got-want) > 0.1*math.Abs(latest-want)+0.1*curvature {
				t.Errorf("curvature %v: at %v start from %v, want about %v, the latest is %v", curvature, free, got, want, latest)
			}
		}
	}
}
