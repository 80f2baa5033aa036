package split

import (
	"cmp"
	"fmt"
)

// RepeatedKFold is KFold again and again on the same cases, each time in another random order. The
// first repeat is the KFold of the same seed. Every case is tested once in every repeat, so the
// intervals of scores take the case, not the prediction, as their unit (see Predictions.Cases).
type RepeatedKFold struct {
	K          int   `yaml:"k" within:"[2,inf]"`        // number of folds, 2 … n; 0 means UsualFolds
	Repeats    int   `yaml:"repeats" within:"[1,1000]"` // at least 1; 0 means 10
	Stratified *bool `yaml:"stratified"`                // nil means true if there are classes
}

// Split implements Splitter.
func (s RepeatedKFold) Split(n int, labels []int, _ []string, seed uint64) ([]Fold, error) {
	repeats := cmp.Or(s.Repeats, 10)
	if repeats < 1 || repeats > MaxFolded {
		return nil, fmt.Errorf("repeats: %d; it must be from 1 to %d", repeats, MaxFolded)
	}
	if k, err := numberOfFolds(s.K, n, "cases"); err != nil {
		return nil, err
	} else if err := bounded(n, repeats*k); err != nil {
		return nil, err
	}
	var out []Fold
	for r := range repeats {
		part, err := KFold{s.K, s.Stratified}.split(n, labels, seed, r)
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}
