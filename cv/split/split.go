package split

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

// Split divides n cases by a splitter, checks its folds and sorts their parts. Labels or groups of
// another length panic, and so do negative labels.
//
// It is an error if a fold is not numbered in order. It is an error if a part is empty, has a case
// twice or has a number that no case has. It is an error if a case or a group is in both parts, or
// if a training part lacks one of the classes (LostClass). These errors name the splitter and the
// fold. A panic of the splitter is an error too, and so is a splitter of another program that gives
// two answers to one question.
func Split(s Splitter, n int, labels []int, groups []string, seed uint64) ([]Fold, error) {
	if labels != nil && len(labels) != n || groups != nil && len(groups) != n {
		panic(fmt.Sprintf("split: %d cases, %d labels and %d groups", n, len(labels), len(groups)))
	}
	if n < 2 {
		return nil, fmt.Errorf("a training and a test part need two cases or more, and there are fewer (%d)", n)
	}
	all := classCounts(labels)
	if labels != nil && slices.Max(all) == n {
		return nil, fmt.Errorf("all %d cases are of class %d; a classifier needs two classes", n, labels[0])
	}
	name := cmp.Or(Table.NameOf(s), fmt.Sprintf("%T", s))
	split := func() (folds []Fold, err error) {
		thrown := panicked.Try(func() { folds, err = s.Split(n, slices.Clone(labels), slices.Clone(groups), seed) })
		if thrown != nil {
			err = fmt.Errorf("splitter %s: %w", name, thrown)
		}
		return folds, err
	}
	folds, err := split()
	if err != nil {
		return nil, err
	}
	if Table.VersionOf(name) > 0 {
		if again, err := split(); err != nil || !reflect.DeepEqual(again, folds) {
			return nil, fmt.Errorf("splitter %s: the same cases and seed give other folds the second time", name)
		}
	}
	if len(folds) == 0 {
		return nil, fmt.Errorf("splitter %s: it makes no folds", name)
	}
	c := fold{labels: labels, groups: groups, all: all, part: make([]int8, n)}
	due, held := Fold{}, 0
	for i := range folds {
		f := &folds[i]
		if next := (Fold{Repeat: due.Repeat + 1}); i > 0 && f.Repeat == next.Repeat {
			due = next
		}
		c.name = fmt.Sprintf("splitter %s: fold %d", name, f.Fold)
		if f.Repeat > 0 {
			c.name = fmt.Sprintf("splitter %s: repeat %d fold %d", name, f.Repeat, f.Fold)
		}
		if f.Repeat != due.Repeat || f.Fold != due.Fold {
			return nil, fmt.Errorf("%s comes where repeat %d fold %d is due; the folds of a repeat are numbered from 0",
				c.name, due.Repeat, due.Fold)
		}
		due.Fold++
		if held += len(f.Train) + len(f.Test); held > MaxFolded {
			return nil, bounded(n, MaxFolded)
		}
		if err := c.check(f); err != nil {
			return nil, err
		}
	}
	return folds, nil
}

// fold has the data for the check of a fold.
type fold struct {
	name   string
	labels []int
	groups []string
	all    []int  // cases of every class
	part   []int8 // the part of every case: 0 neither, 1 training, 2 test
}

// check checks a fold and sorts its parts.
func (c fold) check(f *Fold) error {
	clear(c.part)
	for k, cases := range []*[]int{&f.Train, &f.Test} {
		name, mark := []string{"training", "test"}[k], int8(k+1)
		if len(*cases) == 0 {
			return fmt.Errorf("%s would have %d training and %d test cases; neither part may be empty", c.name,
				len(f.Train), len(f.Test))
		}
		for _, i := range *cases {
			switch {
			case i < 0 || i >= len(c.part):
				return fmt.Errorf("%s has case %d in its %s part; the cases are 0 to %d", c.name, i, name,
					len(c.part)-1)
			case c.part[i] == mark:
				return fmt.Errorf("%s has case %d twice in its %s part", c.name, i, name)
			case c.part[i] != 0:
				return fmt.Errorf("%s has case %d in both parts; a score is of cases that do not train", c.name, i)
			}
			c.part[i] = mark
		}
		if !slices.IsSorted(*cases) {
			*cases = slices.Sorted(slices.Values(*cases))
		}
	}
	if c.groups != nil {
		tested := map[string]bool{}
		for _, i := range f.Test {
			tested[c.groups[i]] = true
		}
		for _, i := range f.Train {
			if tested[c.groups[i]] {
				return fmt.Errorf("%s would have cases of group %q in both parts; use group_kfold, or predefined folds",
					c.name, c.groups[i])
			}
		}
	}
	trained := make([]int, len(c.all))
	for _, i := range f.Train {
		if c.labels != nil {
			trained[c.labels[i]]++
		}
	}
	for class, count := range c.all {
		if count > 0 && trained[class] == 0 {
			return &LostClass{Fold: c.name, Class: class, Cases: count}
		}
	}
	return nil
}

// LostClass is the error of a split that leaves a training part without one of the classes.
type LostClass struct {
	Fold  string // names the splitter and the fold
	Class int
	Cases int    // number of cases of the class
	Name  string // name of the class; the caller may set it
}

func (e *LostClass) Error() string {
	class := strconv.Itoa(e.Class)
	if e.Name != "" {
		class = strconv.Quote(e.Name)
	}
	if e.Cases == 1 {
		return fmt.Sprintf("%s would train without class %s, which has 1 case; add cases of that class, or leave it "+
			"out of the data", e.Fold, class)
	}
	return fmt.Sprintf("%s would train without class %s: all of its cases (%d) are left out; "+
		"stratify, take other folds, or leave that class out of the data", e.Fold, class, e.Cases)
}
