package splittertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv/split"
)

// hostile makes the second half of the cases, or what a test makes of it, the test part.
type hostile func(f *split.Fold, n int, labels []int)

func (h hostile) Split(n int, labels []int, _ []string, _ uint64) ([]split.Fold, error) {
	var f split.Fold
	for i := range n {
		if i < n/2 {
			f.Train = append(f.Train, i)
		} else {
			f.Test = append(f.Test, i)
		}
	}
	h(&f, n, labels)
	return []split.Fold{f}, nil
}

// none makes no folds.
type none struct{}

func (none) Split(int, []int, []string, uint64) ([]split.Fold, error) { return nil, nil }

// TestHostile: every way to break a fold is named, with the splitter and the fold.
func TestHostile(t *testing.T) {
	calls := 0
	for want, h := range map[string]split.Splitter{
		"":                                    hostile(func(*split.Fold, int, []int) {}),
		"fold 0 has case 20 in both parts":    hostile(func(f *split.Fold, n int, _ []int) { f.Train = append(f.Train, n/2) }),
		"fold 0 has case 41 in its test part": hostile(func(f *split.Fold, n int, _ []int) { f.Test = append(f.Test, n) }),
		"fold 0 has case -1 in its training part":    hostile(func(f *split.Fold, _ int, _ []int) { f.Train[0] = -1 }),
		"fold 0 has case 20 twice in its test part":  hostile(func(f *split.Fold, n int, _ []int) { f.Test[3] = n / 2 }),
		"fold 0 has case 5 twice in its training":    hostile(func(f *split.Fold, _ int, _ []int) { f.Train[3] = 5 }),
		"0 training and 21 test cases":               hostile(func(f *split.Fold, _ int, _ []int) { f.Train = nil }),
		"20 training and 0 test cases":               hostile(func(f *split.Fold, _ int, _ []int) { f.Test = []int{} }),
		"comes where repeat 0 fold 0 is due":         hostile(func(f *split.Fold, _ int, _ []int) { f.Fold = 1 }),
		"repeat 1 fold 0 comes where repeat 0":       hostile(func(f *split.Fold, _ int, _ []int) { f.Repeat = 1 }),
		"splittertest.hostile: panic: no such index": hostile(func(*split.Fold, int, []int) { panic("no such index") }),
		"it makes no folds":                          none{},
		"it changes its arguments": hostile(func(_ *split.Fold, _ int, labels []int) {
			if labels != nil {
				labels[0] = 1 - labels[0]%2
			}
		}),
		"other folds the second time": hostile(func(f *split.Fold, _ int, _ []int) {
			if calls++; calls%2 == 0 {
				f.Train = f.Train[1:]
			}
		}),
		"fold 0 would train without class 1": hostile(func(f *split.Fold, _ int, labels []int) {
			if labels != nil {
				f.Train = nil
				for i, c := range labels {
					if c == 0 && i < 20 {
						f.Train = append(f.Train, i)
					}
				}
			}
		}),
	} {
		err := conform(h, 41, 2)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestUnsorted: the parts may come in any order; Split sorts them.
func TestUnsorted(t *testing.T) {
	swapped := hostile(func(f *split.Fold, _ int, _ []int) {
		f.Train[0], f.Train[1] = f.Train[1], f.Train[0]
	})
	Check(t, swapped)
	folds, err := split.Split(swapped, 20, nil, nil, 1)
	if err != nil || !slices.IsSorted(folds[0].Train) || !slices.IsSorted(folds[0].Test) {
		t.Errorf("%v, %v", folds, err)
	}
}
