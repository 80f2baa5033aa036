package job

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

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
