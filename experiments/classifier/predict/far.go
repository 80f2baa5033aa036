package predict

import (
	"math"

	"gonum.org/v1/gonum/mat"
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

// far counts the cases with a value outside its span, by the column of the file that an input is
// made from, in the order of the columns. Whitened inputs, for which from is nil, belong to no
// column of their own: they are counted together, under the name "". A constant input has no width
// and is not looked at.
func far(z *mat.Dense, spans []span, from []string) (columns []string, counts map[string]int) {
	cases, _ := z.Dims()
	beyond := map[string]map[int]bool{}
	for j, at := range spans {
		name := ""
		if from != nil {
			name = from[j]
		}
		for i := range cases {
			if v := z.At(i, j); at.lo < at.hi && (v < at.lo || v > at.hi) {
				if beyond[name] == nil {
					beyond[name], columns = map[int]bool{}, append(columns, name)
				}
				beyond[name][i] = true
			}
		}
	}
	counts = map[string]int{}
	for name, rows := range beyond {
		counts[name] = len(rows)
	}
	return columns, counts
}
