package comparator

import (
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestWeightsAreRepeatedCases: a case of weight w is w equal cases of one group, which are held out together.
func TestWeightsAreRepeatedCases(t *testing.T) {
	each(t, func(t *testing.T, c Comparator) {
		for _, classes := range []int{2, 3} {
			weighted, z := blobs(60, classes, 1), blobs(40, classes, 2)
			repeated := objective.Data{Y: approx.Targets{Classes: classes}, Classes: weighted.Classes, Scaled: weighted.Scaled}
			var rows [][]float64
			for i := range weighted.X.N() {
				w := (i*i + i/3) % 4
				weighted.Y.Weight = append(weighted.Y.Weight, float64(w))
				weighted.Groups = append(weighted.Groups, strconv.Itoa(i))
				for range w {
					rows = append(rows, slices.Clone(weighted.X.X.RawRowView(i)))
					repeated.Groups = append(repeated.Groups, strconv.Itoa(i))
					if classes == 2 {
						repeated.Y.Value = append(repeated.Y.Value, weighted.Y.Value[i])
					} else {
						repeated.Y.Index = append(repeated.Y.Index, weighted.Y.Index[i])
					}
				}
			}
			x, err := kernel.NewInputs(rows)
			if err != nil {
				t.Fatal(err)
			}
			repeated.X = x
			f := fitted(t, c, weighted)
			p, q := predicted(f, z.X, classes), predicted(fitted(t, c, repeated), z.X, classes)
			if !mat.EqualApprox(p, q, 1e-9) {
				t.Errorf("%d classes: predictions differ from those of repeated cases", classes)
			}
			again, err := c.Restore(weighted, f.State())
			if err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(p, predicted(again, z.X, classes)) {
				t.Errorf("%d classes: restored predictions differ", classes)
			}
		}
	})
}
