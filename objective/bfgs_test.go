package objective

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

// searches records a minimisation: the start of every line search and the points that it tried.
type searches []search

type search struct {
	from  []float64
	tried [][]float64
}

func (*searches) Init() error { return nil }

func (r *searches) Record(at *optimize.Location, op optimize.Operation, _ *optimize.Stats) error {
	if op == optimize.MajorIteration {
		*r = append(*r, search{from: slices.Clone(at.X)})
	}
	return nil
}

func minimised(t *testing.T, f func(x []float64) float64, df func(g, x []float64), start []float64) (searches, *optimize.Result) {
	t.Helper()
	var all searches
	problem := optimize.Problem{Grad: df, Func: func(x []float64) float64 {
		if len(all) > 0 {
			s := &all[len(all)-1]
			s.tried = append(s.tried, slices.Clone(x))
		}
		return f(x)
	}}
	result, err := optimize.Minimize(problem, start, &optimize.Settings{Recorder: &all, GradientThreshold: 1e-6, FuncEvaluations: 200}, &quasiNewton{threshold: 1e-6})
	if result == nil {
		t.Fatal(err)
	}
	return all, result
}

// Far outside a well, where the slope grows towards it, each step of a line search is three to four times as long as
// the step before.
func TestLineSearchGoesOnWhereTheSlopeGrows(t *testing.T) {
	const at, width = 300.0, 60.0
	f := func(x []float64) float64 { return -1e6 * math.Exp(-(x[0]-at)*(x[0]-at)/(2*width*width)) }
	df := func(g, x []float64) { g[0] = (x[0] - at) / (width * width) * -f(x) }
	all, result := minimised(t, f, df, []float64{0})
	if math.Abs(result.X[0]-at) > 0.1 || len(all) == 0 {
		t.Fatalf("the minimum is at %v, want %v", result.X, at)
	}
	first := all[0]
	if len(first.tried) < 4 || math.Abs(first.tried[0][0]-stride) > 1e-12 {
		t.Fatalf("the first line search tried %v", first.tried)
	}
	for k := 1; k < 4; k++ {
		if r := first.tried[k][0] / first.tried[k-1][0]; !(r >= 3 && r <= 4+1e-9) {
			t.Errorf("step %v after %v", first.tried[k][0], first.tried[k-1][0])
		}
	}
}

// TestFirstTrialsAreBounded: no entry of the first step of a line search exceeds the larger of stride and four times
// the largest entry of the step before. After a long step the first step may be long.
func TestFirstTrialsAreBounded(t *testing.T) {
	f := func(x []float64) float64 {
		return math.Sqrt(1+(x[0]-300)*(x[0]-300)) + 0.9*math.Sqrt(1+(x[1]-250)*(x[1]-250))
	}
	df := func(g, x []float64) {
		g[0] = (x[0] - 300) / math.Sqrt(1+(x[0]-300)*(x[0]-300))
		g[1] = 0.9 * (x[1] - 250) / math.Sqrt(1+(x[1]-250)*(x[1]-250))
	}
	all, result := minimised(t, f, df, []float64{0, 0.5})
	if math.Abs(result.X[0]-300) > 1e-3 || math.Abs(result.X[1]-250) > 1e-3 {
		t.Errorf("the minimum is at %v, want 300 and 250", result.X)
	}
	last, long := 0.0, 0
	step := make([]float64, 2)
	for k, s := range all {
		if k > 0 {
			floats.SubTo(step, s.from, all[k-1].from)
			last = floats.Norm(step, math.Inf(1))
		}
		if len(s.tried) == 0 {
			continue
		}
		floats.SubTo(step, s.tried[0], s.from)
		length, limit := floats.Norm(step, math.Inf(1)), max(stride, 4*last)
		if length > limit*(1+1e-9) {
			t.Errorf("line search %d begins with %v; the step before had entries up to %v", k, step, last)
		}
		if last > stride && length > 2*stride {
			long++
		}
	}
	if long == 0 {
		t.Error("no long step began with another")
	}
}

// TestClimbsGoOnWhileThereIsMuchToGain: a minimisation may end before the gradient is below the threshold only if
// almost nothing is left to gain. In a flat quartic bowl, whose gradient falls slowly, much is left, so it must go on
// to the threshold.
func TestClimbsGoOnWhileThereIsMuchToGain(t *testing.T) {
	const threshold = 1e-3
	f := func(x []float64) float64 { return 1e-4*math.Pow(x[0]-5, 4) + 3e-4*math.Pow(x[1]+2, 4) }
	df := func(g, x []float64) { g[0], g[1] = 4e-4*math.Pow(x[0]-5, 3), 12e-4*math.Pow(x[1]+2, 3) }
	for k := range 20 {
		start := []float64{-3 + 0.2*float64(k), 4 - 0.1*float64(k)}
		result, err := optimize.Minimize(optimize.Problem{Func: f, Grad: df}, start, &optimize.Settings{GradientThreshold: threshold}, &quasiNewton{threshold: threshold})
		if err != nil || result.Status != optimize.GradientThreshold {
			t.Fatalf("from %v: %v, %v", start, result.Status, err)
		}
		if g := floats.Norm(result.Gradient, math.Inf(1)); g > threshold {
			t.Errorf("from %v: ends with the gradient %v", start, result.Gradient)
		}
	}
}
