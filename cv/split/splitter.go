// Package split divides cases into training and test parts.
//
// A Splitter (folds, stratified, repeated or by groups, hold-out, leave-one-out; one file each)
// turns n labels into folds of case numbers. The function Split checks them.
package split

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Fold is one division of the cases 0 … n-1. The parts have no case in common.
type Fold struct {
	Repeat, Fold int // both count from 0; Fold starts at 0 in every repeat
	Train, Test  []int
}

// Splitter is a way to divide cases into training and test parts. Its options are its exported
// fields; their zero values are the documented defaults.
type Splitter interface {
	// Split divides n cases; at least two, and not all of one class. The function Split checks the
	// folds.
	//
	// labels are their classes 0 … C-1, or nil for numeric targets. groups has the name of every
	// case's group: no group may have cases in both parts of a fold; nil: every case is its own
	// group. The result depends on the arguments only.
	//
	// It is an error if the options cannot be met with these cases.
	Split(n int, labels []int, groups []string, seed uint64) ([]Fold, error)
}

// classCounts counts the cases of every class. A negative label panics.
func classCounts(labels []int) []int {
	var counts []int
	for i, c := range labels {
		if c < 0 {
			panic(fmt.Sprintf("split: label %d of case %d; labels are numbers of classes, from 0", c, i))
		}
		for c >= len(counts) {
			counts = append(counts, 0)
		}
		counts[c]++
	}
	return counts
}

// stratify resolves the option `stratified`: by default where there are classes.
func stratify(asked *bool, labels []int) (bool, error) {
	if asked == nil {
		return labels != nil, nil
	}
	if *asked && labels == nil {
		return false, fmt.Errorf("stratified: true needs classes, and the targets are numbers; leave it out")
	}
	return *asked, nil
}

// order is a random order of the cases; a stratified one lists class after class. Every repeat has
// its own stream of random numbers.
func order(n int, labels []int, stratified bool, seed uint64, repeat int) []int {
	cases := rand.New(rand.NewPCG(seed, uint64(repeat))).Perm(n)
	if stratified {
		slices.SortStableFunc(cases, func(i, j int) int { return labels[i] - labels[j] })
	}
	return cases
}

// MaxFolded bounds the cases in both parts of all folds together, which are held in memory:
// leave-one-out of 7 071 cases.
const MaxFolded = 50_000_000

// bounded returns an error if n cases in each of these folds are more than MaxFolded.
func bounded(n, folds int) error {
	if n > 0 && folds > MaxFolded/n {
		return fmt.Errorf("%d folds of %d cases are more than can be held, %d cases in the parts of all of them; "+
			"take fewer folds or cases", folds, n, MaxFolded)
	}
	return nil
}

// folds makes the k folds of one repeat from the fold in which each case is tested (-1: in none).
func folds(tested []int, k, repeat int) ([]Fold, error) {
	if err := bounded(len(tested), k); err != nil {
		return nil, err
	}
	out := make([]Fold, k)
	for f := range out {
		out[f].Repeat, out[f].Fold = repeat, f
		for i, t := range tested {
			if t == f {
				out[f].Test = append(out[f].Test, i)
			} else {
				out[f].Train = append(out[f].Train, i)
			}
		}
	}
	return out, nil
}
