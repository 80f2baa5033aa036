package schedule

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// counted is a strategy that fits a model, and counts the histories with which it is asked.
type counted struct {
	search.Bayes
	asked *int
}

func (c counted) Ask(s search.Space, done []record.Trial, seed uint64) []search.Proposal {
	*c.asked++
	return c.Bayes.Ask(s, done, seed)
}

// A process that asks for points and tells their values asks the strategy once for each history,
// although every call replays the search. Other values give other points.
func TestHistoriesAreAskedOnce(t *testing.T) {
	var all [2][]float64
	for k := range all {
		asked, dir := 0, t.TempDir()
		strategy := counted{search.Bayes{Trials: 9, Initial: 2, Batch: 1}, &asked}
		space := search.Space{param.Between("x", param.Identity, 0, 1)}
		studies := []Study{Function{Space: space, Strategy: strategy, Seed: 3}.Study("counted")}
		for range 9 {
			j := mustOpen(t, dir)
			next, _, err := Ask(studies, j)
			if err != nil {
				t.Fatal(err)
			}
			mustClose(t, j)
			all[k] = append(all[k], next.X[0])
			j = mustOpen(t, dir)
			if err := Tell(studies, j, next.Key, Told{Value: []float64{1, -1}[k] * next.X[0]}); err != nil {
				t.Fatal(err)
			}
			mustClose(t, j)
		}
		if asked != 8 { // the first answer has two points
			t.Errorf("the strategy was asked %d times for 8 histories", asked)
		}
	}
	if same := func(i int) bool { return all[0][i] == all[1][i] }; !same(0) || !same(1) || same(3) {
		t.Errorf("points of growing and of falling values: %v", all)
	}
}
