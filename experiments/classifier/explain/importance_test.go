package explain

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// logisticCases are 300 cases of 8 inputs and a label, which testdata/logistic.py has drawn.
//
//go:embed testdata/logistic.csv
var logisticCases string

// logistic has log₂ p(y|x) of a logistic model with an interaction, for labels 0 and 1.
func logistic(weights []float64, interaction float64, y []float64) func(*mat.Dense) ([]float64, error) {
	return func(x *mat.Dense) ([]float64, error) {
		out := make([]float64, len(y))
		for i := range out {
			row := x.RawRowView(i)
			f := interaction * row[1] * row[2]
			for j, w := range weights {
				f += w * row[j]
			}
			out[i] = -math.Log2(1 + math.Exp((1-2*y[i])*f))
		}
		return out, nil
	}
}

func singles(d int) (all []Input) {
	for j := range d {
		all = append(all, Input{fmt.Sprint("x", j), []int{j}})
	}
	return all
}

// The values of sklearn.inspection.permutation_importance 1.2.1 with the same probabilities and 200
// permutations are within 3 standard errors, and in the same order. An input without a weight has
// exactly 0, its level of noise too.
func TestImportanceAgainstScikitLearn(t *testing.T) {
	var x, y []float64
	for line := range strings.Lines(strings.TrimSpace(logisticCases)) {
		for j, cell := range strings.Split(strings.TrimSpace(line), ",") {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			if j < 8 {
				x = append(x, v)
			} else {
				y = append(y, v)
			}
		}
	}
	bits := logistic([]float64{1.6, -1.1, .8, .5, .3, .15, 0, .4}, .6, y)
	want := []float64{0.4929, 0.2779, 0.223, 0.0632, 0.0081, 0.0079, 0, 0.0413}
	got, err := Importances(mat.NewDense(len(y), 8, x), nil, singles(8), bits, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	for j, of := range got {
		values = append(values, float64(of.Bits))
		if tolerance := 3*float64(of.Noise)/1.645 + 1e-4; math.Abs(float64(of.Bits)-want[j]) > tolerance {
			t.Errorf("%s: %v, scikit-learn %v", of.Input, of.Bits, want[j])
		}
		if of.Lo > of.Bits || of.Hi < of.Bits {
			t.Errorf("%s: %v is outside %v to %v", of.Input, of.Bits, of.Lo, of.Hi)
		}
	}
	if z := got[6]; z.Bits != 0 || z.Lo != 0 || z.Hi != 0 || z.Noise != 0 {
		t.Errorf("an input without a weight has %+v", z)
	}
	if rho := stat.Correlation(ranks(values), ranks(want), nil); rho < 0.95 {
		t.Errorf("rank correlation %v with scikit-learn", rho)
	}
}

func ranks(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		for _, w := range v {
			if w < v[i] {
				out[i]++
			}
		}
	}
	return out
}

// A model gives weight to an input that has nothing to do with the labels. Its importance is 0, and
// the interval covers that in 95 % of 1000 repetitions, within 2 standard errors of this count; so
// does the interval of a model with several such inputs. The level of noise is exceeded by a new
// random column in 5 %.
func TestNoiseHasNoImportance(t *testing.T) {
	const sets, n = 1000, 150
	for _, weight := range []float64{0.3, 1} {
		covered, exceeded := 0, 0
		for set := range sets {
			rng := rand.New(rand.NewPCG(uint64(set), 3))
			x, y := mat.NewDense(n, 3, nil), make([]float64, n)
			for i := range n {
				for j := range 3 {
					x.Set(i, j, rng.NormFloat64())
				}
				if rng.Float64() < 1/(1+math.Exp(-1.2*x.At(i, 0))) {
					y[i] = 1
				}
			}
			bits := logistic([]float64{1.2, weight, weight}, 0.3, y)
			got, err := Importances(x, nil, singles(3)[1:2], bits, 5, uint64(set))
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Lo <= 0 && got[0].Hi >= 0 {
				covered++
			}
			planted := mat.DenseCopyOf(x)
			for i, from := range cycle(n, uint64(set)+1e6) {
				planted.Set(i, 1, x.At(from, 1))
			}
			other, err := Importances(planted, nil, singles(3)[1:2], bits, 5, uint64(set))
			if err != nil {
				t.Fatal(err)
			}
			if other[0].Bits > got[0].Noise {
				exceeded++
			}
		}
		if got := float64(covered) / sets; math.Abs(got-0.95) > 0.02 {
			t.Errorf("weight %v: the interval covers 0 in %.1f %%", weight, 100*got)
		}
		if got := float64(exceeded) / sets; math.Abs(got-0.05) > 0.02 {
			t.Errorf("weight %v: %.1f %% of planted columns exceed the level of noise", weight, 100*got)
		}
		t.Logf("weight %v: %d covered, %d exceeded", weight, covered, exceeded)
	}
}

// The columns of a category are one input, and so are those of a date.
func TestInputsAreColumnsOfTheFile(t *testing.T) {
	got := Inputs([]string{"age", "colour", "colour", "day", "day", "weight"})
	want := "[{age [0]} {colour [1 2]} {day [3 4]} {weight [5]}]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// drawn are n cases of d independent standard normal inputs.
func drawn(n, d int, seed uint64) *mat.Dense {
	rng, x := rand.New(rand.NewPCG(seed, 1)), mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return x
}

// Two cases have one cycle, and fewer than LeastRepeats permutations no interval.
func TestImportanceNeedsCasesAndPermutations(t *testing.T) {
	bits := func(x *mat.Dense) ([]float64, error) {
		n, _ := x.Dims()
		return make([]float64, n), nil
	}
	for _, c := range []struct{ n, repeats int }{{2, LeastRepeats}, {3, LeastRepeats - 1}, {2, LeastRepeats - 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d cases, %d permutations are accepted", c.n, c.repeats)
				}
			}()
			_, _ = Importances(mat.NewDense(c.n, 1, nil), nil, singles(1), bits, c.repeats, 1)
		}()
	}
	if all, err := Importances(mat.NewDense(3, 1, nil), nil, singles(1), bits, LeastRepeats, 1); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

// Copies of the cases in the units of the cases leave the interval as wide as it is, up to the draws
// of donors. As cases of their own they make it narrower by √2.
func TestImportanceOfCopies(t *testing.T) {
	const n, repeats = 300, 40
	rng := rand.New(rand.NewPCG(3, 4))
	var values []float64
	var unit []int
	for i := range n {
		v := rng.NormFloat64()
		values, unit = append(values, v, v), append(unit, i, i)
	}
	width := func(cases int, units []int) float64 {
		own := mat.NewDense(cases, 1, nil)
		for i := range cases {
			own.Set(i, 0, values[i*2*n/cases])
		}
		bits := func(x *mat.Dense) (out []float64, err error) {
			for i := range cases {
				d := x.At(i, 0) - own.At(i, 0)
				out = append(out, -d*d)
			}
			return out, nil
		}
		all, err := Importances(own, units, singles(1), bits, repeats, 1)
		if err != nil {
			t.Fatal(err)
		}
		return float64(all[0].Hi - all[0].Lo)
	}
	once, units, cases := width(n, nil), width(2*n, unit), width(2*n, nil)
	if math.Abs(units/once-1) > 0.05 || math.Abs(cases/once*math.Sqrt2-1) > 0.05 {
		t.Errorf("widths %v of cases, %v of two copies in a unit, %v of two copies", once, units, cases)
	}
}
