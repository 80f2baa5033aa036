package split

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// GroupKFold divides the groups into k parts, so that no group is in both parts of a fold. The
// groups are dealt out from the largest to the smallest, each to the part with the fewest cases so
// far; groups of equal size come in a random order and of equal parts the first is taken. The order
// is drawn for the groups as they first appear among the cases, so that their names do not matter.
// Stratified, each group goes to the part for which Σ_f Σ_c (n_fc/n_c)² becomes least, with n_fc
// the cases of class c in part f and n_c all cases of class c. Of equal parts it goes to the part
// with the fewest cases. So the parts have nearly the same number of cases of every class, as far
// as whole groups permit.
type GroupKFold struct {
	K          int  `yaml:"k" within:"[2,inf]"` // number of folds; 0 means UsualFolds
	Stratified bool `yaml:"stratified"`         // balance the classes
}

// Split implements Splitter.
func (s GroupKFold) Split(n int, labels []int, groups []string, seed uint64) ([]Fold, error) {
	if groups == nil {
		return nil, fmt.Errorf("the data have no groups; name their column in data.group, or set " +
			"data.duplicates: together")
	}
	if _, err := stratify(&s.Stratified, labels); err != nil {
		return nil, err
	}
	class := make([]int, n) // one, for balance
	if s.Stratified {
		class = labels
	}
	total := classCounts(class)
	size, of := map[string]int{}, map[string][]int{} // cases of a group, and of every class in it
	var names []string                               // names of groups, as they first appear
	for i, g := range groups {
		if of[g] == nil {
			of[g], names = make([]int, len(total)), append(names, g)
		}
		size[g]++
		of[g][class[i]]++
	}
	k, err := numberOfFolds(s.K, len(names), "groups")
	if err != nil {
		return nil, err
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(size[b], size[a]) })
	parts := make([]part, k)
	for f := range parts {
		parts[f] = part{fold: f, load: make([]int, len(total))}
	}
	foldOf := map[string]int{}
	for _, g := range names {
		added := make([]float64, k)
		for f, p := range parts {
			added[f] = p.added(of[g], total)
		}
		best := slices.MinFunc(parts, func(a, b part) int {
			return cmp.Or(cmp.Compare(added[a.fold], added[b.fold]), cmp.Compare(a.held, b.held))
		}).fold
		foldOf[g] = best
		parts[best].held += size[g]
		for c, m := range of[g] {
			parts[best].load[c] += m
		}
	}
	tested := make([]int, n)
	for i, g := range groups {
		tested[i] = foldOf[g]
	}
	return folds(tested, k, 0)
}

// part is the test part of a fold: its cases of every class, and in all.
type part struct {
	fold, held int
	load       []int
}

// added returns the increase of the sum of squares if a group joined the part. group has its number
// of cases of every class.
func (p part) added(group, total []int) (sum float64) {
	for c, m := range group {
		if m > 0 {
			sum += float64(m*(2*p.load[c]+m)) / float64(total[c]) / float64(total[c])
		}
	}
	return sum
}
