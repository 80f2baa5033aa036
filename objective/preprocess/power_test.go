package preprocess

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Log-normal values become normal, squares of them and roots too, normal ones stay, and so do
// values below 0. Values unlike the training values have finite images, in the same order, and the
// way back leads to them.
func TestPowers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 400
	x := mat.NewDense(n, 6, nil)
	for i := range n {
		z := rng.NormFloat64()
		x.SetRow(i, []float64{math.Exp(3 * z), math.Pow(5+z, 2), 1 / (5 + z), 5 + z, z * math.Abs(z), max(0, math.Exp(z)-1)})
	}
	p, _, err := Fit(x, "power", "error")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(6); err != nil {
		t.Error(err)
	}
	for j, want := range []float64{0, 0.5, -1, 1, 1} {
		if got := p.Power[j].Exponent; got != want {
			t.Errorf("column %d has exponent %v, want %v", j, got, want)
		}
	}
	if p.Power[5].Exponent == 1 || !(p.Power[5].Shift > 0) || p.Power[5].Least != 0 {
		t.Errorf("a column with zeros has %+v", p.Power[5])
	}
	z := p.Apply(x)
	for j := range 6 {
		column := mat.Col(nil, j, z)
		if m, s := Mean(column), deviation(column, nil, Mean(column)); math.Abs(m) > 1e-12 || math.Abs(s-1) > 1e-12 {
			t.Errorf("column %d has mean %v and deviation %v", j, m, s)
		}
		if back := p.Original(j, z.At(7, j)); math.Abs(back-x.At(7, j)) > 1e-9*math.Abs(x.At(7, j)) {
			t.Errorf("column %d: %v comes back as %v", j, x.At(7, j), back)
		}
		before := math.Inf(-1)
		for _, v := range []float64{-1e6, -1, 0, 1e-9, 1e-3, 1, 1e6} {
			row := make([]float64, 6)
			row[j] = v
			got := p.Apply(mat.NewDense(1, 6, row)).At(0, j)
			if !(got > before) || math.IsInf(got, 0) {
				t.Errorf("column %d: %v becomes %v, a smaller value %v", j, v, got, before)
			}
			if back := p.Original(j, got); math.Abs(back-v) > 1e-6*max(1, math.Abs(v)) {
				t.Errorf("column %d: %v comes back as %v", j, v, back)
			}
			before = got
		}
	}
}

// The exponents have the likelihoods of Box and Cox: with log-normal values the logarithm is ahead
// by as much as the densities of both say.
func TestPowerLikelihood(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16, 32, 64, 128}
	if p := likeliest(x, nil); p.Exponent != 0 || p.Shift != 0 || p.Least != 1 {
		t.Errorf("a geometric sequence has %+v", p)
	}
	// Whole weights count as repeated values.
	weighted := []float64{1, 2, 4, 9, 30}
	a, b := likeliest(weighted, []float64{2, 1, 2, 1, 4}), likeliest([]float64{1, 1, 2, 4, 4, 9, 30, 30, 30, 30}, nil)
	if a != b {
		t.Errorf("weights %+v, repeated values %+v", a, b)
	}
}

// Transformations in damaged files are refused.
func TestPowerCheck(t *testing.T) {
	for _, p := range []Power{{2, 0, 1}, {0, 0, 0}, {0.5, -1, 0}, {0, 0, math.Inf(1)}, {0, 0, math.NaN()}} {
		m := Map{How: "power", Power: []Power{p}, Mean: []float64{0}, Scale: []float64{1}}
		if m.Check(1) == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	for _, m := range []Map{
		{How: "power", Mean: []float64{0}, Scale: []float64{1}},
		{How: "standardize", Power: []Power{{Exponent: 1}}, Mean: []float64{0}, Scale: []float64{1}},
	} {
		if m.Check(1) == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
}

// Values at the ends of the numbers, few of them, equal ones and ones that repeat have finite images.
func TestPowersOfExtremeValues(t *testing.T) {
	const tiny = 5e-324
	for _, x := range [][]float64{
		{1}, {0}, {2, 2, 2}, {0, 0, 0}, {0, 1}, {0, tiny, 1, 1, 2}, {tiny, 1, 1e300}, {1e-300, 1e-200, 1, 1e200, 1e300},
		{1e300, 1.1e300, 1.5e300, 1.7e308}, {1, 1, 1, 1, 2, 2, 3, 1e6}, {0, 0, 0, 0, 0, 1, 2, 900},
	} {
		p, _, err := Fit(mat.NewDense(len(x), 1, x), "power", "error")
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(1); err != nil {
			t.Errorf("%v: %v", x, err)
		}
		x = append(x, -1e6, -1, 0, 1e9)
		for i, z := range mat.Col(nil, 0, p.Apply(mat.NewDense(len(x), 1, x))) {
			if math.IsNaN(z) || math.IsInf(z, 0) {
				t.Errorf("%v: %v becomes %v with %+v", x, x[i], z, p.Power[0])
			}
		}
	}
}
