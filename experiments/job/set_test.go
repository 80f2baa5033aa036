package job

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// some returns different cases in order, and each class has its fraction of them up to rounding. A
// large number returns all cases. Two sets with the same cases return the same ones. Cases with
// numeric labels are drawn from the whole set.
func TestSomeCases(t *testing.T) {
	source := &data.Data{Classes: []string{"a", "b", "c"}}
	set := &Set{Source: source}
	for i := range 500 {
		source.Labels = append(source.Labels, min(2, i%10))
		if i%5 > 0 {
			set.Train = append(set.Train, i)
		}
	}
	share := func(rows []int, class int) float64 {
		n := 0
		for _, row := range rows {
			if source.Labels[row] == class {
				n++
			}
		}
		return float64(n) / float64(len(rows))
	}
	for _, n := range []int{2, 33, 100, 399, 400, 1000} {
		some := set.some(n)
		if len(some) != min(n, 400) || !slices.IsSorted(some) || len(slices.Compact(slices.Clone(some))) != len(some) {
			t.Errorf("%d of 400 cases: %v", n, some)
		}
		for class := range 3 {
			if got, want := share(data.Pick(set.Train, some), class), share(set.Train, class); math.Abs(got-want) > 1/float64(n) {
				t.Errorf("%d of 400 cases have a share %v of class %d, and all have %v", n, got, class, want)
			}
		}
		if again := (&Set{Source: source, Train: set.Train, Seed: 7}).some(n); !slices.Equal(some, again) {
			t.Errorf("%v and %v of the same cases", some, again)
		}
	}
	source.Labels = nil
	if some := set.some(40); len(some) != 40 || some[0] > 60 || some[39] < 340 {
		t.Errorf("of 400 numbers: %v", some)
	}
}

// Distinct rows of a matrix with few different values are counted as by a set of their bits.
func TestDistinctRowsAreCounted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	values := []float64{0, math.Copysign(0, -1), 1, 1 + 0x1p-52, math.NaN()}
	x := mat.NewDense(500, 4, nil)
	var rows []int
	seen := map[[4]uint64]bool{}
	for i := range 500 {
		var row [4]uint64
		for j := range row {
			v := values[r.IntN(len(values))]
			x.Set(i, j, v)
			row[j] = math.Float64bits(v)
		}
		if i%3 > 0 {
			rows = append(rows, i)
			seen[row] = true
		}
	}
	if got := distinctRows(x, rows); got != len(seen) || got == len(rows) {
		t.Errorf("%d rows differ, want %d of %d", got, len(seen), len(rows))
	}
}
