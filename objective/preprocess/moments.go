package preprocess

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Mean is the mean of x. It is computed about x[0], so that the mean of equal values is exactly
// their value.
func Mean(x []float64) float64 { return weightedMean(x, nil) }

func weightedMean(x, weight []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += weightOf(weight, i) * (v - x[0])
	}
	return x[0] + sum/count(len(x), weight)
}

// weightOf is the weight of case i, and count the sum of the weights of n cases; nil: 1 each.
func weightOf(weight []float64, i int) float64 {
	if weight == nil {
		return 1
	}
	return weight[i]
}

func count(n int, weight []float64) float64 {
	if weight == nil {
		return float64(n)
	}
	return floats.Sum(weight)
}

// present returns the values that are not missing, with their weights.
func present(x, weight []float64) (there, of []float64) {
	for i, v := range x {
		if math.IsNaN(v) {
			continue
		}
		there = append(there, v)
		if weight != nil {
			of = append(of, weight[i])
		}
	}
	return there, of
}

// deviation is the population standard deviation of x about its mean mu, corrected for the rounding
// of mu; NaN if all values are equal to mu.
func deviation(x, weight []float64, mu float64) float64 {
	largest := 0.0 // scales the squares, which could underflow
	for _, v := range x {
		largest = max(largest, math.Abs(v-mu))
	}
	n, sum, squares := count(len(x), weight), 0.0, 0.0
	for i, v := range x {
		c := (v - mu) / largest
		sum += weightOf(weight, i) * c
		squares += weightOf(weight, i) * c * c
	}
	return largest * math.Sqrt((squares-sum*sum/n)/n)
}

// Median is the median of x: the middle value, or the mean of the middle two.
func Median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return Mean(x[(n-1)/2 : n/2+1])
}

// weightedMedian is the value with at most half of the weight below it and at most half above it,
// or the mean of two such values.
func weightedMedian(x, weight []float64) float64 {
	if weight == nil {
		return Median(x)
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	half, below := count(len(x), weight)/2, 0.0
	for k, i := range order[:len(order)-1] {
		below += weight[i]
		switch {
		case below == half:
			return Mean([]float64{x[i], x[order[k+1]]})
		case below > half:
			return x[i]
		}
	}
	return x[order[len(order)-1]]
}
