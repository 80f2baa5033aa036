package comparator

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
)

// TestExpand: from a condensed state a comparator makes the same predictions to the bit without its training set, and a
// state that no fit leaves is an error.
func TestExpand(t *testing.T) {
	expanders := 0
	each(t, func(t *testing.T, c Comparator) {
		e, is := c.(Expander)
		if !is {
			return
		}
		expanders++
		for _, classes := range []int{2, 3} {
			d, z := blobs(60, classes, 1), blobs(100, classes, 2)
			f := fitted(t, c, d)
			s := f.(Condensed).Condense()
			again, err := e.Expand(d.X.Dim(), classes, s)
			if err != nil {
				t.Fatal(err)
			}
			if p, q := predicted(f, z.X, classes), predicted(again, z.X, classes); !mat.Equal(p, q) {
				t.Errorf("%d classes: expanded, it predicts differently", classes)
			}
			was, is := f.Summary(), again.Summary()
			if !slices.Equal(was.Natural, is.Natural) || !slices.EqualFunc(was.Coefficients, is.Coefficients, slices.Equal) ||
				!slices.EqualFunc(was.StandardErrors, is.StandardErrors, slices.Equal) {
				t.Errorf("%d classes: %+v, expanded %+v", classes, was, is)
			}
			if !slices.Equal(again.(Condensed).Condense(), s) {
				t.Errorf("%d classes: the state is another", classes)
			}
			last := len(s) - 1
			if s[last] == -1 { // the mark of probabilities at the mode
				last--
			}
			wrong := []approx.State{append(slices.Clone(s), 1), s[1:], nil}
			for _, of := range []struct {
				i int
				v float64
			}{{0, math.NaN()}, {0, -1}, {last, math.Inf(1)}, {last, -1}} {
				w := slices.Clone(s)
				w[of.i] = of.v
				wrong = append(wrong, w)
			}
			for _, w := range wrong {
				if _, err := e.Expand(d.X.Dim(), classes, w); err == nil {
					t.Errorf("%d classes: state %v: no error", classes, w)
				}
			}
		}
	})
	if expanders != 2 {
		t.Errorf("%d comparators need no training set, want base_rate and logistic_regression", expanders)
	}
}
