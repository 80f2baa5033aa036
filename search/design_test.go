package search

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// The coordinates are from the unscrambled sequence of scipy.stats.qmc.Sobol (1.11); its n-th point
// has index n ^ n>>1 here.
func TestSobolDirections(t *testing.T) {
	v := sobolDirections(sobolDimensions)
	dims := []int{0, 1, 2, 6, 20, 77, 127}
	for index, want := range map[int][]float64{
		7:   {0.875, 0.875, 0.125, 0.875, 0.625, 0.375, 0.125},
		994: {0.2802734375, 0.0986328125, 0.1376953125, 0.0791015625, 0.3251953125, 0.9580078125, 0.5888671875},
		512: {0.0009765625, 0.7529296875, 0.6123046875, 0.1396484375, 0.8662109375, 0.7529296875, 0.7001953125},
	} {
		for k, j := range dims {
			if got := float64(sobolDigits(&v[j], index)) / (1 << 32); got != want[k] {
				t.Errorf("point %d, dimension %d: %v, want %v", index, j, got, want[k])
			}
		}
	}
}

// The first two dimensions are a (0, m, 2)-net in base 2: for every a, each of the 2^m boxes with
// sides 2^-a and 2^-(m-a) contains exactly one of the first 2^m points. Scrambling preserves this.
// Every other dimension has one point in each of the 2^m intervals.
func TestSobolIsANet(t *testing.T) {
	const m = 8
	for seed := range uint64(3) {
		u := mat.NewDense(1<<m, sobolDimensions, nil)
		sobol(u, seed)
		for a := 0; a <= m; a++ {
			seen := map[[2]int]bool{}
			for i := range 1 << m {
				seen[[2]int{int(u.At(i, 0) * float64(int(1)<<a)), int(u.At(i, 1) * float64(int(1)<<(m-a)))}] = true
			}
			if len(seen) != 1<<m {
				t.Errorf("seed %d: the points are in %d of the 2^%d boxes of sides 2^-%d and 2^-%d", seed, len(seen), m, a, m-a)
			}
		}
		for j := range sobolDimensions {
			if !onePerPart(u, j) {
				t.Errorf("seed %d, dimension %d: two points are in the same part", seed, j)
			}
		}
	}
}

// onePerPart says whether column j has exactly one entry in each of n equal intervals, where n is
// the number of rows.
func onePerPart(u *mat.Dense, j int) bool {
	n, _ := u.Dims()
	seen := map[int]bool{}
	for i := range n {
		seen[int(u.At(i, j)*float64(n))] = true
	}
	return len(seen) == n
}

// A scrambled point is uniform: over 4096 scrambles each of its first 8 digits is 1 in half of the
// cases, and any two digits or coordinates agree in half of the cases. The tolerance is 5 standard
// errors of a fair coin, 5/2/√4096.
func TestSobolScramblesEveryDigit(t *testing.T) {
	const n = 4096
	var ones [16]int
	var agree [16][16]int
	u := mat.NewDense(4, 2, nil)
	for seed := range uint64(n) {
		sobol(u, seed)
		word := uint(u.At(3, 0)*256)<<8 | uint(u.At(3, 1)*256)
		for a := range ones {
			ones[a] += int(word >> a & 1)
			for b := range a {
				agree[a][b] += 1 - int((word>>a^word>>b)&1)
			}
		}
	}
	fair := func(count int) bool { return math.Abs(float64(count)/n-0.5) < 2.5/math.Sqrt(n) }
	for a := range ones {
		if !fair(ones[a]) {
			t.Errorf("digit %d is 1 in %d of %d scrambles", a, ones[a], n)
		}
		for b := range a {
			if !fair(agree[a][b]) {
				t.Errorf("digits %d and %d agree in %d of %d scrambles", a, b, agree[a][b], n)
			}
		}
	}
}

// unit is a space whose box is the unit cube.
func unit(dim int) Space {
	s := make(Space, dim)
	for j := range s {
		s[j] = spaces.Bounded(fmt.Sprint("x", j), param.Identity, 0.5, 0, 1)
	}
	return s
}

func TestLatinHypercubeIsOne(t *testing.T) {
	const n, d = 37, 4
	u := mat.NewDense(n, d, nil)
	for i, p := range (LatinHypercube{Design{Trials: n}}).Ask(unit(d), nil, 3) {
		u.SetRow(i, p.Points[0])
	}
	for j := range d {
		if !onePerPart(u, j) {
			t.Errorf("dimension %d: two points are in the same part", j)
		}
	}
}

// The mean of n uniform draws lies within 5 standard errors, √(1/12n), of 1/2; the mean of their
// products within 5 standard errors, √(7/144n), of 1/4.
func TestRandomIsUniform(t *testing.T) {
	const n = 4000
	var mean [2]float64
	product := 0.0
	for _, p := range (Random{Design{Trials: n}}).Ask(unit(2), nil, 3) {
		u := p.Points[0]
		mean[0] += u[0] / n
		mean[1] += u[1] / n
		product += u[0] * u[1] / n
	}
	if e := 5 / math.Sqrt(12*n); math.Abs(mean[0]-0.5) > e || math.Abs(mean[1]-0.5) > e || math.Abs(product-0.25) > 5*math.Sqrt(7.0/144/n) {
		t.Errorf("mean %v, mean product %v", mean, product)
	}
}

func TestDesignsHaveAsManyTrialsAsAskedFor(t *testing.T) {
	for name, ask := range map[string]func(trials int, seed uint64) []Proposal{
		"random": func(n int, seed uint64) []Proposal { return Random{Design{Trials: n}}.Ask(spaces.SE(), nil, seed) },
		"sobol":  func(n int, seed uint64) []Proposal { return Sobol{Design{Trials: n}}.Ask(spaces.SE(), nil, seed) },
		"latin_hypercube": func(n int, seed uint64) []Proposal {
			return LatinHypercube{Design{Trials: n}}.Ask(spaces.SE(), nil, seed)
		},
	} {
		few, many := ask(5, 1), ask(0, 1)
		if len(few) != 5 || len(many) != 64 {
			t.Errorf("%s: 5 trials are %d, those by default %d", name, len(few), len(many))
		}
		if name != "latin_hypercube" && !reflect.DeepEqual(few, many[:5]) {
			t.Errorf("%s: more trials do not extend the list", name)
		}
		if reflect.DeepEqual(few, ask(5, 2)) {
			t.Errorf("%s: the seed changes nothing", name)
		}
		near, all, expected := 0., 0., 0.
		for _, p := range many {
			for j, h := range spaces.SE() {
				lo, hi := h.ThetaBounds()
				start := h.Map.Theta(h.Init)
				if d := math.Abs(p.Points[0][j] - start); d < 2 {
					near++
				}
				all++
				expected += 2 * math.Asinh(2) / (math.Asinh(hi-start) + math.Asinh(start-lo))
			}
		}
		if sd := math.Sqrt(expected * (1 - expected/all)); math.Abs(near-expected) > 4*sd {
			t.Errorf("%s: %v of %v values are within 2 of their start, want about %v", name, near, all, expected)
		}
	}
}

func TestDesignCheck(t *testing.T) {
	for _, n := range []int{-1, maxTrials + 1} {
		if err := (Random{Design{Trials: n}}).Check(spaces.SE()); err == nil || !strings.Contains(err.Error(), "trials = ") {
			t.Errorf("trials = %d: %v", n, err)
		}
	}
	for _, n := range []int{0, 1, maxTrials} {
		if err := (Random{Design{Trials: n}}).Check(spaces.SE()); err != nil {
			t.Errorf("trials = %d: %v", n, err)
		}
	}
	if err := (Sobol{}).Check(unit(sobolDimensions)); err != nil {
		t.Error(err)
	}
	if err := (Sobol{}).Check(unit(sobolDimensions + 1)); err == nil || !strings.Contains(err.Error(), "129 free hyperparameters") {
		t.Error(err)
	}
	if bits.Len(maxTrials) > 32 {
		t.Error("the sequence has 2^32 points")
	}
}
