package experiments

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// A surface covers a lattice on which x1 varies fastest; a kernel of one input makes it constant
// along the other. Models with different kernels use the same random numbers: twice the amplitude
// gives twice the surface.
func TestSurfacesAreDrawn(t *testing.T) {
	got := illustrated(t, "seed: 5\nillustrate: {surface: {inputs: {from: -1, to: 1, points: 5}, draws: 2}}\n"+
		"model: {kernel: [{se: {length_scale: 0.5}}, {se: {amplitude: 2, length_scale: 0.5}}, {active: {dims: [2], kernel: se}}], likelihood: probit}\n")
	if len(got) != 3 {
		t.Fatalf("%d illustrations", len(got))
	}
	for _, i := range got {
		var names []string
		for _, c := range i.Columns {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, []string{"x1", "x2", "f1", "f2", "p1", "p2"}) || len(i.Columns[0].Values) != 25 {
			t.Fatalf("columns %q", names)
		}
	}
	x1, x2 := got[0].Column("x1"), got[0].Column("x2")
	for row := range 25 {
		if want := []float64{-1, -0.5, 0, 0.5, 1}; x1[row] != want[row%5] || x2[row] != want[row/5] {
			t.Errorf("row %d is at %v, %v", row, x1[row], x2[row])
		}
		f, twice, second := got[0].Column("f1")[row], got[1].Column("f1")[row], got[2].Column("f2")
		if math.Abs(twice-2*f) > 1e-5 {
			t.Errorf("row %d: %v, and of twice the amplitude %v", row, f, twice)
		}
		if math.Abs(second[row]-second[row/5*5]) > 1e-4 {
			t.Errorf("row %d: %v, not %v, where x2 is the same", row, second[row], second[row/5*5])
		}
	}
}

// Targets are drawn with the probabilities in the same row: over many points the number of +1
// agrees with the probabilities, and the residuals are uncorrelated with them, both within four
// standard deviations.
func TestTargetsAreDrawn(t *testing.T) {
	i := illustrated(t, "seed: 2\nillustrate: {targets: {inputs: {from: 0, to: 1000, points: 2000}}}\nmodel: {kernel: {se: {amplitude: 3}}, likelihood: logit}\n")[0]
	f, p, targets := i.Column("f1"), i.Column("p1"), i.Column("t1")
	if len(targets) != 2000 || len(i.Columns) != 4 {
		t.Fatalf("%d targets, %d columns", len(targets), len(i.Columns))
	}
	sum, variance, slope, slopes := 0.0, 0.0, 0.0, 0.0
	for k, target := range targets {
		if target != 1 && target != -1 || math.Abs(p[k]-1/(1+math.Exp(-f[k]))) > 1e-12 {
			t.Fatalf("place %d: target %v, probability %v at %v", k, target, p[k], f[k])
		}
		v, residual := p[k]*(1-p[k]), (target+1)/2-p[k]
		sum, variance, slope, slopes = sum+residual, variance+v, slope+residual*f[k], slopes+v*f[k]*f[k]
	}
	if math.Abs(sum) > 4*math.Sqrt(variance) || math.Abs(slope) > 4*math.Sqrt(slopes) {
		t.Errorf("residuals of sum %v ± %v, along f %v ± %v", sum, math.Sqrt(variance), slope, math.Sqrt(slopes))
	}
}

// Draws that are impossible give an error that names their place.
func TestDrawsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"illustrate: {surface: {draws: 0}}\nmodel: {kernel: se}\n":                                "0 draws",
		"illustrate: {surface: {inputs: {points: 42}}}\nmodel: {kernel: se}\n":                    "points from 2 to 41",
		"illustrate: surface\nmodel: {kernel: se, likelihood: softmax}\n":                         "use probit or logit",
		"illustrate: surface\nmodel: {kernel: {active: {dims: [3], kernel: se}}}\n":               "3",
		"illustrate: {targets: {inputs: {points: 1}}}\nmodel: {kernel: se, likelihood: probit}\n": "points from 2 to 2000",
		"illustrate: targets\nmodel: {kernel: se, likelihood: softmax}\n":                         "two classes",
		"illustrate: targets\nmodel: {kernel: se, likelihood: gaussian}\n":                        "two classes",
		"illustrate: targets\nmodel: {kernel: se}\n":                                              "likelihood",
	} {
		s, err := spec.Parse("t.yaml", []byte(text), nil)
		if err == nil {
			_, planned := plan.New(t.Context(), s)
			err = errors.Join(err, planned)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
