package cv

import (
	"cmp"
	"slices"
)

// Inner is the splitter of a training set of n cases into k folds. 0 folds stand for the usual
// number, or for as many as there are groups, which stay together, or cases, if these are fewer.
func Inner(k, usual, n int, groups []string) Splitter {
	if groups == nil {
		return KFold{K: cmp.Or(k, min(usual, n))}
	}
	there := len(slices.Compact(slices.Sorted(slices.Values(groups))))
	return GroupKFold{K: cmp.Or(k, min(usual, there)), Stratified: true}
}
