package split

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// HoldOut makes one fold: a random test part of round(test_size · n) cases. Stratified, every class
// has its share of the test part within one case, by largest remainders, and keeps at least one
// training case (then the test part may be smaller). The sizes do not depend on the order of the
// cases or the seed.
type HoldOut struct {
	TestSize   float64 `yaml:"test_size" within:"(0,1)"` // share of the cases that is held out; 0 means 0.2
	Stratified *bool   `yaml:"stratified"`               // nil means true if there are classes
}

// Split implements Splitter.
func (s HoldOut) Split(n int, labels []int, _ []string, seed uint64) ([]Fold, error) {
	size := cmp.Or(s.TestSize, 0.2)
	if !(size > 0 && size < 1) {
		return nil, fmt.Errorf("test_size: %v must be between 0 and 1, the share of the cases that is held out", size)
	}
	stratified, err := stratify(s.Stratified, labels)
	if err != nil {
		return nil, err
	}
	m := int(math.Round(size * float64(n)))
	take := []int{m} // test cases of every stratum
	if stratified {
		take = apportion(m, classCounts(labels))
	}
	tested := make([]int, n)
	for _, i := range order(n, labels, stratified, seed, 0) {
		stratum := 0
		if stratified {
			stratum = labels[i]
		}
		tested[i] = min(take[stratum], 1) - 1
		take[stratum] = max(take[stratum]-1, 0)
	}
	return folds(tested, 1, 0)
}

// apportion divides m seats among classes in proportion to counts: each gets its share rounded
// down, and the largest remainders one more, the first class where they are equal. No class gives
// all of its cases away.
func apportion(m int, counts []int) []int {
	n := 0
	for _, count := range counts {
		n += count
	}
	seats, byRemainder, left := make([]int, len(counts)), make([]int, len(counts)), m
	for c, count := range counts {
		seats[c], byRemainder[c] = m*count/n, c
		left -= seats[c]
	}
	slices.SortStableFunc(byRemainder, func(a, b int) int { return cmp.Compare(m*counts[b]%n, m*counts[a]%n) })
	for _, c := range byRemainder {
		if left > 0 && m*counts[c]%n > 0 && seats[c]+1 < counts[c] {
			seats[c]++
			left--
		}
	}
	return seats
}
