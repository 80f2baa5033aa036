package shown

import (
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// OfClass are the values of the cases of a class.
func OfClass(values []record.Number, labels []int, class int) (out []float64) {
	for i, label := range labels {
		if label == class {
			out = append(out, float64(values[i]))
		}
	}
	return out
}

// Band is two standard deviations to either side of the mean.
func Band(name string, x []float64, mean, variance []record.Number) figure.Band {
	b := figure.Band{Name: name, X: x}
	for i, m := range mean {
		sd := math.Sqrt(float64(variance[i]))
		b.Lo, b.Hi = append(b.Lo, float64(m)-2*sd), append(b.Hi, float64(m)+2*sd)
	}
	return b
}

// Bulk is the range of values, limited to three times the range without the lowest and the highest
// tenth: amplitudes that differ between folds can make some values huge.
func Bulk(values []float64) (lo, hi float64) {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !figure.Drawable(v) })
	if len(values) == 0 {
		return 0, 0
	}
	slices.Sort(values)
	n := len(values)
	from, to := values[n/10], values[n-1-n/10]
	return max(values[0], 2*from-to), min(values[n-1], 2*to-from)
}

// BinEdges divides a range into at most most + 2 bins. Their width is 1, 2 or 5 times a power of
// ten, and their edges are multiples of it.
func BinEdges(lo, hi, most float64) []float64 {
	least := max((hi-lo)/most, 1e-6*max(math.Abs(lo), math.Abs(hi)), 1e-9)
	width := 0.0
	for _, round := range []float64{10, 5, 2, 1} {
		if w := round * math.Pow(10, math.Floor(math.Log10(least))); width == 0 || w >= least {
			width = w
		}
	}
	var edges []float64
	for k := math.Floor(lo / width); ; k++ {
		if edges = append(edges, k*width); k*width > hi {
			return edges
		}
	}
}

// Histogram counts the values between the edges; the lower edge belongs to its bin. What is
// beyond is in the first and the last.
func Histogram(name string, edges, values []float64) figure.Bars {
	b := figure.Bars{Name: name, Edges: edges, Heights: make([]float64, len(edges)-1)}
	for _, v := range values {
		i, at := slices.BinarySearch(edges, v)
		if !at {
			i--
		}
		b.Heights[min(max(i, 0), len(b.Heights)-1)]++
	}
	return b
}
