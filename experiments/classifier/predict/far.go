package predict

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// span has the bounds between which preprocessed values of an input are near the training cases:
// the range of the training cases, extended to either side by its width. A kernel has seen nothing
// like a value beyond them. Under a logarithm these are values of another order of magnitude.
type span struct{ lo, hi float64 }

// spansOf returns the span of every preprocessed input of the training cases; nil: there are
// none in the model file.
func spansOf(inputs [][]float64) (all []span) {
	if len(inputs) == 0 {
		return nil
	}
	for j := range inputs[0] {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, row := range inputs {
			lo, hi = min(lo, row[j]), max(hi, row[j])
		}
		all = append(all, span{lo - (hi - lo), hi + (hi - lo)})
	}
	return all
}

// warnOfFar counts the cases with a value outside its span, by column of the file. Whitened inputs
// belong to no column of their own and are counted together. A constant input has no width and is
// not looked at.
func (s *stream) warnOfFar(z *mat.Dense) {
	cases, inputs := z.Dims()
	from := s.file.Columns.From()
	beyond := map[string]map[int]bool{}
	var order []string
	for j, at := range s.spans {
		name := ""
		if len(from) == inputs && s.file.Preprocess.How != "whiten" {
			name = from[j]
		}
		for i := range cases {
			if v := z.At(i, j); at.lo < at.hi && (v < at.lo || v > at.hi) {
				if beyond[name] == nil {
					beyond[name], order = map[int]bool{}, append(order, name)
				}
				beyond[name][i] = true
			}
		}
	}
	for _, name := range order {
		which := "inputs"
		if name != "" {
			which = "values of \"" + name + "\""
		}
		s.warn(cause.Far.Of(len(beyond[name]), "%s are far from all training cases: after preprocessing, outside "+
			"their range by more than its width", which))
	}
}
