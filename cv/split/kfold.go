package split

import (
	"cmp"
	"fmt"
)

// KFold divides the cases at random into k parts of equal size within one, each the test part of
// one fold. Stratified, the parts are also equal within one in the number of cases of every class.
// The order of the cases and the seed decide which cases fall together; the number of cases of
// every class in every part depends on neither.
type KFold struct {
	K          int   `yaml:"k" within:"[2,inf]"` // number of folds, 2 … n; 0 means UsualFolds
	Stratified *bool `yaml:"stratified"`         // nil means true if there are classes
}

// Split implements Splitter.
func (s KFold) Split(n int, labels []int, _ []string, seed uint64) ([]Fold, error) {
	return s.split(n, labels, seed, 0)
}

func (s KFold) split(n int, labels []int, seed uint64, repeat int) ([]Fold, error) {
	k, err := numberOfFolds(s.K, n, "cases")
	if err != nil {
		return nil, err
	}
	stratified, err := stratify(s.Stratified, labels)
	if err != nil {
		return nil, err
	}
	// Position j of the order goes to part j mod k. So each part has the same number, within one,
	// of all cases and, stratified, of the cases of a class.
	tested := make([]int, n)
	for position, i := range order(n, labels, stratified, seed, repeat) {
		tested[i] = position % k
	}
	return folds(tested, k, repeat)
}

// UsualFolds is the number of folds of n cases, or groups, unless another is given: 10 below 500,
// and 5 from 500 on, where the size of the training part matters less.
func UsualFolds(n int) int {
	if n < 500 {
		return 10
	}
	return 5
}

// numberOfFolds resolves the option `k`, the number of parts into which n units are divided.
func numberOfFolds(k, n int, units string) (int, error) {
	if k = cmp.Or(k, UsualFolds(n)); k < 2 || k > n {
		return k, fmt.Errorf("k: %d folds of %d %s; k must be 2 to the number of %s", k, n, units, units)
	}
	return k, bounded(n, k)
}
