package split

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Predefined tests together the cases of one integer, which stands in the place of the group. The
// folds come in the order of the integers and are numbered from 0. It has no options and nothing
// random, and the order of the cases does not matter.
type Predefined struct{}

// Split implements Splitter.
func (Predefined) Split(n int, _ []int, groups []string, _ uint64) ([]Fold, error) {
	if groups == nil {
		return nil, errors.New("the data do not say to which fold a case belongs; " +
			"name a column of integers in data.group")
	}
	number := make([]int, n)
	for i, g := range groups {
		v, err := strconv.ParseFloat(strings.TrimSpace(g), 64)
		number[i] = int(v)
		if err != nil || float64(number[i]) != v || math.Abs(v) > 1e9 || strings.ContainsAny(g, "_xX") {
			return nil, fmt.Errorf("case %d is in fold %q, which is no whole number", i+1, g)
		}
	}
	numbers := slices.Compact(slices.Sorted(slices.Values(number)))
	tested := make([]int, n)
	for i := range tested {
		tested[i], _ = slices.BinarySearch(numbers, number[i])
	}
	return folds(tested, len(numbers), 0)
}
