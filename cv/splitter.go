package cv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Fold is one division of the cases 0 … n-1. Both parts are sorted, and Train is the complement of
// Test.
type Fold struct {
	Repeat, Fold int // both from 0; folds are numbered afresh in every repeat
	Train, Test  []int
}

// Splitter is a way to divide cases into training and test parts. Its options are its exported
// fields; their zero values are the documented defaults.
type Splitter interface {
	// Split divides n cases.
	//
	// labels are their classes 0 … C-1, or nil for numeric targets. groups names, for every case,
	// what must stay together: no group may have cases in both parts of a fold; nil: every case is
	// its own group. The result depends on the arguments only. Labels or groups of another length
	// panic.
	//
	// It is an error if the options ask for what these cases cannot give: parts that would be
	// empty, a group in both parts, or a training part without one of the classes, which no
	// classifier could then learn.
	Split(n int, labels []int, groups []string, seed uint64) ([]Fold, error)
}

// LostClass is the error of a split that leaves a training part without one of the classes.
type LostClass struct {
	Fold, Class int
	Cases       int    // of the class
	Name        string // of the class, for who knows it
}

func (e *LostClass) Error() string {
	class := strconv.Itoa(e.Class)
	if e.Name != "" {
		class = strconv.Quote(e.Name)
	}
	return fmt.Sprintf("fold %d would train without class %s: all of its cases (%d) are in the test part; "+
		"stratify, take other folds, or leave that class out of the data", e.Fold, class, e.Cases)
}

// cases checks the arguments of Split.
func cases(n int, labels []int, groups []string) error {
	if labels != nil && len(labels) != n || groups != nil && len(groups) != n {
		panic(fmt.Sprintf("cv: %d cases, %d labels and %d groups", n, len(labels), len(groups)))
	}
	if n < 2 {
		return fmt.Errorf("a training and a test part need two cases or more, and there are fewer (%d)", n)
	}
	if labels != nil && slices.Max(classCounts(labels)) == n {
		return fmt.Errorf("all %d cases are of class %d; a classifier needs two classes", n, labels[0])
	}
	return nil
}

// classCounts counts the cases of every class.
func classCounts(labels []int) []int {
	var counts []int
	for _, c := range labels {
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

// order is a random order of the cases; a stratified one lists class after class. The stream of
// random numbers is told apart by the repeat.
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

// bounded refuses more than MaxFolded: n cases in so many folds.
func bounded(n, folds int) error {
	if n > 0 && folds > MaxFolded/n {
		return fmt.Errorf("%d folds of %d cases are more than can be held, %d cases in the parts of all of them; "+
			"take fewer folds or cases", folds, n, MaxFolded)
	}
	return nil
}

// folds makes the k folds of one repeat from the fold in which each case is tested (-1: in none),
// and checks that they can be used.
func folds(tested []int, k, repeat int, labels []int, groups []string) ([]Fold, error) {
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
		if err := out[f].check(labels, groups); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f Fold) check(labels []int, groups []string) error {
	if len(f.Train) == 0 || len(f.Test) == 0 {
		return fmt.Errorf("fold %d would have %d training and %d test cases; neither part may be empty",
			f.Fold, len(f.Train), len(f.Test))
	}
	if groups != nil {
		tested := map[string]bool{}
		for _, i := range f.Test {
			tested[groups[i]] = true
		}
		for _, i := range f.Train {
			if tested[groups[i]] {
				return fmt.Errorf("group %q would have cases in both parts of fold %d; "+
					"use group_kfold, or predefined folds", groups[i], f.Fold)
			}
		}
	}
	if labels != nil {
		all := classCounts(labels)
		left := slices.Clone(all)
		for _, i := range f.Test {
			left[labels[i]]--
		}
		for c := range left {
			if all[c] > 0 && left[c] == 0 {
				return &LostClass{Fold: f.Fold, Class: c, Cases: all[c]}
			}
		}
	}
	return nil
}
