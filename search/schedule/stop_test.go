package schedule

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"testing/synctest"
	"time"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// listed proposes these values of one hyperparameter, in one batch or one at a time.
type listed struct {
	values []float64
	atOnce bool
}

func (listed) Check(search.Space) error { return nil }
func (listed) Optimizer() string        { return "" }
func (l listed) Budget(search.Space) search.Budget {
	if l.atOnce {
		return search.Budget{Trials: len(l.values)}
	}
	return search.Budget{Trials: len(l.values), AtOnce: 1}
}
func (l listed) Ask(_ search.Space, done []record.Trial, _ uint64) (all []search.Proposal) {
	for _, u := range l.values[len(done):] {
		all = append(all, search.Proposal{Points: [][]float64{{u}}})
	}
	switch {
	case len(all) == 0 || l.atOnce && len(done) > 0:
		return nil
	case l.atOnce:
		return all
	}
	return all[:1]
}

// identity is a study whose objective is the hyperparameter itself. Values above 100 fail.
func identity(l listed, ran *atomic.Int32) Study {
	return Study{
		Key: "identity", Space: search.Space{spaces.Spec("x", 0, 1)}, Strategy: l,
		Trial: func(_ context.Context, _ int, p search.Proposal) (record.Trial, error) {
			ran.Add(1)
			if p.Points[0][0] > 100 {
				return record.Trial{}, errors.New("too large")
			}
			return record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0]), Value: record.Number(p.Points[0][0])}}}, nil
		},
		Assess: func(context.Context, int, []float64, []record.Trial) (record.Fit, error) {
			return record.Fit{TrainCounts: []int{1, 1}, Natural: []record.Number{1}}, nil
		},
	}
}

// stoppedBy runs a study and returns the number of its trials on record, and the reason for the end
// of the search in its assessment.
func stoppedBy(t *testing.T, s Study, j *journal.Journal, o Options) (trials int, why string) {
	t.Helper()
	mustRun(t, []Study{s}, j, o)
	for _, line := range j.Lines() {
		if line.Trial != nil {
			trials++
			continue
		}
		for _, n := range line.Fit.Warnings {
			if n.Kind == cause.SearchStopped {
				why += n.Text
			}
		}
	}
	return trials, why
}

// A point that is proposed again, in the same batch or later, failed or not, is answered with the
// result that is on record.
func TestNoPointIsComputedTwice(t *testing.T) {
	for _, atOnce := range []bool{true, false} {
		for _, tuning := range []string{"", "shared"} {
			ran := atomic.Int32{}
			s := identity(listed{[]float64{3, 1, 3, 200, 3, 1, 200}, atOnce}, &ran)
			s.Tuning = tuning
			j := mustOpen(t, "")
			sum := mustRun(t, []Study{s}, j, Options{Workers: 1})
			if ran.Load() != 3 || sum != (Summary{Done: 8, Failed: 2, Total: 8}) {
				t.Errorf("at once %v, tuning %q: %d points were computed, want 3; %+v", atOnce, tuning, ran.Load(), sum)
			}
			for i, line := range j.Lines()[:7] {
				if theta := line.Trial.Theta(); line.Trial.Index != i || theta[0] != s.Strategy.(listed).values[i] {
					t.Errorf("trial %d is %+v", i, line.Trial)
				}
			}
			if n, err := Recorded([]Study{s}, j); n != 8 || err != nil {
				t.Errorf("%d on record, %v", n, err)
			}
		}
	}
}

// Searches end by each criterion where its definition says, for strategies with one batch and with
// many, in one run or in many that are interrupted after every job, and say why.
func TestSearchesStop(t *testing.T) {
	target := 4.0
	values := []float64{0, 2, 1, 2, 2 + 1e-7, 200, 3, 4, 5, 6}
	for _, c := range []struct {
		stop Stop
		want int
		says string
	}{
		{Stop{Patience: 3}, 5, "stopped after 5 of at most 10 trials by patience: none of the last 3 improved the best value"},
		{Stop{Patience: 4}, 6, "stopped after 6 of at most 10 trials by patience: none of the last 4 improved the best value"},
		{Stop{Patience: 5}, 10, ""},
		{Stop{Target: &target}, 8, "stopped after 8 of at most 10 trials by target: it was reached"},
		{Stop{Target: &target, Patience: 4}, 6, "stopped after 6 of at most 10 trials by patience: none of the last 4 improved the best value"},
		{Stop{}, 10, ""},
	} {
		for _, atOnce := range []bool{true, false} {
			s := identity(listed{values, atOnce}, new(atomic.Int32))
			s.Stop = c.stop
			trials, why := stoppedBy(t, s, mustOpen(t, ""), Options{Workers: 3})
			if trials != c.want || why != c.says {
				t.Errorf("%+v, at once %v: %d trials, %q; want %d, %q", c.stop, atOnce, trials, why, c.want, c.says)
			}
			j, runs := mustOpen(t, ""), 0
			for {
				drain := make(chan struct{})
				once := s
				trial := s.Trial
				once.Trial = func(ctx context.Context, i int, p search.Proposal) (record.Trial, error) {
					close(drain)
					return trial(ctx, i, p)
				}
				runs++
				if _, err := Run(context.Background(), []Study{once}, j, Options{Workers: 1, Drain: drain}); err == nil {
					break
				} else if !errors.Is(err, ErrStopped) {
					t.Fatal(err)
				}
			}
			if again, says := stoppedBy(t, s, j, Options{}); again != trials || says != why || runs < 5 {
				t.Errorf("%+v in %d runs: %d trials, %q; want %d, %q", c.stop, runs, again, says, trials, why)
			}
		}
	}
}

// A search ends once its trials have taken the declared time, also if another process continues it,
// and studies that copy its trials, or follow it, end with it.
func TestSearchesStopInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := identity(listed{[]float64{1, 2, 3, 4, 5, 6, 7}, true}, new(atomic.Int32))
		s.Stop.Time = "1m"
		trial := s.Trial
		s.Trial = func(ctx context.Context, i int, p search.Proposal) (record.Trial, error) {
			time.Sleep(17 * time.Second)
			return trial(ctx, i, p)
		}
		copies, leader, twin := s, s, s
		s.Tuning, copies.Tuning = "same", "same"
		copies.Key, copies.Index = "copies", 1
		leader.Key, leader.Index = "leader", 2
		twin.Key, twin.Index, twin.SameAs = "twin", 3, "leader"
		twin.Trial = trial // it finds the results that were kept
		j := mustOpen(t, "")
		mustRun(t, []Study{s, copies, leader, twin}, j, Options{Workers: 2})
		if n := len(j.Lines()); n != 4*5 {
			t.Errorf("%d lines, want four trials of 17 s and an assessment, four times", n)
		}
		for _, line := range j.Lines() {
			if line.Fit != nil && (len(line.Fit.Warnings) != 1 || !strings.Contains(line.Fit.Warnings[0].Text, "after 4 of at most 7 trials by time: they took 1m")) {
				t.Errorf("%+v", line.Fit.Warnings)
			}
		}
		mustRun(t, []Study{s, copies, leader, twin}, j, Options{Workers: 2})
		if n := len(j.Lines()); n != 4*5 {
			t.Errorf("%d lines after another run", n)
		}
	})
}

// Bayesian optimisation of a smooth function stops close to the maximum, long before its budget is
// used: it expects no improvement that is worth a trial.
func TestBayesStopsWhenNothingIsToBeGained(t *testing.T) {
	s := spaces.Surfaces["bowl"]
	study := Study{Key: "bowl", Space: s.Space, Strategy: search.Bayes{Trials: 100}, Stop: Stop{Improvement: 1e-2},
		Value: func(_ context.Context, theta []float64) (float64, error) { return s.At(theta), nil }}
	j := mustOpen(t, "")
	trials, why := stoppedBy(t, study, j, Options{})
	var all []record.Trial
	for _, line := range j.Lines() {
		if line.Trial != nil {
			all = append(all, *line.Trial)
		}
	}
	_, best, err := search.Winner(all)
	if err != nil || trials >= 60 || !strings.Contains(why, "by improvement: the next was expected to gain") || s.Best-float64(best.Value) > 0.05 {
		t.Errorf("%d trials, %q, %v below the maximum, %v", trials, why, s.Best-float64(best.Value), err)
	}
}

var draws = flag.Int("draws", 0, "functions of each dimension on which TestRegretIsBounded runs, 0 for few")

// drawn is a function on the unit cube drawn from a Gaussian process with kernel Matérn 5/2, as Bayes' regression
// expects it: the sum of 1000 waves whose frequencies have the spectral density of the kernel, a t distribution with 5
// degrees of freedom.
func drawn(d int, rng *rand.Rand) func(u []float64) float64 {
	const waves = 1000
	amplitude, scale := math.Exp(rng.NormFloat64())*math.Sqrt(2./waves), make([]float64, d)
	for j := range scale {
		scale[j] = 0.5 * math.Sqrt(float64(d)) * math.Exp(rng.NormFloat64())
	}
	frequency, phase, height := make([][]float64, waves), make([]float64, waves), make([]float64, waves)
	for i := range waves {
		chi := 0.0
		for range 5 {
			z := rng.NormFloat64()
			chi += z * z
		}
		for j := range d {
			frequency[i] = append(frequency[i], rng.NormFloat64()*math.Sqrt(5/chi)/scale[j])
		}
		phase[i], height[i] = 2*math.Pi*rng.Float64(), amplitude*rng.NormFloat64()
	}
	return func(u []float64) (total float64) {
		for i := range waves {
			total += height[i] * math.Cos(phase[i]+floats.Dot(frequency[i], u))
		}
		return total
	}
}

// summit is the maximum of a function on the unit cube, and sd its standard deviation over it.
func summit(f func(u []float64) float64, d int) (top, sd float64) {
	var points [][]float64
	for _, p := range (search.Sobol{Design: search.Design{Trials: 4096}}).Ask(slices.Repeat(search.Space{spaces.Bounded("x", param.Identity, 0.5, 0, 1)}, d), nil, 1) {
		points = append(points, p.Points[0])
	}
	values := make([]float64, len(points))
	for i := range values {
		values[i] = f(points[i])
	}
	_, sd = stat.PopMeanStdDev(values, nil)
	order := make([]int, len(values))
	floats.Argsort(slices.Clone(values), order)
	clip := func(u []float64) (in []float64, outside float64) {
		for _, x := range u {
			at := min(max(x, 0), 1)
			in, outside = append(in, at), outside+(x-at)*(x-at)
		}
		return in, outside
	}
	top = math.Inf(-1)
	for _, i := range order[len(order)-8:] {
		at := points[i]
		for range 3 {
			down := optimize.Problem{Func: func(u []float64) float64 {
				in, outside := clip(u)
				return outside - 1e4*f(in)
			}}
			if r, err := optimize.Minimize(down, at, &optimize.Settings{FuncEvaluations: 50 * (d + 1)},
				&optimize.NelderMead{SimplexSize: 0.05}); err == nil {
				at, _ = clip(r.X)
			}
		}
		top = max(top, f(at))
	}
	return top, sd
}

// A search that ends by regret is as near to the maximum as its bound on at least nine of ten
// functions drawn from its prior, and it ends on most of them. The counts in docs/evidence.md are
// from -draws 200, in four dimensions from -draws 30, and in batches of four from -draws 100.
func TestRegretIsBounded(t *testing.T) {
	draws := cmp.Or(*draws, exhaustive.Of(3, 12))
	for _, c := range []struct{ d, batch, budget int }{{1, 1, 40}, {2, 1, 80}, {1, 4, 160}, {2, 4, 320}, {4, 1, 150}} {
		d, ended, near, trials := c.d, 0, 0, 0
		if d == 4 && draws <= 12 {
			continue // which takes minutes
		}
		for seed := range uint64(draws) {
			f := drawn(d, rand.New(rand.NewPCG(seed, 77)))
			highest, sd := summit(f, d)
			var space search.Space
			for j := range d {
				space = append(space, spaces.Bounded(fmt.Sprint("x", j), param.Identity, 0.5, 0, 1))
			}
			s := Study{Key: "drawn", Space: space, Strategy: search.Bayes{Trials: c.budget, Batch: c.batch}, Stop: Stop{Regret: 0.1 * sd}, Seed: seed,
				Value: func(_ context.Context, theta []float64) (float64, error) { return f(theta), nil }}
			j := mustOpen(t, "")
			n, why := stoppedBy(t, s, j, Options{})
			if !strings.Contains(why, "by regret: the maximum is at most") {
				continue
			}
			var all []record.Trial
			for _, line := range j.Lines() {
				if line.Trial != nil {
					all = append(all, *line.Trial)
				}
			}
			_, best, err := search.Winner(all)
			if err != nil {
				t.Fatal(err)
			}
			if ended, trials = ended+1, trials+n; highest-float64(best.Value) <= 0.1*sd {
				near++
			}
		}
		t.Logf("%d numbers, %d at once: %d of %d ended, %d of them within the bound, after %.1f trials", d, c.batch, ended,
			draws, near, float64(trials)/float64(ended))
		if 10*near < 9*ended || 10*ended < 8*draws {
			t.Errorf("%d numbers: %d of %d ended, %d within the bound", d, ended, draws, near)
		}
	}
}

func TestStopCheck(t *testing.T) {
	nan := math.NaN()
	for want, c := range map[string]struct {
		stop     Stop
		strategy search.Strategy
	}{
		"improvement needs method: bayes": {Stop{Improvement: 1}, search.Sobol{}},
		"regret needs method: bayes":      {Stop{Regret: 1}, search.Auto{}},
		"bound them with samples":         {Stop{Patience: 1}, search.MCMC{}},
		`stop: time: "-5s" is not a len`:  {Stop{Time: "-5s"}, search.Sobol{}},
		"stop: target = NaN must be":      {Stop{Target: &nan}, search.Sobol{}},
	} {
		if err := c.stop.Check(c.strategy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if err := Check([]Study{{Strategy: c.strategy, Stop: c.stop}}, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	for _, text := range []string{"10", "-1m", "0s", "soon", ""} {
		if err := new(Span).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as a length of time", text)
		}
	}
}
