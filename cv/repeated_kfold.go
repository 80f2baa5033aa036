package cv

import "fmt"

// RepeatedKFold is KFold again and again on the same cases, each time in another random order. The first repeat is the
// KFold of the same seed. Every case is tested once in every repeat, so the intervals of scores take the case, not the
// prediction, as their unit (see Predictions.Cases).
type RepeatedKFold struct {
	K          int   `yaml:"k"`          // number of folds, 2 … n; 0 means 10
	Repeats    int   `yaml:"repeats"`    // at least 1; 0 means 10
	Stratified *bool `yaml:"stratified"` // nil means true if there are classes
}

// Split implements Splitter.
func (s RepeatedKFold) Split(n int, labels []int, groups []string, seed uint64) ([]Fold, error) {
	repeats := s.Repeats
	if repeats == 0 {
		repeats = 10
	}
	if repeats < 1 {
		return nil, fmt.Errorf("repeats: %d; it must be at least 1", repeats)
	}
	var out []Fold
	for r := range repeats {
		part, err := KFold{s.K, s.Stratified}.split(n, labels, groups, seed, r)
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}
