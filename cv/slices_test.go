package cv

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
)

// losses are skewed losses of n cases with two inputs of three and four levels that have nothing to do
// with them; two rows of each unit have nearly the same loss if paired.
func losses(rng *rand.Rand, n int, paired bool) (v []float64, units []int, levels [][]int) {
	levels = make([][]int, 2)
	for i := range n {
		unit, loss, a, b := i, rng.ExpFloat64(), rng.IntN(3), rng.IntN(4)
		if paired && i%2 == 1 {
			unit, loss, a = i-1, v[i-1]+0.1*rng.NormFloat64(), levels[0][i-1]
		}
		v, units = append(v, loss), append(units, unit)
		levels[0], levels[1] = append(levels[0], a), append(levels[1], b)
	}
	return v, units, levels
}

// Where no slice differs, some interval excludes 0 in 5 % of samples, also of skewed losses; less
// often where cases depend on each other and an input differs within them. The bounds are four
// standard errors of the simulation.
func TestSlicesHaveTheirSize(t *testing.T) {
	draws := exhaustive.Of(200, 2000)
	for _, paired := range []bool{false, true} {
		false5, rng := 0, rand.New(rand.NewPCG(7, 7))
		for range draws {
			n := 120
			if paired {
				n = 240 // 120 units
			}
			v, units, levels := losses(rng, n, paired)
			out := Slices(v, units, nil, levels, rng.Uint64())
			if len(out) != 7 {
				t.Fatalf("%d slices, want 3 and 4", len(out))
			}
			for _, s := range out {
				if s.Difference.Lo > 0 || s.Difference.Hi < 0 {
					false5++
					break
				}
			}
		}
		rate, bound := float64(false5)/float64(draws), 4*math.Sqrt(0.05*0.95/float64(draws))
		t.Logf("paired %v: %.3f of %d", paired, rate, draws)
		if rate > 0.05+bound || !paired && rate < 0.05-bound {
			t.Errorf("paired %v: an interval excludes 0 in %.3f of samples, want 0.05 ± %.3f", paired, rate, bound)
		}
	}
}

// The means by hand, with weights, and a slice with twice the loss of the others is found.
func TestSlicesFindAWorseGroup(t *testing.T) {
	var v, weight []float64
	var units, levels, small []int
	for i := range 60 {
		units, levels, weight = append(units, i), append(levels, i%3), append(weight, float64(1+i/3%2))
		v, small = append(v, 1+0.1*float64(i/3%5)), append(small, min(i, 1))
		if i%3 == 2 {
			v[i] *= 2
		}
	}
	levels[0] = -1
	out := Slices(v, units, weight, [][]int{levels, small}, 1)
	if len(out) != 3 {
		t.Fatalf("%d slices, want 3: a level of one case is left out", len(out))
	}
	sum, total := 0.0, 0.0
	for i := 2; i < 60; i += 3 {
		sum, total = sum+weight[i]*v[i], total+weight[i]
	}
	worse := out[2]
	if worse.Level != 2 || worse.Units != 20 || math.Abs(worse.Mean-sum/total) > 1e-12 || worse.Difference.Lo <= 0 {
		t.Errorf("%+v, want the mean %v", worse, sum/total)
	}
	if out[1].Difference.Lo > out[1].Difference.Value || out[1].Difference.Hi < 0 != (out[1].Mean < out[1].Rest) {
		t.Errorf("%+v", out[1])
	}
}
