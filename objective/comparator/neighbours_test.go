package comparator

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// A case is predicted the same, bit by bit, whatever other cases are predicted with it.
func TestPredictionsKnowNoNeighbours(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		for _, classes := range []int{2, 5} {
			f, z := fitted(t, c, blobs(90, classes, 3)), blobs(25, classes, 4).X
			want := predicted(f, z, classes)
			for _, size := range []int{1, 6} {
				for from := 0; from < z.N(); from += size {
					to := min(from+size, z.N())
					got := predicted(f, &kernel.Inputs{X: z.X.Slice(from, to, 0, z.Dim()).(*mat.Dense)}, classes)
					for i := range to - from {
						for k, v := range got.RawRowView(i) {
							if math.Float64bits(v) != math.Float64bits(want.At(from+i, k)) {
								t.Fatalf("case %d in a batch of %d, class %d: %v, want %v", from+i, size, k, v, want.At(from+i, k))
							}
						}
					}
				}
			}
		}
	})
}
