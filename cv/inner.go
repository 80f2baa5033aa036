package cv

import (
	"cmp"
	"slices"
)

// Inner is the splitter of a training set into k folds, by default (0) into usual ones, or as many
// as it has groups, which stay together, or cases.
func Inner(k, usual, n int, groups []string) Splitter {
	if groups == nil {
		return KFold{K: cmp.Or(k, min(usual, n))}
	}
	there := len(slices.Compact(slices.Sorted(slices.Values(groups))))
	return GroupKFold{K: cmp.Or(k, min(usual, there)), Stratified: true}
}
