package schedule

import (
	"context"
	"errors"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// What is minimised is maximised with the other sign, the target too.
func TestSignsOfFunctions(t *testing.T) {
	target := 3.0
	f := Function{Space: search.Space{{Name: "x", Init: 2, Lo: 1, Hi: 9, Map: param.Log}}, Strategy: search.Random{}, Stop: Stop{Target: &target},
		Value: func(_ context.Context, x []float64) (float64, error) {
			if x[0] > 4 {
				return x[0], errors.New("too large")
			}
			return 10 * x[0], nil
		}}
	for _, c := range []struct {
		minimize     bool
		target, sign float64
	}{{false, 3, 1}, {true, -3, -1}} {
		f.Minimize = c.minimize
		s := f.Study("key")
		if s.Key != "key" || *s.Stop.Target != c.target || target != 3 {
			t.Errorf("%+v: target %v", c, *s.Stop.Target)
		}
		if v, err := s.Value(t.Context(), []float64{0}); err != nil || v != c.sign*10 {
			t.Errorf("%+v: %v, %v", c, v, err)
		}
		if _, err := s.Value(t.Context(), []float64{2}); err == nil {
			t.Error("an error is lost")
		}
	}
	f.Stop = Stop{}
	if s := f.Study("key"); s.Stop.Target != nil {
		t.Errorf("target %v", *s.Stop.Target)
	}
}

// Options that exclude each other, or budgets that do not hold, are refused.
func TestChecksOfBayes(t *testing.T) {
	space := search.Space{{Name: "x", Init: 2, Lo: 1, Hi: 9, Map: param.Log}}
	for _, c := range []struct {
		b  search.Bayes
		ok bool
	}{
		{search.Bayes{}, true}, {search.Bayes{Trials: 5, Initial: 5}, true}, {search.Bayes{Trials: 5, Initial: 6}, false}, {search.Bayes{Trials: 1000, Batch: 1000}, true},
		{search.Bayes{Trials: 1001}, false}, {search.Bayes{Batch: 1001}, false}, {search.Bayes{Batch: 2, Overlap: search.Overlap{Asynchronous: 2}}, false},
		{search.Bayes{Batch: 1, Overlap: search.Overlap{Asynchronous: 2}}, true}, {search.Bayes{Overlap: search.Overlap{Asynchronous: 1}}, false},
		{search.Bayes{Overlap: search.Overlap{Asynchronous: 1000}}, true}, {search.Bayes{Overlap: search.Overlap{Asynchronous: 1001}}, false}, {search.Bayes{Trials: -1}, false},
	} {
		if err := c.b.Check(space); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.b, err)
		}
	}
}
