package split

import "github.com/gpc-tune/gpc-tune/internal/registry"

// Table lists the splitters.
var Table = registry.Table[Splitter]{
	registry.Of[KFold, Splitter]("kfold", "k parts, each tested once (k: 10, from 500 cases on 5; stratified: true)"),
	registry.Of[RepeatedKFold, Splitter]("repeated_kfold",
		"kfold, again and again with newly shuffled folds (repeats: 10)"),
	registry.Of[LeaveOneOut, Splitter]("leave_one_out", "each case is tested once, and all others train"),
	registry.Of[HoldOut, Splitter]("hold_out", "one random test part (test_size: 0.2, stratified: true)"),
	registry.Of[GroupKFold, Splitter]("group_kfold",
		"k parts that keep the cases of a group together (k: 10, from 500 groups on 5; stratified: false)"),
	registry.Of[Predefined, Splitter]("predefined", "a column of integers gives the fold in which each case is "+
		"tested"),
}

// Register adds a splitter of another program to Table, as kernel.Register does a kernel.
func Register[S Splitter](name, doc string, version int, defaults ...S) {
	registry.Register[S, Splitter](&Table, "splitter", name, doc, version, defaults...)
}
