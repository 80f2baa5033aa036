package objective

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// quadratic is -½ (u-c)ᵀ H (u-c).
func quadratic(h *mat.SymDense, c []float64) (f func([]float64) float64, df func(g, u []float64)) {
	df = func(g, u []float64) {
		d := make([]float64, len(u))
		for i := range u {
			d[i] = c[i] - u[i]
		}
		mat.NewVecDense(len(g), g).MulVec(h, mat.NewVecDense(len(d), d))
	}
	f = func(u []float64) float64 {
		g := make([]float64, len(u))
		df(g, u)
		s := 0.0
		for i := range u {
			s -= 0.5 * g[i] * (c[i] - u[i])
		}
		return s
	}
	return f, df
}

func rosenbrock(u []float64) float64 {
	return -(100*math.Pow(u[1]-u[0]*u[0], 2) + math.Pow(1-u[0], 2))
}

func rosenbrockGradient(g, u []float64) {
	g[0] = 400*u[0]*(u[1]-u[0]*u[0]) + 2*(1-u[0])
	g[1] = -200 * (u[1] - u[0]*u[0])
}

func climbFrom(t *testing.T, o *Objective, start []float64, s Settings) Optimum {
	t.Helper()
	m, err := Optimize(context.Background(), o, start, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s = %v, want %v", what, got, want)
			return
		}
	}
}

// BFGS ends where at most 1e-9 is left to gain, that is within √(2e-9/λ) = 6e-5 in theta for the smallest eigenvalue
// λ = 0.6 of H; the other optimisers distinguish values to 1e-10.
func TestOptimizersFindAnInteriorOptimum(t *testing.T) {
	h := mat.NewSymDense(3, []float64{3, 1, 0, 1, 2, 0.5, 0, 0.5, 1})
	c := []float64{1, -2, 6}
	f, df := quadratic(h, c)
	for _, e := range Optimizers {
		t.Run(e.Name, func(t *testing.T) {
			m := climbFrom(t, functionOf(t, wide(3), f, df, entry{}), []float64{0, 0, 0}, Settings{Method: e.Name})
			near(t, "theta", m.Theta, c, 6e-5)
			if m.Status != Converged || len(m.Warnings) != 0 || len(m.AtBound) != 0 {
				t.Errorf("%s, warnings %q", m.Status, m.Warnings)
			}
		})
	}
}

func TestCurvedValley(t *testing.T) {
	for _, method := range []string{"bfgs", "lbfgs", "cg"} {
		m := climbFrom(t, functionOf(t, wide(2), rosenbrock, rosenbrockGradient, entry{}), []float64{-1.2, 1}, Settings{Method: method})
		if m.Status != Converged {
			t.Errorf("%s: %s after %d evaluations at %v", method, m.Status, m.Evaluations, m.Theta)
		}
		near(t, method, m.Theta, []float64{1, 1}, 1e-4)
	}
}

// The unconstrained optimum is (3, 3). The constrained optimum of each box was computed by hand from H(u-c) = 0 in
// the coordinates that are not at a bound.
func TestBounds(t *testing.T) {
	f, df := quadratic(mat.NewSymDense(2, []float64{2, 1, 1, 2}), []float64{3, 3})
	for _, c := range []struct {
		bounds      [][2]float64
		start, want []float64
		at          []AtBound
	}{
		{[][2]float64{{-5, 5}, {-5, 5}}, []float64{0, 0}, []float64{3, 3}, nil},
		{[][2]float64{{-5, 1}, {-5, 9}}, []float64{0, 0}, []float64{1, 4}, []AtBound{{"a", "upper", 1}}},
		{[][2]float64{{-5, 1}, {-5, 2}}, []float64{0, 0}, []float64{1, 2}, []AtBound{{"a", "upper", 1}, {"b", "upper", 2}}},
		{[][2]float64{{5, 9}, {-9, 9}}, []float64{5, -9}, []float64{5, 2}, []AtBound{{"a", "lower", 5}}},
		{[][2]float64{{-5, 5}, {-5, 5}}, []float64{-5, 5}, []float64{3, 3}, nil},                            // starts in a corner
		{[][2]float64{{-5, 1}, {-5, 9}}, []float64{40, -40}, []float64{1, 4}, []AtBound{{"a", "upper", 1}}}, // starts outside
		{[][2]float64{{-500, 500}, {-500, 500}}, []float64{-300, 200}, []float64{3, 3}, nil},                // starts far away
		{[][2]float64{{3, 9}, {-9, 9}}, []float64{8, 0}, []float64{3, 3}, []AtBound{{"a", "lower", 3}}},     // optimum at a bound
	} {
		for _, e := range Optimizers {
			m := climbFrom(t, functionOf(t, c.bounds, f, df, entry{}), c.start, Settings{Method: e.Name})
			near(t, fmt.Sprint(e.Name, " in ", c.bounds), m.Theta, c.want, 1e-4)
			if m.Status != Converged {
				t.Errorf("%s in %v: %s", e.Name, c.bounds, m.Status)
			}
			for _, b := range c.at {
				if !slices.Contains(m.AtBound, b) && math.Abs(m.Gradient[0]) > 1e-4 {
					t.Errorf("%s in %v: at bounds %v, want %v", e.Name, c.bounds, m.AtBound, c.at)
				}
			}
			if len(m.AtBound) > len(c.at) || len(m.AtBound) != len(m.Warnings) {
				t.Errorf("%s in %v: at bounds %v, want %v, with warnings %q", e.Name, c.bounds, m.AtBound, c.at, m.Warnings)
			}
		}
	}
}

// The valley leads out of the box and back into it, so a coordinate that has reached an edge has to be released.
func TestBoundsAreReleased(t *testing.T) {
	for _, bounds := range [][][2]float64{{{-1.3, 3}, {0, 3}}, {{-0.2, 3}, {0, 3}}, {{-1.5, 3}, {-1, 1.05}}} {
		m := climbFrom(t, functionOf(t, bounds, rosenbrock, rosenbrockGradient, entry{}), []float64{-1.2, 1}, Settings{})
		near(t, fmt.Sprint("optimum in ", bounds), m.Theta, []float64{1, 1}, 1e-4)
		if m.Status != Converged || len(m.AtBound) != 0 {
			t.Errorf("%s at %v in %v, at bounds %v", m.Status, m.Theta, bounds, m.AtBound)
		}
	}
}

func TestBoundIsNamed(t *testing.T) {
	f, df := quadratic(mat.NewSymDense(1, []float64{1}), []float64{3})
	m := climbFrom(t, functionOf(t, [][2]float64{{-1, 2}}, f, df, entry{}), []float64{0}, Settings{})
	want := "a ended at its upper bound 2"
	if !slices.Equal(cause.Texts(m.Warnings), []string{want}) {
		t.Errorf("warnings %q, want %q", m.Warnings, want)
	}
}

// A path goes from the start to the optimum, uphill and within the bounds, with the function's values and one step
// per iteration. Steps of steepest ascent are parallel to the gradient.
func TestPath(t *testing.T) {
	f, df := quadratic(mat.NewSymDense(2, []float64{2, 1, 1, 5}), []float64{3, -1})
	for _, e := range Optimizers {
		for _, bounds := range [][][2]float64{wide(2), {{-9, 2}, {-0.5, 9}}} {
			m := climbFrom(t, functionOf(t, bounds, f, df, entry{}), []float64{-40, 4}, Settings{Method: e.Name})
			start, last := clip([]float64{-40, 4}, []float64{bounds[0][0], bounds[1][0]}, []float64{bounds[0][1], bounds[1][1]}), len(m.Path)-1
			if last < 2 || last >= m.Evaluations || !slices.Equal(m.Path[0].Theta, start) || !slices.Equal(m.Path[last].Theta, m.Theta) {
				t.Fatalf("%s in %v: the path from %v to %v in %d evaluations is %v", e.Name, bounds, start, m.Theta, m.Evaluations, m.Path)
			}
			for i, s := range m.Path {
				if s.Value != f(s.Theta) || i > 0 && s.Value <= m.Path[i-1].Value || s.Theta[0] > bounds[0][1] || s.Theta[1] < bounds[1][0] {
					t.Errorf("%s in %v: step %d of %v", e.Name, bounds, i, m.Path)
				}
			}
		}
	}
	m := climbFrom(t, functionOf(t, wide(2), f, df, entry{}), []float64{0, 4}, Settings{Method: "gradient_descent"})
	g := make([]float64, 2)
	for i, s := range m.Path[1:] {
		df(g, m.Path[i].Theta)
		step := []float64{s.Theta[0] - m.Path[i].Theta[0], s.Theta[1] - m.Path[i].Theta[1]}
		if across := g[0]*step[1] - g[1]*step[0]; math.Abs(across) > 1e-9*floats.Norm(g, 2)*floats.Norm(step, 2)+1e-15 {
			t.Errorf("step %d of %d goes by %v where the gradient is %v", i+1, len(m.Path), step, g)
		}
	}
	if m := climbFrom(t, functionOf(t, nil, func([]float64) float64 { return 1 }, func(g, u []float64) {}, entry{}), nil, Settings{}); m.Path != nil {
		t.Errorf("with nothing to optimise there is the path %v", m.Path)
	}
}

// All kinds of failure occur left of u = -2, where the first step of BFGS lands.
func TestFailuresAreSteppedBackFrom(t *testing.T) {
	for name, bad := range map[string]func() float64{
		"error": func() float64 { return -1e9 },
		"NaN":   math.NaN,
		"+Inf":  func() float64 { return math.Inf(1) },
		"panic": func() float64 { panic(mat.ErrShape) },
	} {
		t.Run(name, func(t *testing.T) {
			broken := errors.New("broken")
			f := func(u []float64) float64 {
				if u[0] < -2 {
					return bad()
				}
				return -(u[0] + 1.9) * (u[0] + 1.9)
			}
			df := func(g, u []float64) { g[0] = -2 * (u[0] + 1.9) }
			e := entry{fail: func(v float64) error {
				if v == -1e9 {
					return broken
				}
				return nil
			}}
			m := climbFrom(t, functionOf(t, wide(1), f, df, e), []float64{-1.2}, Settings{})
			near(t, "theta", m.Theta, []float64{-1.9}, 1e-5)
			if m.Status != Converged || len(m.Fails) == 0 {
				t.Errorf("%s with %d failures", m.Status, len(m.Fails))
			}
			want := map[string]error{"error": broken, "NaN": ErrNotFinite, "+Inf": ErrNotFinite, "panic": mat.ErrShape}[name]
			for _, err := range m.Fails {
				if !errors.Is(err, want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("recorded %q, want %v in one line", err, want)
				}
			}
			if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0].Text, "evaluations failed") || strings.Contains(m.Warnings[0].Text, "\n") {
				t.Errorf("warnings %q", m.Warnings)
			}
		})
	}
}

func TestGradientFailureIsRecordedAndStops(t *testing.T) {
	f := func(u []float64) float64 { return -u[0] * u[0] }
	for name, df := range map[string]func(g, u []float64){
		"panic": func(g, u []float64) {
			g[0] = -2 * u[0]
			if u[0] < 2 {
				panic("gradient")
			}
		},
		"NaN": func(g, u []float64) {
			g[0] = -2 * u[0]
			if u[0] < 2 {
				g[0] = math.NaN()
			}
		},
	} {
		m := climbFrom(t, functionOf(t, wide(1), f, df, entry{}), []float64{3}, Settings{})
		if m.Status != Stalled || len(m.Fails) == 0 || m.Value < -9 {
			t.Errorf("%s: %s at %v with %d failures", name, m.Status, m.Theta, len(m.Fails))
		}
	}
}

func TestStartThatFailsIsAnError(t *testing.T) {
	f := func([]float64) float64 { return math.NaN() }
	m, err := Optimize(context.Background(), functionOf(t, wide(1), f, nil, entry{}), []float64{0.5}, Settings{})
	if !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "a=0.5") || m.Status != Failed || !math.IsNaN(m.Value) {
		t.Errorf("%+v, error %v", m, err)
	}
}

func TestNothingFreeIsOneEvaluation(t *testing.T) {
	m := climbFrom(t, functionOf(t, nil, func([]float64) float64 { return -7 }, nil, entry{noGradient: true}), nil, Settings{})
	if m.Status != Evaluated || m.Evaluations != 1 || m.Value != -7 || len(m.Warnings) != 0 {
		t.Errorf("%+v", m)
	}
}

func TestPairWithoutGradientIsRefused(t *testing.T) {
	f, df := quadratic(mat.NewSymDense(1, []float64{1}), []float64{3})
	o := functionOf(t, wide(1), f, df, entry{noGradient: true})
	if _, err := Optimize(context.Background(), o, []float64{0}, Settings{}); err == nil || !strings.Contains(err.Error(), "nelder_mead") {
		t.Errorf("error %v", err)
	}
	p := NewRun(context.Background(), o).problem([]float64{-9}, []float64{9})
	if p.Grad != nil || p.Func([]float64{1}) != 2 {
		t.Errorf("the problem has a gradient or the value %v, want 2", p.Func([]float64{1}))
	}
}

// Differences agree with exact gradients up to their error, h²/6 times the third derivative.
func TestDifferencesAgreeWithExactGradients(t *testing.T) {
	o := freeRegression(t)
	for _, free := range [][]float64{{0, 0, 0, -1}, {1, -0.5, 0.4, -2}, {-3, 2, -5, 1}} {
		exact, r := NewRun(context.Background(), o), NewRun(context.Background(), o)
		r.gradients = Differences
		want, got := make([]float64, 4), make([]float64, 4)
		if err := errors.Join(exact.Gradient(want, free), r.Gradient(got, free)); err != nil {
			t.Fatal(err)
		}
		scale := max(1, floats.Norm(want, math.Inf(1)))
		near(t, "gradient", got, want, 1e-6*scale)
		if r.Evaluations != 9 || Differences.Evaluations(4) != 9 || Exact.Evaluations(4) != 1 {
			t.Errorf("%d evaluations, want 9", r.Evaluations)
		}
	}
}

// With differences an objective without exact gradient can be optimised. Every fit is counted.
func TestClimbingByDifferences(t *testing.T) {
	h := mat.NewSymDense(3, []float64{3, 1, 0, 1, 2, 0.5, 0, 0.5, 1})
	c := []float64{1, -2, 6}
	f, df := quadratic(h, c)
	for _, e := range Optimizers {
		calls := 0
		counted := func(u []float64) float64 { calls++; return f(u) }
		m := climbFrom(t, functionOf(t, wide(3), counted, df, entry{noGradient: true}), []float64{0, 0, 0}, Settings{Method: e.Name, Gradients: Differences})
		near(t, e.Name, m.Theta, c, 6e-5)
		if m.Status != Converged || m.Evaluations != calls || len(m.Warnings) != 0 {
			t.Errorf("%s: %s, %d evaluations of %d calls, warnings %q", e.Name, m.Status, m.Evaluations, calls, m.Warnings)
		}
	}
	failing := entry{noGradient: true, fail: func(v float64) error {
		if v > -8 {
			return approx.ErrNotConverged
		}
		return nil
	}}
	m := climbFrom(t, functionOf(t, wide(3), f, df, failing), []float64{0, 0, 0}, Settings{Gradients: Differences})
	if m.Value > -8 || m.Value < f([]float64{0, 0, 0}) || len(m.Fails) == 0 || !errors.Is(m.Fails[0], approx.ErrNotConverged) {
		t.Errorf("%v, fails %v", m.Value, m.Fails)
	}
}

// If a value may depend on the start of its fit, all fits start cold.
func TestValuesOfThetaAloneAreCold(t *testing.T) {
	for _, differences := range []bool{true, false} {
		o := functionOf(t, wide(2), rosenbrock, rosenbrockGradient, entry{})
		cold, warm := 0, 0
		o.model.Inference = warmly{cold: &cold, warm: &warm}
		o.caps.Unconverged = !differences
		r := NewRun(context.Background(), o)
		if differences {
			r.gradients = Differences
		}
		for _, u := range [][]float64{{1, 2}, {3, 4}, {3, 5}} {
			if err := r.Gradient(make([]float64, 2), u); err != nil {
				t.Fatal(err)
			}
		}
		if cold != r.Evaluations || warm != 0 {
			t.Errorf("differences %v: %d cold and %d warm of %d evaluations", differences, cold, warm, r.Evaluations)
		}
	}
}

func TestGradientNames(t *testing.T) {
	var g Gradients
	if g.UnmarshalText([]byte("differences")) != nil || g != Differences || g.UnmarshalText([]byte("exact")) != nil || g != Exact {
		t.Error("names of gradients")
	}
	if err := g.UnmarshalText([]byte("difference")); err == nil || !strings.Contains(err.Error(), "differences") {
		t.Errorf("error %v", err)
	}
}

func TestUnknownMethodIsAnError(t *testing.T) {
	o := functionOf(t, wide(1), func([]float64) float64 { return 0 }, nil, entry{})
	if _, err := Optimize(context.Background(), o, []float64{0}, Settings{Method: "bgfs"}); err == nil || !strings.Contains(err.Error(), `"bfgs"`) {
		t.Errorf("error %v", err)
	}
}

func TestEvaluationLimit(t *testing.T) {
	calls := 0
	f := func(u []float64) float64 { calls++; return rosenbrock(u) }
	m := climbFrom(t, functionOf(t, wide(2), f, rosenbrockGradient, entry{}), []float64{-1.2, 1}, Settings{Evaluations: 10})
	if m.Status != EvaluationLimit || m.Evaluations != calls || calls > 11 || m.Value < rosenbrock([]float64{-1.2, 1}) || len(m.Warnings) != 1 {
		t.Errorf("%+v after %d calls", m, calls)
	}
}

func TestTheBestEvaluatedPointIsReturned(t *testing.T) {
	for limit := 1; limit < 60; limit++ {
		best := math.Inf(-1)
		f := func(u []float64) float64 {
			v := rosenbrock(u)
			best = max(best, v)
			return v
		}
		m := climbFrom(t, functionOf(t, wide(2), f, rosenbrockGradient, entry{}), []float64{-1.2, 1}, Settings{Evaluations: limit})
		if m.Value != best || rosenbrock(m.Theta) != best {
			t.Errorf("limit %d: value %v at %v, best evaluated %v", limit, m.Value, m.Theta, best)
		}
	}
}

// On a flattening slope quasi-Newton steps grow rapidly between iterations and would jump over the hill.
func TestWildStepsAreCutShort(t *testing.T) {
	hill := func(u float64) float64 { return 5 * math.Exp(-(u-1)*(u-1)/0.36) }
	f := func(u []float64) float64 { return hill(u[0]) - math.Exp(-0.02*(u[0]+9)) }
	df := func(g, u []float64) { g[0] = -2*(u[0]-1)/0.36*hill(u[0]) + 0.02*math.Exp(-0.02*(u[0]+9)) }
	for _, method := range []string{"bfgs", "lbfgs"} {
		m := climbFrom(t, functionOf(t, wide(1), f, df, entry{}), []float64{-9}, Settings{Method: method})
		if m.Status != Converged || math.Abs(m.Theta[0]-1) > 0.01 {
			t.Errorf("%s: %s with value %v at %v", method, m.Status, m.Value, m.Theta)
		}
	}
}

func TestCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	f := func(u []float64) float64 {
		if calls++; calls == 5 {
			cancel()
		}
		return rosenbrock(u)
	}
	m, err := Optimize(ctx, functionOf(t, wide(2), f, rosenbrockGradient, entry{}), []float64{-1.2, 1}, Settings{})
	if !errors.Is(err, context.Canceled) || m.Status != Interrupted || calls > 6 || m.Theta == nil {
		t.Errorf("%+v after %d calls, error %v", m, calls, err)
	}
}

// waves has many local maxima of different values.
func waves(u []float64) float64 {
	return math.Cos(3*u[0])*math.Cos(2*u[1]) - 0.1*(u[0]-1)*(u[0]-1) - 0.1*u[1]*u[1]
}

func wavesGradient(g, u []float64) {
	g[0] = -3*math.Sin(3*u[0])*math.Cos(2*u[1]) - 0.2*(u[0]-1)
	g[1] = -2*math.Cos(3*u[0])*math.Sin(2*u[1]) - 0.2*u[1]
}

func TestMoreRestartsAreNeverWorse(t *testing.T) {
	o := functionOf(t, wide(2), waves, wavesGradient, entry{})
	last, distinct := math.Inf(-1), map[float64]bool{}
	for count := 1; count <= 12; count++ {
		m, err := Maximize(context.Background(), o, Restarts{Count: count, Seed: 5}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if m.Value < last || len(m.All) != count {
			t.Errorf("%d restarts: value %v after %v", count, m.Value, last)
		}
		for _, a := range m.All {
			if a.Optimum.Value > m.Value {
				t.Errorf("restart at %v beats the chosen %v", a.Optimum.Value, m.Value)
			}
			distinct[math.Round(1e6*a.Optimum.Value)] = true
		}
		last = m.Value
	}
	if len(distinct) < 3 {
		t.Errorf("only %d distinct optima: the test says nothing", len(distinct))
	}
}

func TestWorkersDoNotChangeTheResult(t *testing.T) {
	o := functionOf(t, wide(2), waves, wavesGradient, entry{})
	one, err1 := Maximize(context.Background(), o, Restarts{Count: 9, Seed: 2, Workers: 1}, Settings{})
	eight, err8 := Maximize(context.Background(), o, Restarts{Count: 9, Seed: 2, Workers: 8}, Settings{})
	if err1 != nil || err8 != nil || !reflect.DeepEqual(one, eight) {
		t.Errorf("1 worker: %+v, %v\n8 workers: %+v, %v", one, err1, eight, err8)
	}
}

func TestFailedRestartsAreKeptAndCannotWin(t *testing.T) {
	f := func(u []float64) float64 {
		if u[0] > 0.5 {
			return math.NaN()
		}
		return waves(u)
	}
	m, err := Maximize(context.Background(), functionOf(t, wide(2), f, wavesGradient, entry{}), Restarts{Count: 8, Seed: 1}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for i, a := range m.All {
		if a.Err != nil {
			failed++
			if i == m.Chosen {
				t.Error("a failed restart was chosen")
			}
		}
	}
	if failed == 0 || failed == len(m.All) {
		t.Errorf("%d of %d restarts failed: the test says nothing", failed, len(m.All))
	}
	all := functionOf(t, wide(1), func([]float64) float64 { return math.NaN() }, nil, entry{})
	if m, err := Maximize(context.Background(), all, Restarts{Count: 3}, Settings{}); !errors.Is(err, ErrNotFinite) || m.Chosen != -1 {
		t.Errorf("all failed: chosen %d, error %v", m.Chosen, err)
	}
}

// On a flattening slope the average curvature along a step exceeds that at its end, which makes the next steps too
// short.
func TestBFGSOnAFlatteningSlope(t *testing.T) {
	f := func(u []float64) float64 { return -(200*math.Exp(-u[0]) + u[0] + 20*math.Exp(-u[1]) + u[1]) }
	df := func(g, u []float64) { g[0], g[1] = 200*math.Exp(-u[0])-1, 20*math.Exp(-u[1])-1 }
	m := climbFrom(t, functionOf(t, wide(2), f, df, entry{}), []float64{0, 0}, Settings{})
	near(t, "theta", m.Theta, []float64{math.Log(200), math.Log(20)}, 1e-3)
	if m.Status != Converged || m.Evaluations > 15 {
		t.Errorf("%s after %d evaluations", m.Status, m.Evaluations)
	}
}

// If squares of gradients overflow, the inverse Hessian computed from them is 0 and its steps have length 0; steps
// along the gradient still work.
func TestBFGSWhereSquaresOverflow(t *testing.T) {
	f := func(u []float64) float64 { return -1e200 * ((u[0]-1)*(u[0]-1) + 3*(u[1]+2)*(u[1]+2)) }
	df := func(g, u []float64) { g[0], g[1] = -2e200*(u[0]-1), -6e200*(u[1]+2) }
	m := climbFrom(t, functionOf(t, wide(2), f, df, entry{}), []float64{0, 0}, Settings{})
	near(t, "theta", m.Theta, []float64{1, -2}, 1e-2)
}

// A part of a kernel whose amplitude is below a thousandth of the largest one is switched off; without another part, and
// above that, none is.
func TestFaintPartsAreSwitchedOff(t *testing.T) {
	for _, c := range []struct {
		at   []float64
		term []bool
		want int
	}{
		{[]float64{1, 5e-4}, []bool{true, true}, 1}, {[]float64{1, 5e-3}, []bool{true, true}, 0},
		{[]float64{1, 5e-4}, []bool{false, true}, 0}, {[]float64{1, 5e-4}, []bool{true, false}, 0},
	} {
		f, df := quadratic(mat.NewSymDense(2, []float64{1, 0, 0, 1}), c.at)
		o := functionOf(t, wide(2), f, df, entry{})
		for i, of := range c.term {
			o.Layout.Specs[i].Term = of
		}
		m, found := climbFrom(t, o, []float64{2, 2}, Settings{}), 0
		for _, w := range m.Warnings {
			if w.Kind == cause.SwitchedOff && strings.HasPrefix(w.Text, "b = 0.0005") {
				found++
			}
		}
		if found != c.want || len(m.Warnings) != c.want {
			t.Errorf("%+v: %q", c, m.Warnings)
		}
	}
}
