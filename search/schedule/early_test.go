package schedule

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// curve has the values at the steps 1, 2, ….
func curve(values ...float64) (all []record.Interim) {
	for i, v := range values {
		all = append(all, record.Interim{Step: float64(i + 1), Value: record.Number(v)})
	}
	return all
}

// The averages of five earlier trials up to step 2 are 1, 2, 3, 4 and 5, with the median 3.
func TestMedian(t *testing.T) {
	earlier := [][]record.Interim{curve(0, 2, 100), curve(1, 3), curve(3, 3, 0), curve(5, 3), curve(5, 5)}
	for _, c := range []struct {
		rule  Median
		sofar []record.Interim
		want  bool
	}{
		{Median{}, curve(2, 2.9), true}, {Median{}, curve(2, 3), false}, {Median{}, curve(3, 0), false},
		{Median{Trials: 6}, curve(2, 2.9), false}, {Median{From: 3}, curve(2, 2.9), false},
		{Median{}, nil, false},
	} {
		if c.sofar != nil && c.rule.Stops(c.sofar, earlier) != c.want {
			t.Errorf("%+v at %v: stops %t", c.rule, c.sofar, !c.want)
		}
	}
	if (Median{}).Stops(curve(-9), earlier[:4]) {
		t.Error("stops with four earlier trials")
	}
}

// Of six trials at step 1, or 3, with eta 3 the best two go on; of two all do. There is no rung at step 2.
func TestAsynchronousHalving(t *testing.T) {
	earlier := [][]record.Interim{curve(1, 0, 5), curve(2, 0, 4), curve(3, 0, 3), curve(4, 0, 2), curve(5, 0, 1)}
	for _, c := range []struct {
		rule  AsynchronousHalving
		sofar []record.Interim
		want  bool
	}{
		{AsynchronousHalving{}, curve(4.5), false}, {AsynchronousHalving{}, curve(3.5), true},
		{AsynchronousHalving{}, curve(4.5, -9), false}, {AsynchronousHalving{}, curve(4.5, -9, 4.5), false},
		{AsynchronousHalving{}, curve(4.5, 9, 3.5), true}, {AsynchronousHalving{From: 2}, curve(-9), false},
		{AsynchronousHalving{Eta: 6}, curve(4.5), true}, {AsynchronousHalving{Eta: 7}, curve(-9), false},
	} {
		if c.rule.Stops(c.sofar, earlier) != c.want {
			t.Errorf("%+v at %v: stops %t", c.rule, c.sofar, !c.want)
		}
	}
	jump := []record.Interim{{Step: 2, Value: 9}, {Step: 10, Value: 3.5}} // rungs 3 and 9 are decided at step 10
	if !(AsynchronousHalving{}).Stops(jump, earlier) {
		t.Error("a trial that steps over a rung is not compared there")
	}
}

// Trials that end early have their last value on the way, cannot win, and are the same for any number of workers, also after
// an interruption.
func TestEarlyStop(t *testing.T) {
	value := func(ctx context.Context, x []float64) (float64, error) {
		for step := 1.0; step <= 9; step++ {
			if v := -math.Abs(x[0]-0.3) - 1/step; EvaluationOf(ctx).Report(step, v) {
				return math.NaN(), ErrEarly
			}
		}
		return -math.Abs(x[0] - 0.3), nil
	}
	for name, strategy := range map[string]search.Strategy{
		"one batch": search.Sobol{Design: search.Design{Trials: 40}}, "batches": search.Bayes{Trials: 20, Batch: 4},
	} {
		t.Run(name, func(t *testing.T) {
			studies := []Study{Function{Space: search.Space{param.Between("x", param.Identity, 0, 1)}, Strategy: strategy,
				Seed: 1, Early: Median{}, Value: value}.Study("early")}
			one := mustOpen(t, "")
			mustRun(t, studies, one, Options{Workers: 1})
			early, trials := 0, []record.Trial{}
			for _, line := range one.Lines() {
				if line.Trial == nil {
					continue
				}
				trial := *line.Trial
				trials = append(trials, trial)
				if n := len(trial.Interim); trial.Early {
					early++
					if n == 9 || trial.Points[0].Value != trial.Interim[n-1].Value || !trial.Preliminary {
						t.Errorf("stopped early: %+v", trial)
					}
				} else if n != 9 {
					t.Errorf("not stopped after %d steps", n)
				}
			}
			if early < len(trials)/4 {
				t.Errorf("%d of %d trials stopped early", early, len(trials))
			}
			if i, _, err := search.Winner(trials); err != nil || trials[i].Early {
				t.Errorf("trial %d is the best: %v", i, err)
			}
			four := mustOpen(t, "")
			mustRun(t, studies, four, Options{Workers: 4})
			if a, b := canonical(one.Lines()), canonical(four.Lines()); a != b {
				t.Errorf("one worker:\n%s\nfour:\n%s", a, b)
			}
			dir := t.TempDir()
			for _, after := range []int{3, 9, 14, 1 << 30} {
				ctx, cancel := context.WithCancel(t.Context())
				some := studies[0]
				n, whole := 0, some.Value
				some.Value = func(ctx context.Context, theta []float64) (float64, error) {
					if n++; n > after {
						cancel()
						return 0, ctx.Err()
					}
					return whole(ctx, theta)
				}
				j := mustOpen(t, dir)
				Run(ctx, []Study{some}, j, Options{Workers: 1})
				mustClose(t, j)
			}
			if a, b := canonical(one.Lines()), canonical(mustOpen(t, dir).Lines()); a != b {
				t.Errorf("in one go:\n%s\ninterrupted:\n%s", a, b)
			}
		})
	}
}

// How often a rule ends the trial that would have been the best of 60, and the fraction of the steps
// that run, on learning curves a - b t^(-c) with noise of standard deviation 0.01: a uniform in
// [0.5, 1], b in [0.1, 0.6], c in [0.3, 1.3], 27 steps. docs/evidence.md has these figures, of 2000
// searches.
func TestRatesOfEarlyStops(t *testing.T) {
	n := exhaustive.Of(20, 2000)
	for _, c := range []struct {
		rule       EarlyStop
		cut, steps float64
	}{
		{Median{}, 0.024, 0.56}, {Median{From: 9}, 0, 0.78},
		{AsynchronousHalving{}, 0.123, 0.30}, {AsynchronousHalving{From: 3}, 0.003, 0.40},
	} {
		lost, ran := 0.0, 0.0
		for seed := range n {
			cut, steps := simulated(c.rule, rand.New(rand.NewPCG(uint64(seed), 1)))
			if ran += float64(steps) / (60 * 27) / float64(n); cut {
				lost++
			}
		}
		error := 4*math.Sqrt(float64(n)*c.cut*(1-c.cut)) + 1
		if math.Abs(lost-c.cut*float64(n)) > error || math.Abs(ran-c.steps) > 0.03 {
			t.Errorf("%+v: %v of %d cut, want %.1f %%; %.3f of the steps, want %.2f", c.rule, lost, n, 100*c.cut, ran, c.steps)
		}
	}
}

// simulated reports whether the trial with the best last value was ended, and the number of steps.
func simulated(rule EarlyStop, rng *rand.Rand) (bestCut bool, ran int) {
	var before, batch [][]record.Interim
	best := math.Inf(-1)
	for trial := range 60 {
		a, b, power := 0.5+0.5*rng.Float64(), 0.1+0.5*rng.Float64(), 0.3+rng.Float64()
		var all []record.Interim
		cut := false
		for step := 1; step <= 27; step++ {
			v := a - b*math.Pow(float64(step), -power) + 0.01*rng.NormFloat64()
			if !cut {
				all = append(all, record.Interim{Step: float64(step), Value: record.Number(v)})
				ran++
				cut = rule.Stops(all, before)
			}
			if step == 27 && v > best {
				best, bestCut = v, cut
			}
		}
		if batch = append(batch, all); trial%earlyBatch == earlyBatch-1 {
			before, batch = append(before, batch...), nil
		}
	}
	return bestCut, ran
}

// A step that is not finite is ignored: the rungs of successive halving would have no end.
func TestStepsAreFinite(t *testing.T) {
	e := &Evaluation{rule: AsynchronousHalving{}}
	for _, step := range []float64{math.Inf(1), math.NaN(), math.Inf(-1)} {
		if e.Report(step, 1) || len(e.reported()) > 0 {
			t.Errorf("step %v: recorded %v", step, e.reported())
		}
	}
	if e.Report(math.MaxFloat64, 1); len(e.reported()) != 1 {
		t.Errorf("recorded %v, want the largest finite step", e.reported())
	}
}
