package search

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// Golden values by mpmath with 400 digits. From 30 standard deviations below on there is a series
// with alternating signs, which is off by at most the first term left out, 945 z⁻⁸.
func TestLogExpectedImprovement(t *testing.T) {
	for _, c := range []struct{ mean, sd, want float64 }{
		{5, 1, 1.6094379231264313851},
		{0, 1, -0.91893853320467274178},
		{-1, 1, -2.4851210257126413368},
		{-1.5, 1.125, -3.0429390990104750677},
		{-3, 0.5, -23.272026572729742676},
		{-30, 1, -457.72465376059800405},
		{-31, 1, -488.29002339783721185},
		{-100, 1, -5010.1295788002497923},
		{-2, 0.001, -2000023.0284994811871},
		{20, 0.5, 2.9957322735539909934},
		{3, 0, math.Log(3)},
		{-3, 0, math.Inf(-1)},
	} {
		got := logExpectedImprovement(c.mean, c.sd)
		tolerance := 1e-11 * math.Abs(c.want)
		if z := c.mean / c.sd; z <= -30 {
			tolerance = 945*math.Pow(z, -8)*1.01 + 1e-15*math.Abs(c.want) // relative to the sum, which is above 0.99
		}
		if got != c.want && !(math.Abs(got-c.want) <= tolerance) {
			t.Errorf("mean %v, sd %v: %.17g, want %.17g", c.mean, c.sd, got, c.want)
		}
	}
}

// The first points are the initial values and points of a Sobol sequence, four in two dimensions.
func TestBayesBeginsWithSobol(t *testing.T) {
	s := spaces.SE()
	first := Bayes{Trials: 20, Batch: 3}.Ask(s, nil, 9)
	want := (Sobol{Design{Trials: 4}}).Ask(s, nil, 9)
	if want[0].Points[0] = Space(s).Start(); !reflect.DeepEqual(first, want) {
		t.Errorf("starts at %v, want %v", first, want)
	}
	if trials := maximise(Bayes{Trials: 20, Batch: 3}, s, func(u []float64) float64 { return -u[0] * u[0] }, 9); len(trials) != 20 {
		t.Errorf("asks for %d trials, want 20", len(trials))
	}
}

// The points of a batch differ, because each point is chosen as if the earlier points of the batch
// had the best value so far.
func TestBatchesSpread(t *testing.T) {
	s := spaces.Surfaces["bowl"]
	trials := maximise(Bayes{Trials: 6}, s.Space, s.At, 2)
	batch := Bayes{Batch: 5}.Ask(s.Space, trials, 2)
	for i, a := range batch {
		for _, b := range batch[:i] {
			if d := math.Hypot(a.Points[0][0]-b.Points[0][0], a.Points[0][1]-b.Points[0][1]); d < 0.02 {
				t.Errorf("two points of a batch are %v apart", d)
			}
		}
	}
	if alone := (Bayes{}).Ask(s.Space, trials, 2); len(batch) != 5 || !reflect.DeepEqual(alone, batch[:1]) {
		t.Errorf("a batch of %d begins with %v, a batch of one is %v", len(batch), batch[0], alone)
	}
}

// If every trial has failed, the search continues with the points of the Sobol sequence.
func TestBayesAfterFailuresOnly(t *testing.T) {
	trials := maximise(Bayes{Trials: 10}, spaces.SE(), func([]float64) float64 { return math.NaN() }, 4)
	for i, want := range (Sobol{Design{Trials: 10}}).Ask(spaces.SE(), nil, 4) {
		if i == 0 {
			want.Points[0] = Space(spaces.SE()).Start()
		}
		if got := trials[i].Points[0].Theta; float64(got[0]) != want.Points[0][0] || float64(got[1]) != want.Points[0][1] {
			t.Errorf("trial %d is at %v, want %v", i, got, want.Points[0])
		}
	}
}

// If the regression is monotone, the expected improvement is largest at the end of the box.
func TestImproveReachesTheEdge(t *testing.T) {
	s := Space{spaces.Surfaces["at an edge"].Space[0]}
	trials := maximise(Bayes{Trials: 9, Initial: 6}, s, func(u []float64) float64 { return 10 * u[0] }, 1)
	if _, best, err := Winner(trials); err != nil || math.Abs(float64(best.Theta[0])-1) > 1e-3 {
		t.Errorf("the best trial is at %v, want 1 (%v)", best.Theta, err)
	}
}

// No point is proposed twice, and no two points are practically equal, on surfaces with their
// maximum inside, at an edge and in a corner.
func TestBayesNeverRepeats(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(spaces.Surfaces)) {
		if !exhaustive.Tries(2, i+1) {
			continue
		}
		s := spaces.Surfaces[name]
		trials := maximise(Bayes{Trials: 45, Batch: 3}, s.Space, s.At, 1)
		for i, a := range trials {
			for _, b := range trials[:i] {
				distance := 0.
				for j, p := range s.Space {
					distance = max(distance, math.Abs(p.Unit(float64(a.Points[0].Theta[j]))-p.Unit(float64(b.Points[0].Theta[j]))))
				}
				if distance < leastDistance-1e-12 {
					t.Errorf("%s: trials %d and %d are %v apart", name, b.Index, a.Index, distance)
				}
			}
		}
	}
}

// Failures, and values of distant points that go to -Inf, do not hide differences near the best
// value.
func TestSquashed(t *testing.T) {
	got, _ := squashed([]float64{0, 1, 3, 1e300, 1}, 0)
	for i, want := range []float64{0, -math.Ln2, -math.Log(4), -math.Log1p(1e300), -math.Ln2} {
		if i == 3 {
			want = -300 * math.Ln10
		}
		if math.Abs(got[i]-want) > 1e-12*math.Max(1, math.Abs(want)) {
			t.Errorf("%v, want %v at %d", got[i], want, i)
		}
	}
	if got, _ := squashed([]float64{0, 0}, 0); got[0] != 0 || got[1] != 0 {
		t.Errorf("equal values become %v", got)
	}
}

func TestBayesCheck(t *testing.T) {
	for _, c := range []struct {
		b    Bayes
		s    Space
		want string
	}{
		{Bayes{Trials: -1}, spaces.SE(), "trials = -1"},
		{Bayes{Trials: 1001}, spaces.SE(), "trials = 1001 must be from 1 to 1000"},
		{Bayes{Batch: -2}, spaces.SE(), "batch = -2"},
		{Bayes{Trials: 5, Initial: 6}, spaces.SE(), "initial = 6 are more than all of the trials = 5"},
		{Bayes{}, unit(sobolDimensions + 1), "more than the 128 dimensions"},
		{Bayes{Trials: 3}, spaces.SE(), ""},
	} {
		if err := c.b.Check(c.s); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.b, err, c.want)
		}
	}
	for _, c := range []struct {
		e    CMAES
		want string
	}{
		{CMAES{Population: 3}, "population = 3 must be from 4 to 1000000"},
		{CMAES{Population: 10, Trials: 9}, "trials = 9 are less than one generation of 10"},
		{CMAES{Trials: -1}, "trials = -1"},
		{CMAES{Population: 400}, ""},
	} {
		if err := c.e.Check(spaces.SE()); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.e, err, c.want)
		}
	}
}

// The expected improvement, in units of the objective, equals the mean of the improvement under the
// normal density of the squashed value, by a sum over a fine grid. A squashed value is -log(1 +
// d/unit) for the distance d below the best.
func TestExpectedGain(t *testing.T) {
	for _, c := range []struct{ mean, sd, unit float64 }{{0.3, 0.5, 2}, {-1, 0.7, 10}, {-0.2, 0.01, 1}, {1.5, 2, 0.1}, {-1, 35, 1}, {0.5, 60, 1}} {
		sum, step := 0.0, c.sd/2000
		for z := -12 * c.sd; z < 12*c.sd; z += step {
			f := c.mean + z
			below := c.unit * (math.Exp(-f) - 1)
			sum += step * max(0, -below) * math.Exp(-z*z/(2*c.sd*c.sd)) / math.Sqrt(2*math.Pi) / c.sd
		}
		if got := expectedGain(c.mean, c.sd, c.unit); math.Abs(got-sum) > 1e-6*c.unit {
			t.Errorf("%+v: %v, want %v", c, got, sum)
		}
	}
	if got := expectedGain(1, 0, 2); math.Abs(got-2*(1-math.Exp(-1))) > 1e-15 {
		t.Errorf("without spread %v", got)
	}
	if got := expectedGain(-1, 0, 2); got != 0 {
		t.Errorf("below the best, without spread, %v", got)
	}
}
