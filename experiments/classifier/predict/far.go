package predict

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// span has the bounds between which preprocessed values of an input are near the training cases:
// the range of the training cases, extended to either side by its width. A kernel has seen nothing
// like a value beyond them. Under a logarithm these are values of another order of magnitude.
type span struct{ lo, hi float64 }

// spansOf returns the span of every preprocessed input, from its least and largest values.
func spansOf(least, largest []float64) (all []span) {
	for j, lo := range least {
		hi := largest[j]
		all = append(all, span{lo - (hi - lo), hi + (hi - lo)})
	}
	return all
}

// farCases counts the cases with a value outside its span, in all and by the column of the file
// that an input is made from.
type farCases struct {
	cases  int
	counts map[string]int
}

// add counts the cases of preprocessed inputs z. from has the column of each input, and is nil for
// inputs that belong to no column. A constant input has no width and is not looked at.
func (f *farCases) add(z *mat.Dense, spans []span, from []string) {
	n, _ := z.Dims()
	if f.counts == nil {
		f.counts = map[string]int{}
	}
	for i := range n {
		beyond := map[string]bool{}
		for j, at := range spans {
			name := ""
			if from != nil {
				name = from[j]
			}
			if v := z.At(i, j); at.lo < at.hi && (v < at.lo || v > at.hi) && !beyond[name] {
				beyond[name] = true
				f.counts[name]++
			}
		}
		if len(beyond) > 0 {
			f.cases++
		}
	}
}

// notices returns one notice about all far cases, or none. from is as for add.
func (f *farCases) notices(from []string) []cause.Notice {
	if f.cases == 0 {
		return nil
	}
	which := "inputs"
	if from != nil {
		var texts []string
		for _, name := range slices.Compact(slices.Clone(from)) {
			if n := f.counts[name]; n > 0 && len(f.counts) > 1 {
				texts = append(texts, fmt.Sprintf("%q (%d)", name, n))
			} else if n > 0 {
				texts = append(texts, fmt.Sprintf("%q", name))
			}
		}
		which = "values of " + data.Abridged(texts)
	}
	return []cause.Notice{cause.Far.Of(f.cases, "%s are far from all training cases: after preprocessing, outside "+
		"their range by more than its width", which)}
}
