package objective

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// differences compares a gradient with a central difference of step h in the direction d, whose
// components are 1, -3/2, 2, -5/2, …: |g·d - difference| ≤ 1e-6 max(1, |g|∞, |L|). An error in one
// component of g is no smaller in the direction.
func differences(t *testing.T, o *Objective, free []float64, h float64) {
	t.Helper()
	p, err := o.At(context.Background(), free)
	if err != nil {
		t.Fatal(err)
	}
	g, direction := make([]float64, len(free)), make([]float64, len(free))
	if err := p.Gradient(g); err != nil {
		t.Fatal(err)
	}
	for i := range direction {
		direction[i] = (1 + float64(i)/2) * math.Cos(math.Pi*float64(i))
	}
	h /= floats.Norm(direction, 2)
	value := func(step float64) float64 {
		u := make([]float64, len(free))
		floats.AddScaledTo(u, free, step, direction)
		p, err := o.At(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		return p.Value()
	}
	along, d := floats.Dot(g, direction), (value(h)-value(-h))/(2*h)
	if !(math.Abs(along-d) <= 1e-6*max(1, math.Abs(p.Value()), floats.Norm(g, math.Inf(1)))) {
		t.Errorf("at %s: gradient %v, %v in the direction %v, difference quotient %v",
			o.Layout.describe(p.Theta), g, along, direction, d)
	}
}

func freeRegression(t *testing.T) *Objective {
	return regression(t, Model{
		Kernels:    []kernel.Kernel{squaredExponential{}},
		Mean:       Constant{},
		Likelihood: gaussian{param.Setting{Init: ptr(0.3)}},
		Inference:  exact{},
	})
}

func TestGradientOfTheWholeChain(t *testing.T) {
	o := freeRegression(t)
	for _, free := range [][]float64{{0, 0, 0, -1}, {1, -0.5, 0.4, -2}, {-3, 2, -5, 1}, {4, 3, 30, 0}} {
		differences(t, o, free, 1e-5)
	}
}

func TestFixedHyperparametersAreHeldAndLeftOut(t *testing.T) {
	held := regression(t, Model{
		Kernels:    []kernel.Kernel{squaredExponential{lengthScale: param.Setting{Fixed: ptr(math.E)}}},
		Mean:       Constant{param.Setting{Bare: ptr(0.4)}},
		Likelihood: gaussian{param.Setting{Init: ptr(0.3)}},
		Inference:  exact{},
	})
	differences(t, held, []float64{0.3, -1}, 1e-5)
	a, err1 := held.At(context.Background(), []float64{0.3, -1})
	b, err2 := freeRegression(t).At(context.Background(), []float64{0.3, 1, 0.4, -1})
	if err1 != nil || err2 != nil || a.Value() != b.Value() || !slices.Equal(a.Theta, b.Theta) {
		t.Errorf("held %v at %v, free %v at %v, errors %v, %v", a.Value(), a.Theta, b.Value(), b.Theta, err1, err2)
	}
}

func TestOptimumOfTheEvidence(t *testing.T) {
	o := freeRegression(t)
	m, err := Maximize(context.Background(), o, Restarts{Count: 3, Seed: 1}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != Converged {
		t.Errorf("%s: %q", m.Status, m.Warnings)
	}
	best := math.Inf(-1)
	for i := range m.Theta {
		for k := -40; k <= 40; k++ {
			u := slices.Clone(m.Theta)
			u[i] += float64(k) / 20
			if p, err := o.At(context.Background(), u); err == nil {
				best = max(best, p.Value())
			}
		}
	}
	if best > m.Value+1e-6 {
		t.Errorf("optimum %v, but %v on a line through it", m.Value, best)
	}
}

// The prediction of exact, with all hyperparameters free, equals the textbook formula, also across the batch
// boundary.
func TestLatentIncludesTheMeanAndKnowsNoBlocks(t *testing.T) {
	o := freeRegression(t)
	p, err := o.At(context.Background(), []float64{0.2, 0.1, 0.7, -1})
	if err != nil {
		t.Fatal(err)
	}
	many := mat.NewDense(2*batch+3, 1, nil)
	for i := range 2*batch + 3 {
		many.Set(i, 0, 0.003*float64(i))
	}
	mean, variance := make([]float64, 2*batch+3), make([]float64, 2*batch+3)
	p.Latent(mean, variance, &kernel.Inputs{X: many}, 0)
	for _, i := range []int{0, 17, batch - 1, batch, 2*batch + 2} {
		one := &kernel.Inputs{X: mat.NewDense(1, 1, []float64{many.At(i, 0)})}
		k := mat.NewDense(12, 1, nil)
		kernel.Cross(squaredExponential{}, k, o.Layout.kernel(p.Theta, 0), o.data.X, one)
		e := p.Posterior.(*exactPosterior)
		var solved mat.VecDense
		solved.MulVec(&e.inverse, k.ColView(0))
		m, v := 0.7+mat.Dot(k.ColView(0), &e.alpha), math.Exp(0.4)-mat.Dot(k.ColView(0), &solved)
		if math.Abs(mean[i]-m) > 1e-12 || math.Abs(variance[i]-v) > 1e-12 {
			t.Errorf("case %d: mean %v and variance %v, want %v and %v", i, mean[i], variance[i], m, v)
		}
	}
}

func TestRestoreGivesThePointBack(t *testing.T) {
	o := freeRegression(t)
	p, err := o.At(context.Background(), []float64{0.2, 0.1, 0.7, -1})
	if err != nil {
		t.Fatal(err)
	}
	q, err := o.Restore(p.Theta, p.Posterior.State())
	if err != nil || q.Value() != p.Value() {
		t.Errorf("restored %v, want %v, error %v", q.Value(), p.Value(), err)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	m := Model{Kernels: []kernel.Kernel{squaredExponential{}}, Likelihood: gaussian{}, Inference: entry{}}
	x := func(v ...float64) *kernel.Inputs { return &kernel.Inputs{X: mat.NewDense(len(v), 1, v)} }
	two := m
	two.Kernels = slices.Repeat(m.Kernels, 2)
	for want, f := range map[string]func() (*Objective, error){
		"2 rows of inputs and 1 targets": func() (*Objective, error) {
			return New(m, LogEvidence{}, Data{X: x(1, 2), Y: approx.Targets{Value: []float64{1}}})
		},
		"input NaN in row 2, column 1": func() (*Objective, error) {
			return New(m, LogEvidence{}, Data{X: x(1, math.NaN()), Y: approx.Targets{Value: []float64{1, -1}}})
		},
		"2 kernels for 2 classes": func() (*Objective, error) {
			return New(two, LogEvidence{}, Data{X: x(1, 2), Y: approx.Targets{Classes: 2, Value: []float64{1, -1}}})
		},
		"maximise log_evidence": func() (*Objective, error) {
			return New(m, LeaveOneOut{}, Data{X: x(1, 2), Y: approx.Targets{Value: []float64{1, -1}}})
		},
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestLayoutNames(t *testing.T) {
	k := squaredExponential{amplitude: param.Setting{Fixed: ptr(2)}}
	m := Model{Kernels: []kernel.Kernel{k, k}, Mean: Constant{}, Likelihood: gaussian{param.Setting{Bare: ptr(0.3)}}, Inference: exact{}}
	var names []string
	l := m.Layout(3, []string{"M", "1.5"}, 7)
	for _, s := range l.Specs {
		names = append(names, s.ThetaName())
	}
	want := []string{"class[M].log_amplitude", "class[M].log_length_scale", "class[1.5].log_amplitude", "class[1.5].log_length_scale",
		"mean.constant", "likelihood.log_noise"}
	if !slices.Equal(names, want) || !slices.Equal(l.Free, []int{1, 3, 4}) {
		t.Errorf("names %q, free %v", names, l.Free)
	}
	near(t, "start", l.Natural(l.Start()), []float64{2, 7, 2, 7, 0, 0.3}, 1e-15)
	near(t, "round trip", l.Theta(l.Natural(l.Start())), l.Start(), 1e-15)
	theta := l.Fill([]float64{1, 2, 3})
	near(t, "filled", theta, []float64{math.Log(2), 1, math.Log(2), 2, 3, math.Log(0.3)}, 0)
	near(t, "picked", l.Pick(theta), []float64{1, 2, 3}, 0)
	if s := (Model{Kernels: m.Kernels[:1], Likelihood: gaussian{}}).Layout(3, nil, math.NaN()).Specs; !s[1].FromData || s[0].Name != "amplitude" {
		t.Errorf("without data: %+v", s)
	}
}

func TestSetByName(t *testing.T) {
	l := Model{Kernels: []kernel.Kernel{squaredExponential{amplitude: param.Setting{Fixed: ptr(2)}}}, Likelihood: gaussian{}}.Layout(1, nil, 1)
	theta := l.Start()
	if err := l.Set(theta, "log_amplitude", 1.15); err != nil || theta[0] != 1.15 {
		t.Errorf("theta %v, error %v", theta, err)
	}
	if err := l.Set(theta, "log_lengthscale", 1); err == nil || !strings.Contains(err.Error(), `did you mean "log_length_scale"?`) {
		t.Errorf("error %v", err)
	}
	if err := l.Set(theta, "log_amplitude", math.NaN()); err == nil || theta[0] != 1.15 {
		t.Errorf("theta %v, error %v", theta, err)
	}
}

func TestLengthScaleStartsFromTheData(t *testing.T) {
	m := Model{Kernels: []kernel.Kernel{squaredExponential{lengthScale: param.Setting{Bounds: &[2]float64{0.1, 2}}}, nil}[:1], Likelihood: gaussian{}, Inference: entry{}}
	x := &kernel.Inputs{X: mat.NewDense(3, 2, []float64{0, 0, 3, 4, 0, 1})}
	for want, d := range map[float64]Data{
		math.Sqrt2: {X: x, Scaled: true},
		2:          {X: x}, // the median distance, √18, exceeds the bound
	} {
		d.Y = approx.Targets{Value: make([]float64, 3)}
		o, err := New(m, LogEvidence{}, d)
		if err != nil || o.Layout.Specs[1].Init != want {
			t.Errorf("length scale starts at %v, want %v, error %v", o.Layout.Specs[1].Init, want, err)
		}
	}
}

// warmly is an entry that counts cold and warm starts, and fails from a warm start if failsWarm is set.
type warmly struct {
	entry
	cold, warm *int
	failsWarm  bool
}

func (w warmly) Fit(ctx context.Context, cov []approx.Cov, y approx.Targets, lik likelihood.Bound, s approx.State) (approx.Posterior, error) {
	if s == nil {
		*w.cold++
	} else if *w.warm++; w.failsWarm {
		return nil, approx.ErrNotConverged
	}
	return w.entry.Fit(ctx, cov, y, lik, s)
}

func TestRunRemembersAndStartsWarm(t *testing.T) {
	for _, fails := range []bool{false, true} {
		o := functionOf(t, wide(2), rosenbrock, rosenbrockGradient, entry{})
		cold, warm := 0, 0
		o.model.Inference = warmly{cold: &cold, warm: &warm, failsWarm: fails}
		r := NewRun(context.Background(), o)
		problem := r.problem([]float64{-9, -9}, []float64{9, 9})
		g := make([]float64, 2)
		for _, u := range [][]float64{{1, 2}, {3, 4}, {1, 2}} {
			if got := problem.Func(u); got != -rosenbrock(u) {
				t.Errorf("value %v at %v, want %v", got, u, -rosenbrock(u))
			}
			problem.Grad(g, u)
			problem.Grad(g, u)
		}
		wantCold := 1
		if fails {
			wantCold = 3
		}
		if r.Evaluations != 3 || cold != wantCold || warm != 2 || len(r.Fails) != 0 {
			t.Errorf("fails %v: %d evaluations, %d cold and %d warm, failures %v", fails, r.Evaluations, cold, warm, r.Fails)
		}
		r.Reset()
		problem.Func([]float64{1, 2})
		if cold != wantCold+1 || r.Evaluations != 4 {
			t.Errorf("after a reset: %d evaluations, %d cold", r.Evaluations, cold)
		}
	}
}

func TestRunReusesMemoryAndPointsOfTheObjectiveStayValid(t *testing.T) {
	o := freeRegression(t)
	r := NewRun(context.Background(), o)
	u, v := []float64{0, 0, 0, -1}, []float64{1, 1, 1, 1}
	p, err := o.At(context.Background(), u)
	if err != nil {
		t.Fatal(err)
	}
	first, err := r.At(u)
	if err != nil {
		t.Fatal(err)
	}
	k := first.cov[0].K
	second, err := r.At(v)
	if err != nil || second.cov[0].K != k {
		t.Errorf("the run's Gram matrix was not reused, error %v", err)
	}
	got, want := make([]float64, 4), make([]float64, 4)
	again, err := o.At(context.Background(), u)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Gradient(got), again.Gradient(want)); err != nil || !slices.Equal(got, want) {
		t.Errorf("gradient %v after other evaluations, want %v, error %v", got, want, err)
	}
	if err := r.Gradient(got, v); err != nil {
		t.Fatal(err)
	}
	if err := r.Gradient(got, u); err != nil || !slices.Equal(got, want) {
		t.Errorf("gradient %v in the run, want %v, error %v", got, want, err)
	}
}

func TestNonFiniteThetaIsAnError(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := freeRegression(t).At(context.Background(), []float64{0, v, 0, 0}); err == nil || !strings.Contains(err.Error(), "log_length_scale = ") {
			t.Errorf("error %v", err)
		}
	}
}

func TestMeans(t *testing.T) {
	for setting, fixed := range map[*param.Setting]bool{
		{}: false, {Init: ptr(2)}: false, {Bare: ptr(2)}: true, {Fixed: ptr(2)}: true,
	} {
		s := Constant{*setting}.Params(1)[0]
		if want := 2.0; setting.Init == nil && setting.Bare == nil && setting.Fixed == nil {
			want = 0
			if s.Init != want {
				t.Errorf("starts at %v", s.Init)
			}
		} else if s.Init != want {
			t.Errorf("starts at %v", s.Init)
		}
		if s.Fixed != fixed {
			t.Errorf("%+v: fixed %v", *setting, s.Fixed)
		}
	}
}
