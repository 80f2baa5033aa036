package cv

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// GroupKFold divides the groups into k parts, so that no group is in both parts of a fold. The groups are dealt out from
// the largest to the smallest, each to the part with the fewest cases so far; groups of equal size come in a random order
// and of equal parts the first is taken. Classes are not balanced. The order of the cases does not matter.
type GroupKFold struct {
	K int `yaml:"k"` // number of folds, 2 … number of groups; 0 means 10
}

// Split implements Splitter.
func (s GroupKFold) Split(n int, labels []int, groups []string, seed uint64) ([]Fold, error) {
	if err := cases(n, labels, groups); err != nil {
		return nil, err
	}
	if groups == nil {
		return nil, fmt.Errorf("the data have no groups; name their column in data.group")
	}
	size := map[string]int{}
	for _, g := range groups {
		size[g]++
	}
	names := slices.Compact(slices.Sorted(slices.Values(groups)))
	k, err := numberOfFolds(s.K, len(names), "groups")
	if err != nil {
		return nil, err
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	load := make([]int, k)
	part := map[string]int{}
	for _, g := range names {
		f := slices.Index(load, slices.Min(load))
		part[g] = f
		load[f] += size[g]
	}
	tested := make([]int, n)
	for i, g := range groups {
		tested[i] = part[g]
	}
	return folds(tested, k, 0, labels, groups)
}
