package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective"
)

// TestDescentsEnd: on a flat function an iteration evaluates a reflection, a contraction and the d
// corners of a shrunken simplex. A descent ends after 4 (d + 1) iterations, and the initial simplex
// counts as the first. On a slope without end it ends after 50 (d + 1) evaluations.
func TestDescentsEnd(t *testing.T) {
	for d := 1; d <= 3; d++ {
		for _, c := range []struct {
			slope float64
			want  int
		}{{0, d + 1 + (4*(d+1)-1)*(d+2)}, {1, 50 * (d + 1)}} {
			n := 0
			_, err := descend(func(u []float64) float64 { n++; return c.slope * u[0] }, make([]float64, d))
			if err != nil || n != c.want {
				t.Errorf("%d dimensions, slope %v: %d evaluations, want %d, error %v", d, c.slope, n, c.want, err)
			}
		}
	}
}

// TestImproveEndsOnATop: the next trial is at a local maximum of the expected improvement, which is
// no larger around it in any direction, up to the 0.01 nats at which a climb stops.
func TestImproveEndsOnATop(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(4, 4))
	for seed := range uint64(12) {
		dim := 2 + int(seed%4)
		x, y, best := mat.NewDense(n, dim, nil), make([]float64, n), math.Inf(-1)
		for i := range y {
			for j := range dim {
				u := rng.Float64()
				x.Set(i, j, u)
				y[i] += math.Sin(float64(j+2) * u)
			}
			best = max(best, y[i])
		}
		var met [][]float64
		for i := range y {
			y[i] -= best
			met = append(met, x.RawRowView(i))
		}
		model, err := objective.NewSurrogate(x, y, seed)
		if err != nil {
			t.Fatal(err)
		}
		at := func(u []float64) float64 {
			var mean, sd [1]float64
			model.Predict(mean[:], sd[:], mat.NewDense(1, dim, u))
			return logExpectedImprovement(mean[0], sd[0])
		}
		space := slices.Repeat(Space{spaces.Bounded("x", param.Identity, 0.5, 0, 1)}, dim)
		top, reach := (&regression{space.everywhere(), model, 1, 0}).improve(met, met[0], seed)
		value := at(top)
		var mean, sd [1]float64
		if model.Predict(mean[:], sd[:], mat.NewDense(1, dim, top)); !(reach >= mean[0]+reachSDs*sd[0]) {
			t.Errorf("seed %d: the maximum is at most %v, and here at most %v", seed, reach, mean[0]+reachSDs*sd[0])
		}
		around, from := value, slices.Clone(top)
		for step := 0.1; step > 1e-3; step /= 2 {
			for range 100 {
				u := slices.Clone(from)
				for j := range u {
					u[j] = min(max(u[j]+step*rng.NormFloat64(), 0), 1)
				}
				if v := at(u); v > around {
					around, from = v, u
				}
			}
		}
		if around > value+0.01 {
			t.Errorf("seed %d: log expected improvement %v, but %v near by", seed, value, around)
		}
	}
}
