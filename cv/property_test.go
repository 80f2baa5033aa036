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

// TestSumOfProbabilitiesWithinTolerance: a sum of 1 ± 1e-6 is rounding, 1 ± 2e-6 is an error.
func TestSumOfProbabilitiesWithinTolerance(t *testing.T) {
	for p, good := range map[float64]bool{1: true, 1 + 1e-6: true, 1 + 2e-6: false, 1 - 0.9e-6: true, 1 - 2e-6: false} {
		if _, err := NewPredictions([]int{3}, []int{0}, mat.NewDense(1, 2, []float64{p, 0}), []int{1, 1}); (err == nil) != good {
			t.Errorf("probabilities %v and 0: %v", p, err)
		}
	}
}
