package objective

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Under a quadratic log evidence of curvature H around c, and normal priors N(m_i, s_i²), the log posterior is quadratic,
// with its maximum at (H + S⁻²)⁻¹ (H c + S⁻² m).
func TestLogPosteriorOfAQuadratic(t *testing.T) {
	h := mat.NewSymDense(2, []float64{3, 1, 1, 2})
	c, m, s := []float64{1, -2}, []float64{0.5, 4}, []float64{0.8, 2}
	f, df := quadratic(h, c)
	o := functionOf(t, wide(2), f, df, entry{})
	o.criterion = LogPosterior{}
	a, b := mat.NewSymDense(2, nil), mat.NewVecDense(2, nil)
	a.CopySym(h)
	b.MulVec(h, mat.NewVecDense(2, c))
	for i := range c {
		o.Layout.Specs[i].Prior = param.Normal{Mean: m[i], SD: s[i]}
		a.SetSym(i, i, a.At(i, i)+1/(s[i]*s[i]))
		b.SetVec(i, b.AtVec(i)+m[i]/(s[i]*s[i]))
	}
	var want mat.VecDense
	if err := want.SolveVec(a, b); err != nil {
		t.Fatal(err)
	}
	got := climbFrom(t, o, []float64{0, 0}, Settings{})
	near(t, "the mode", got.Theta, want.RawVector().Data, 5e-5)
	logPrior := 0.0
	for i, u := range got.Theta {
		logPrior -= (u-m[i])*(u-m[i])/(2*s[i]*s[i]) + math.Log(s[i]*math.Sqrt(2*math.Pi))
	}
	near(t, "its value", []float64{got.Value}, []float64{f(got.Theta) + logPrior}, 1e-12)
}

// withPriors returns a classifier whose hyperparameters have these priors.
func withPriors(t *testing.T, a approx.Approximation, c Criterion, amplitude, length, constant param.Prior) *Objective {
	t.Helper()
	o, err := New(Model{
		Kernels:    []kernel.Kernel{kernel.SE{Amplitude: param.Setting{Prior: amplitude}, LengthScale: param.Setting{Prior: length}}},
		Mean:       Constant{param.Setting{Prior: constant}},
		Likelihood: likelihood.Probit{}, Inference: a,
	}, c, ring(40, 1))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestLogPosteriorOfAClassifier(t *testing.T) {
	for _, a := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
		priors := [3]param.Prior{param.Gamma{Shape: 2, Rate: 0.7}, param.HalfT{Scale: 2, DegreesOfFreedom: 4}, param.Normal{SD: 0.5}}
		o := withPriors(t, a, LogPosterior{}, priors[0], priors[1], priors[2])
		evidence := withPriors(t, a, LogEvidence{}, priors[0], priors[1], priors[2])
		for _, free := range [][]float64{{0, 0, 0}, {2, -1, 0.3}, {-4, 3, -2}} {
			differences(t, o, free, 1e-4)
			p, err1 := o.At(context.Background(), free)
			q, err2 := evidence.At(context.Background(), free)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			want := q.Value()
			for i, prior := range priors {
				logp, _ := prior.LogDensity(free[i])
				want += logp
			}
			if math.Abs(p.Value()-want) > 1e-12*math.Abs(want) || p.Posterior.Evidence().Value() != q.Value() {
				t.Errorf("%T at %v: log posterior %v, want %v; log evidence %v, want %v", a, free, p.Value(), want, p.Posterior.Evidence().Value(), q.Value())
			}
		}
	}
}

// A prior moves the optimum from the maximum of the evidence towards the prior's mode, further if
// the prior is narrower.
func TestTheOptimumMovesWithThePrior(t *testing.T) {
	const mode = -0.5
	optimum := func(c Criterion, sd float64) float64 {
		o := withPriors(t, approx.EP{}, c, param.LogNormal{Normal: param.Normal{Mean: mode, SD: sd}}, nil, nil)
		return climbFrom(t, o, []float64{1, 0, 0}, Settings{}).Theta[0]
	}
	last := optimum(LogEvidence{}, 1)
	if free := optimum(LogPosterior{}, 1e6); math.Abs(free-last) > 1e-4 {
		t.Errorf("a flat prior moves the optimum from %v to %v", last, free)
	}
	for _, sd := range []float64{3, 1, 0.3, 0.1, 0.03} {
		at := optimum(LogPosterior{}, sd)
		if !(at < last && at > mode) {
			t.Errorf("log amplitude %v under a prior of width %v, want it between %v and %v", at, sd, mode, last)
		}
		last = at
	}
	if last-mode > 0.01 {
		t.Errorf("log amplitude %v under a prior of width 0.03 around %v", last, mode)
	}
}

// An objective without a criterion makes the same predictions, and has no value or gradient.
func TestWithoutACriterion(t *testing.T) {
	with, without := withPriors(t, approx.EP{}, LogEvidence{}, nil, nil, nil), withPriors(t, approx.EP{}, nil, nil, nil, nil)
	free := []float64{1, 0.3, -0.2}
	p, err1 := with.At(context.Background(), free)
	q, err2 := without.At(context.Background(), free)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if z := with.data.X; !mat.Equal(predict(p, z, Averaged{}), predict(q, z, Averaged{})) {
		t.Error("the predictions differ")
	}
	if err := q.Gradient(make([]float64, 3)); !math.IsNaN(q.Value()) || without.HasGradient() || !errors.Is(err, approx.ErrNoGradient) {
		t.Errorf("value %v, gradient error %v", q.Value(), err)
	}
}
