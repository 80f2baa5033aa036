package scoretest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
)

// TestHostile: every broken promise of a score is named.
func TestHostile(t *testing.T) {
	calls := 0.
	value := func(of func(p cv.Predictions) float64) cv.Score {
		return cv.Score{Name: "mine", Func: func(p cv.Predictions) (cv.Estimate, bool) {
			return cv.Estimate{Value: of(p), Lo: math.NaN(), Hi: math.NaN()}, true
		}}
	}
	one := func(cv.Predictions) float64 { return 1 }
	within, each, short, count, base := value(one), value(one), value(one), value(one), value(one)
	within.Within = [2]float64{0, 0.5}
	each.Each = func(p cv.Predictions) []float64 { return slices.Repeat([]float64{2}, len(p.Cases)) }
	short.Each = func(cv.Predictions) []float64 { return []float64{1} }
	count.Count, base.Base = true, true
	best := value(func(p cv.Predictions) float64 { return p.Proba.At(0, p.Labels[0]) + p.Proba.At(39, p.Labels[39]) })
	interval := cv.Score{Name: "mine", Func: func(cv.Predictions) (cv.Estimate, bool) { return cv.Estimate{Value: 1, Lo: 2, Hi: 3}, true }}
	for _, c := range []struct {
		want string
		s    cv.Score
	}{
		{"", value(one)},
		{"score mine: panic: no", value(func(cv.Predictions) float64 { panic("no") })},
		{"score mine: its value is NaN", value(func(cv.Predictions) float64 { return math.NaN() })},
		{"score mine: its value is +Inf", value(func(cv.Predictions) float64 { return math.Inf(1) })},
		{"for the same predictions", value(func(cv.Predictions) float64 { calls++; return calls })},
		{"value 1 is not within [0, 0.5]", within},
		{"interval from 2 to 3 does not contain its value 1", interval},
		{"not the mean of Each, 2", each},
		{"Each has 1 values of 40 rows", short},
		{"it changes the predictions", value(func(p cv.Predictions) float64 { p.Labels[0] = 0; return 1 })},
		{"the rows in another order", value(func(p cv.Predictions) float64 { return float64(p.Labels[0]) })},
		{"a Count is 1, and 1", count},
		{"a Base score is 1", base},
		{"and better", best},
	} {
		_, err := conform(c.s, 40, 2)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
