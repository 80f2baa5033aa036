package preprocess

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A case of weight 2 is equivalent to two cases, for every method and for the replacement of
// missing values.
func TestWeightsOfRowsAreRepeatedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n, d = 12, 3
	x, weight := mat.NewDense(n, d, nil), make([]float64, n)
	var repeated []float64
	for i := range n {
		weight[i] = float64(1 + i%3)
		for j := range d {
			v := math.Round(8*r.NormFloat64()) / 4
			if (i+j)%7 == 0 {
				v = math.NaN()
			}
			x.Set(i, j, v)
		}
		for range i%3 + 1 {
			repeated = append(repeated, x.RawRowView(i)...)
		}
	}
	for _, how := range []string{"none", "standardize", "whiten"} {
		for _, missing := range []string{"mean", "median"} {
			weighted, _, err := FitWeighted(mat.DenseCopyOf(x), weight, how, missing)
			if err != nil {
				t.Fatal(err)
			}
			plain, _, err := Fit(mat.NewDense(len(repeated)/d, d, slices.Clone(repeated)), how, missing)
			if err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string][2][]float64{"impute": {weighted.Impute, plain.Impute}, "mean": {weighted.Mean, plain.Mean},
				"scale": {weighted.Scale, plain.Scale}} {
				if len(pair[0]) != len(pair[1]) {
					t.Errorf("%s, %s: %s %v and %v", how, missing, what, pair[0], pair[1])
					continue
				}
				for j, v := range pair[0] {
					if math.Abs(v-pair[1][j]) > 1e-13 {
						t.Errorf("%s, %s: %s %v and %v", how, missing, what, pair[0], pair[1])
					}
				}
			}
		}
	}
}

// At most half of the weight is below the median, and at most half above it.
func TestWeightedMedian(t *testing.T) {
	for _, c := range []struct {
		x, weight []float64
		want      float64
	}{
		{[]float64{3, 1, 2}, nil, 2}, {[]float64{4, 1, 2, 3}, nil, 2.5}, {[]float64{3, 1, 2}, []float64{1, 1, 1}, 2}, {[]float64{4, 1, 2, 3}, []float64{1, 1, 1, 1}, 2.5},
		{[]float64{1, 2, 3}, []float64{5, 1, 1}, 1}, {[]float64{1, 2, 3}, []float64{2, 1, 1}, 1.5}, {[]float64{3, 2, 1}, []float64{1, 1, 2}, 1.5},
		{[]float64{1, 2, 3}, []float64{1, 1, 5}, 3}, {[]float64{7}, []float64{0.1}, 7}, {[]float64{1, 2}, []float64{1, 3}, 2}, {[]float64{1, 2}, []float64{3, 1}, 1},
	} {
		if got := weightedMedian(c.x, c.weight); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	there, of := present([]float64{1, math.NaN(), 3}, []float64{4, 5, 6})
	if !slices.Equal(there, []float64{1, 3}) || !slices.Equal(of, []float64{4, 6}) {
		t.Errorf("%v, %v", there, of)
	}
	if there, of = present([]float64{1, math.NaN(), 3}, nil); len(there) != 2 || of != nil {
		t.Errorf("%v, %v", there, of)
	}
}
