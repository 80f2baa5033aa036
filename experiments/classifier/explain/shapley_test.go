package explain

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// smooth is a prediction with interactions of all orders.
func smooth(x *mat.Dense) ([]float64, error) {
	n, d := x.Dims()
	out := make([]float64, n)
	for i := range n {
		f := x.At(i, 0)*x.At(i, 1) - 0.5*x.At(i, d-1)
		for j := range d {
			f += math.Sin(float64(j+1) * x.At(i, j))
		}
		out[i] = 1 / (1 + math.Exp(-f))
	}
	return out, nil
}

// With 8 inputs, each value equals the mean over all 8! orders of the change when the input takes
// the value of the case, and they sum to the difference to 1e-9. An input that the prediction
// ignores has 0.
func TestShapleyValuesEqualBruteForce(t *testing.T) {
	const d = 8
	background, row := drawn(5, d, 1), drawn(1, d, 2).RawRowView(0)
	predict := func(x *mat.Dense) ([]float64, error) {
		masked := mat.DenseCopyOf(x)
		for i := range masked.RawMatrix().Rows {
			masked.Set(i, 4, 0)
		}
		return smooth(masked)
	}
	got, err := Shapley(row, background, singles(d), predict, 1)
	if err != nil {
		t.Fatal(err)
	}
	value := map[int]float64{} // of each subset
	for s := range 1 << d {
		x := mat.DenseCopyOf(background)
		for i := range 5 {
			for j := range d {
				if s>>j&1 == 1 {
					x.Set(i, j, row[j])
				}
			}
		}
		v, _ := predict(x)
		for _, p := range v {
			value[s] += p / 5
		}
	}
	want := make([]float64, d)
	orders := 0
	var visit func(order []int, in int)
	visit = func(order []int, in int) {
		if len(order) == d {
			orders++
			s := 0
			for _, j := range order {
				want[j] += value[s|1<<j] - value[s]
				s |= 1 << j
			}
			return
		}
		for j := range d {
			if in>>j&1 == 0 {
				visit(append(order, j), in|1<<j)
			}
		}
	}
	visit(nil, 0)
	sum := 0.0
	for j, v := range got.Shapley {
		sum += v
		if math.Abs(v-want[j]/float64(orders)) > 1e-12 {
			t.Errorf("input %d: %v, want %v", j, v, want[j]/float64(orders))
		}
	}
	if math.Abs(sum-(got.Value-got.Base)) > 1e-9 || math.Abs(got.Shapley[4]) > 1e-15 || got.Error != nil {
		t.Errorf("sum %v of %+v", sum, got)
	}
}

// With 12 inputs the values are sampled. They sum to the difference to 1e-9, and over 60 seeds
// their errors have the stated size: mean squared error over stated variance is 1 within a third.
func TestSampledShapleyValuesStateTheirError(t *testing.T) {
	const d = 12
	background, row := drawn(10, d, 1), drawn(1, d, 2).RawRowView(0)
	mean := make([]float64, d)
	var all []Attribution
	for seed := range uint64(60) {
		a, err := Shapley(row, background, singles(d), smooth, seed)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for j, v := range a.Shapley {
			sum += v
			mean[j] += v / 60
		}
		if math.Abs(sum-(a.Value-a.Base)) > 1e-9 {
			t.Fatalf("seed %d: sum %v, want %v", seed, sum, a.Value-a.Base)
		}
		all = append(all, a)
	}
	ratio := 0.0
	for _, a := range all {
		for j, v := range a.Shapley {
			ratio += (v - mean[j]) * (v - mean[j]) / (a.Error[j] * a.Error[j]) / 59 / d
		}
	}
	if ratio > 1.33 || ratio < 0.33 {
		t.Errorf("squared errors are %v times as large as stated", ratio)
	}
	t.Logf("squared errors are %v times the stated ones", ratio)
}
