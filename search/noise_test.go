package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
)

// The point with the best expected value of a bowl with noise is nearer to the maximum than the one
// with the best value, and its expected value is nearer to the true one. Values without noise have
// the same best point.
func TestExpectedBest(t *testing.T) {
	space := Space{spaces.Bounded("x", param.Identity, 0, -2, 2), spaces.Bounded("y", param.Identity, 0, -2, 2)}
	bowl := func(theta []float64) float64 { return -math.Pow(theta[0]-0.3, 2) - math.Pow(theta[1]+0.4, 2) }
	seeds := exhaustive.Of(6, 40)
	var lucky, expected, promised, mean float64
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var noisy, exact []record.Trial
		for i, p := range (Random{Design{Trials: 40}}).Ask(space, nil, seed) {
			noise := 0.5 * rng.NormFloat64()
			noisy = append(noisy, spaces.Evaluated(i, p.Points, func(theta []float64) float64 { return bowl(theta) + noise }))
			exact = append(exact, spaces.Evaluated(i, p.Points, bowl))
		}
		_, top, err := Winner(noisy)
		best, m, sd, ok := space.ExpectedBest(noisy, seed)
		if err != nil || !ok || !(sd > 0) {
			t.Fatal(err, ok, sd)
		}
		lucky += bowl(record.Floats(top.Theta))
		promised += math.Abs(float64(top.Value) - bowl(record.Floats(top.Theta)))
		expected += bowl(best.Theta())
		mean += math.Abs(m - bowl(best.Theta()))
		index, _, _ := Winner(exact)
		if best, m, _, ok := space.ExpectedBest(exact, seed); !ok || best.Index != index || math.Abs(m-best.Value()) > 0.02 {
			t.Errorf("seed %d: trial %d with %v without noise, want %d with %v", seed, best.Index, m, index, best.Value())
		}
	}
	if !(expected > lucky) || !(mean < promised/2) {
		t.Errorf("true %.3f, with noise: true %.3f; off by %.3f and %.3f", lucky, expected, promised, mean)
	}
	failed := record.Trial{Failure: cause.Failure.New("it failed")}
	if _, _, _, ok := space.ExpectedBest([]record.Trial{failed}, 0); ok {
		t.Error("no trial has a value")
	}
}

// Values that are nothing but noise, at the well spread points of a Sobol sequence, are not taken
// for a function that goes through them: the expected value is within four standard deviations of 0.
func TestExpectedBestOfNoise(t *testing.T) {
	space := Space{spaces.Bounded("x", param.Identity, 0, 0, 1), spaces.Bounded("y", param.Identity, 0, 0, 1),
		spaces.Bounded("z", param.Identity, 0, 0, 1)}
	for seed := range uint64(exhaustive.Of(8, 40)) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var trials []record.Trial
		for i, p := range (Sobol{Design{Trials: 40}}).Ask(space, nil, seed) {
			noise := rng.NormFloat64()
			trials = append(trials, spaces.Evaluated(i, p.Points, func([]float64) float64 { return noise }))
		}
		if _, mean, sd, ok := space.ExpectedBest(trials, seed); !ok || !(math.Abs(mean) < 4*sd) {
			t.Errorf("seed %d: expected value %.3f ± %.3f of noise around 0", seed, mean, sd)
		}
	}
}
