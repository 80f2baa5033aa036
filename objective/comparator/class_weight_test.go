package comparator

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// unequal draws data in which class 0 has three times as many cases as each other class. In
// repeated every case of the other classes stands three times.
func unequal(classes int, seed uint64) (d, repeated objective.Data, index []int) {
	all := blobs(600, classes, seed)
	of, counts, _ := counted(all)
	seen := make([]int, len(counts))
	var rows, times []int
	for i, c := range of {
		most, n := 30, 1
		if c > 0 {
			most, n = 10, 3
		}
		if seen[c]++; seen[c] <= most {
			rows, times, index = append(rows, i), append(times, n), append(index, c)
		}
	}
	part := func(rows []int) objective.Data {
		x, y := mat.NewDense(len(rows), 2, nil), approx.Targets{Classes: classes}
		for k, i := range rows {
			x.SetRow(k, all.X.X.RawRowView(i))
			if classes == 2 {
				y.Value = append(y.Value, all.Y.Value[i])
			} else {
				y.Index = append(y.Index, of[i])
			}
		}
		return objective.Data{X: &kernel.Inputs{X: x}, Y: y}
	}
	var again []int
	for k, i := range rows {
		again = append(again, slices.Repeat([]int{i}, times[k])...)
	}
	return part(rows), part(again), index
}

// Weight 3 has the same effect as repeating a case three times.
func TestWeightedRegressionIsThatOfRepeatedCases(t *testing.T) {
	for _, classes := range []int{2, 4} {
		t.Run(fmt.Sprint(classes), func(t *testing.T) {
			d, repeated, index := unequal(classes, 21)
			fit := func(d objective.Data, weight []float64, sigma float64) *weights {
				index, counts, _ := counted(d)
				r := LogisticRegression{}.on(d, index, counts)
				if weight != nil {
					r.weight = weight
				}
				f, err := r.mode(context.Background(), sigma, nil)
				if err != nil {
					t.Fatal(err)
				}
				f.slope()
				return f
			}
			three := make([]float64, len(index))
			for i, c := range index {
				three[i] = []float64{1, 3}[min(c, 1)]
			}
			got, want := fit(d, three, 1.7), fit(repeated, nil, 1.7)
			if math.Abs(got.value-want.value) > 1e-9 || math.Abs(got.gradient-want.gradient) > 1e-8 ||
				!floats.EqualApprox(got.w, want.w, 1e-9) {
				t.Errorf("log evidence %v with slope %v at %v, of repeated cases %v with %v at %v", got.value,
					got.gradient, got.w, want.value, want.gradient, want.w)
			}

			// Balanced weights are these weights times a factor c. That has the same effect as
			// multiplying σ² by c: log p(y|w)·c - |w|²/2σ² and log p(y|w) - |w|²/2cσ² have the same
			// maximum.
			balanced := LogisticRegression{ClassWeight: Balanced}.at(1.7)
			f := fitted(t, balanced, d).(*weights)
			c := float64(len(index)) / float64(repeated.X.N())
			if want := fit(repeated, nil, 1.7*math.Sqrt(c)); !floats.EqualApprox(f.w, want.w, 1e-9) {
				t.Errorf("balanced weights %v, of repeated cases %v", f.w, want.w)
			}
			if s := f.Summary(); !math.IsNaN(s.LogEvidence) || s.Natural[0] != 1.7 {
				t.Errorf("%+v", s)
			}
			again, err := balanced.Restore(d, f.State())
			if err != nil {
				t.Fatal(err)
			}
			z := blobs(40, classes, 22).X
			if !mat.Equal(predicted(f, z, classes), predicted(again, z, classes)) ||
				!math.IsNaN(again.Summary().LogEvidence) {
				t.Error("restored, it predicts differently, or tells a log evidence")
			}
		})
	}
}

// A machine and its sigmoid with weighted cases equal the machine and the sigmoid with repeated
// cases.
func TestWeightedSVMIsThatOfRepeatedCases(t *testing.T) {
	d, repeated, index := unequal(3, 23)
	c := float64(len(index)) / float64(repeated.X.N())
	s := SVM{Costs: []float64{3}, LengthScales: []float64{0.8}, Tolerance: 1e-10, ClassWeight: Balanced, kernel: kernel.SE{}}
	f := fitted(t, s, d).(*vectors)
	all, _, _ := counted(repeated)
	k := covariance(repeated.X, 1, 0.8)
	for m := range 3 {
		upper := slices.Repeat([]float64{3 * c}, len(all))
		want, err := smo(context.Background(), k, against(all, 3, m), upper, 1e-10, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.outputs(repeated.X)[m]; !floats.EqualApprox(got, want.output, 1e-6) {
			t.Errorf("class %d: outputs %v, of repeated cases %v", m, got, want.output)
		}
	}

	once, three := blobs(40, 2, 24), make([]float64, 40)
	var y, output, held []float64
	for i, v := range once.Y.Value {
		out := once.X.X.At(i, 0)
		held, three[i] = append(held, out), 1
		if v > 0 {
			three[i] = 3
		}
		y = append(y, slices.Repeat([]float64{v}, int(three[i]))...)
		output = append(output, slices.Repeat([]float64{out}, int(three[i]))...)
	}
	got, want := platt(once.Y.Value, held, nil, three), platt(y, output, nil, nil)
	if math.Abs(got.alpha-want.alpha) > 1e-9 || math.Abs(got.beta-want.beta) > 1e-9 {
		t.Errorf("%+v, of repeated cases %+v", got, want)
	}
}

// Balanced weights give all classes the same total weight, and find more cases of a rare class.
func TestBalanced(t *testing.T) {
	if got := Balanced.of([]float64{30, 10, 0, 20}); !slices.Equal(got, []float64{60. / 90, 2, 0, 1}) {
		t.Error(got)
	}
	if got := Uniform.of([]float64{30, 10, 0, 20}); !slices.Equal(got, []float64{1, 1, 0, 1}) {
		t.Error(got)
	}
	d, _, index := unequal(2, 25)
	found := func(c Comparator, d objective.Data) (rare int) {
		p := predicted(fitted(t, c, d), d.X, 2)
		for i, v := range d.Y.Value {
			if v > 0 && p.At(i, 1) > 0.5 {
				rare++
			}
		}
		return rare
	}
	for name, of := range map[string][2]Comparator{
		"logistic regression": {LogisticRegression{}, LogisticRegression{ClassWeight: Balanced}},
		"svm":                 {SVM{kernel: kernel.SE{}}, SVM{ClassWeight: Balanced, kernel: kernel.SE{}}},
	} {
		if plain, balanced := found(of[0], d), found(of[1], d); balanced <= plain {
			t.Errorf("%s finds %d, balanced %d", name, plain, balanced)
		}
		p := predicted(fitted(t, of[1], d), d.X, 2)
		mean := 0.0
		for i, c := range index {
			mean += p.At(i, 1) * Balanced.of([]float64{30, 10})[c] / float64(len(index))
		}
		if math.Abs(mean-0.5) > 0.05 {
			t.Errorf("%s: mean probability %v of either of two classes that count alike", name, mean)
		}
	}
}
