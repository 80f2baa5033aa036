package cv

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestRMSEIntervalEndsAtZero: the squared errors 0, 0 and 9 have mean 3 and standard error 3, so
// the interval of the mean reaches below 0, where there is no root.
func TestRMSEIntervalEndsAtZero(t *testing.T) {
	p := regression(t, []float64{1, 2, 3}, []float64{1, 2, 6}, []float64{1, 1, 1}, 0, 1)
	if e := score(t, "rmse", p); e.Lo != 0 || !(e.Hi > e.Value) {
		t.Errorf("rmse %v, want its interval from 0", e)
	}
}

// TestContestWithoutAScore: with cases of one class the area under the curve is not defined, so the
// contestant is cut.
func TestContestWithoutAScore(t *testing.T) {
	c := contest(t, "auc", "", "", 1)
	s := c.Judge([][]Attempt{{attempt(t, 0, .9, .8)}})
	if len(s.Cuts) != 1 || !strings.Contains(s.Cuts[0].Reason, "auc is not defined") || s.Winner != -1 || len(s.In) != 0 || !s.Ended {
		t.Errorf("%+v", s)
	}
}

// TestGroupsOfOneClassEach: a group of a class that no part has yet goes to the part with the
// fewest cases. Of groups of 5 and 3 of one class and 4 and 2 of the other, 4 goes to the part
// without 5, and each smaller group to the part without its class.
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

// TestHoldOutIsOneFold: HoldOut gives only fold 0 of repeat 0.
func TestHoldOutIsOneFold(t *testing.T) {
	parts, err := HoldOut{}.Split(20, nil, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 || parts[0].Repeat != 0 || parts[0].Fold != 0 || len(parts[0].Test) != 4 || len(parts[0].Train) != 16 {
		t.Errorf("%+v", parts)
	}
}

// TestSumOfProbabilitiesWithinTolerance: a sum of 1 ± 1e-6 is rounding, 1 ± 2e-6 is an error.
func TestSumOfProbabilitiesWithinTolerance(t *testing.T) {
	for p, good := range map[float64]bool{1: true, 1 + 1e-6: true, 1 + 2e-6: false, 1 - 0.9e-6: true, 1 - 2e-6: false} {
		if _, err := NewPredictions([]int{3}, []int{0}, mat.NewDense(1, 2, []float64{p, 0}), []int{1, 1}); (err == nil) != good {
			t.Errorf("probabilities %v and 0: %v", p, err)
		}
	}
}

// TestFoldsAreBounded: 7 071 folds of 7 071 cases are below 50 million, 7 072 of 7 072 above; with
// ten cases five million folds are exactly the limit.
func TestFoldsAreBounded(t *testing.T) {
	for _, c := range []struct {
		n, folds int
		good     bool
	}{{7071, 7071, true}, {7072, 7072, false}, {10, 5_000_000, true}, {10, 5_000_001, false}, {1, 50_000_001, false}, {0, 1 << 40, true}, {1 << 40, 1, false}} {
		if err := bounded(c.n, c.folds); (err == nil) != c.good {
			t.Errorf("%d folds of %d cases: %v", c.folds, c.n, err)
		}
	}
}
