// Package splittertest contains the checks that every splitter must pass: folds that can be used,
// the same ones for the same cases and seed, and arguments left as they are. A test of a splitter
// of your own is
//
//	func TestMine(t *testing.T) { splittertest.Check(t, Mine{K: 5}) }
package splittertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

// Check divides 41, 60 and 120 cases of two and three classes, and of numeric targets, by s. Every
// class has at least two cases. The splitter must accept classes; if it needs groups, it gets 12.
func Check(t *testing.T, s split.Splitter) {
	t.Helper()
	for _, n := range []int{41, 60, 120} {
		for _, classes := range []int{0, 2, 3} {
			if err := conform(s, n, classes); err != nil {
				t.Errorf("%d cases of %d classes: %v", n, classes, err)
			}
		}
	}
}

// conform returns the first violation; no classes: numeric targets, which a splitter may refuse.
func conform(s split.Splitter, n, classes int) error {
	const seed = 7
	labels, groups := cases(n, classes)
	given := []string(nil)
	folds, err := split.Split(s, n, labels, given, seed)
	if err != nil {
		given = groups
		var err2 error
		if folds, err2 = split.Split(s, n, labels, given, seed); err2 != nil {
			if thrown := new(panicked.Error); labels == nil && !errors.As(err, &thrown) && !errors.As(err2, &thrown) {
				return nil
			}
			return fmt.Errorf("%w; with groups: %w", err, err2)
		}
	}
	if again, err := split.Split(s, n, labels, given, seed); err != nil || !reflect.DeepEqual(again, folds) {
		return errors.New("the same cases and seed give other folds the second time")
	}
	mine, together := slices.Clone(labels), slices.Clone(given)
	if _, err := s.Split(n, mine, together, seed); err != nil {
		return err
	}
	if !slices.Equal(mine, labels) || !slices.Equal(together, given) {
		return errors.New("it changes its arguments")
	}
	return nil
}

// cases makes labels and 12 groups of shuffled cases.
func cases(n, classes int) (labels []int, groups []string) {
	for _, i := range rand.New(rand.NewPCG(uint64(n), uint64(classes))).Perm(n) {
		if classes > 0 {
			labels = append(labels, i%(classes+1)%classes) // class 0 is twice as large
		}
		groups = append(groups, strconv.Itoa(i*7%12))
	}
	return labels, groups
}
