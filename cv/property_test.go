package cv

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestRMSEIntervalEndsAtZero: squares 0, 0 and 9 have mean 3 and standard error 3, so their interval reaches below 0,
// where no root is.
func TestRMSEIntervalEndsAtZero(t *testing.T) {
	p := regression(t, []float64{1, 2, 3}, []float64{1, 2, 6}, []float64{1, 1, 1}, 0, 1)
	if e := score(t, "rmse", p); e.Lo != 0 || !(e.Hi > e.Value) {
		t.Errorf("rmse %v, want its interval from 0", e)
	}
}

// TestContestWithoutAScore: the area under the curve of cases of one class is not defined, which is why a contestant leaves.
func TestContestWithoutAScore(t *testing.T) {
	c := contest(t, "auc", "", "", 1)
	s := c.Judge([][]Attempt{{attempt(t, 0, .9, .8)}})
	if len(s.Cuts) != 1 || !strings.Contains(s.Cuts[0].Reason, "auc is not defined") || s.Winner != -1 || len(s.In) != 0 || !s.Ended {
		t.Errorf("%+v", s)
	}
}

// TestGroupsOfOneClassEach: a group whose class is in no part yet goes where the fewest cases are. Groups of 5 and 3 of one
// class, 4 and 2 of the other: the 4 goes away from the 5, each of the smaller away from its class.
func TestGroupsOfOneClassEach(t *testing.T) {
	var labels []int
	var groups []string
	for g, size := range []int{5, 4, 3, 2} {
		for range size {
			labels, groups = append(labels, g%2), append(groups, string(rune('a'+g)))
		}
	}
	parts, err := GroupKFold{K: 2, Stratified: true}.Split(len(labels), labels, groups, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts[0].Test) != 7 || len(parts[1].Test) != 7 {
		t.Errorf("parts of %d and %d cases, want 7 of each", len(parts[0].Test), len(parts[1].Test))
	}
}

// TestHoldOutIsOneFold: the first of the first repetition.
func TestHoldOutIsOneFold(t *testing.T) {
	parts, err := HoldOut{}.Split(20, nil, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 || parts[0].Repeat != 0 || parts[0].Fold != 0 || len(parts[0].Test) != 4 || len(parts[0].Train) != 16 {
		t.Errorf("%+v", parts)
	}
}

// TestSumOfProbabilitiesWithinTolerance: 1e-6 more than 1 is rounding, twice that is a mistake.
func TestSumOfProbabilitiesWithinTolerance(t *testing.T) {
	for p, good := range map[float64]bool{1: true, 1 + 1e-6: true, 1 + 2e-6: false, 1 - 0.9e-6: true, 1 - 2e-6: false} {
		if _, err := NewPredictions([]int{3}, []int{0}, mat.NewDense(1, 2, []float64{p, 0}), []int{1, 1}); (err == nil) != good {
			t.Errorf("probabilities %v and 0: %v", p, err)
		}
	}
}

// TestFoldsAreBounded: 7 071 folds of 7 071 cases are fewer than 50 million, 7 072 of 7 072 are more; of ten cases five million
// folds are just enough.
func TestFoldsAreBounded(t *testing.T) {
	for _, c := range []struct {
		n, folds int
		good     bool
	}{{7071, 7071, true}, {7072, 7072, false}, {10, 5_000_000, true}, {10, 5_000_001, false}, {0, 1 << 40, true}, {1 << 40, 1, false}} {
		if err := bounded(c.n, c.folds); (err == nil) != c.good {
			t.Errorf("%d folds of %d cases: %v", c.folds, c.n, err)
		}
	}
}
