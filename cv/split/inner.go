package split

import (
	"cmp"
	"slices"
)

// Inner is the splitter of a training set of n cases into k folds. k = 0 means the usual number of
// folds, but at most one per group, or without groups at most one per case. Groups stay together.
func Inner(k, usual, n int, groups []string) Splitter {
	if groups == nil {
		return KFold{K: cmp.Or(k, min(usual, n))}
	}
	there := len(slices.Compact(slices.Sorted(slices.Values(groups))))
	return GroupKFold{K: cmp.Or(k, min(usual, there)), Stratified: true}
}
