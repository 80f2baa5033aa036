package cv

import (
	"math"
	"slices"
	"testing"
)

// Contestants are compared on the folds that they have in common. #0 has only the first fold, where
// it is the worst; then #1 and #2 are compared on two, and #3 has none.
func TestAhead(t *testing.T) {
	nan := math.NaN()
	scores := [][]float64{{1, nan, nan}, {3, 1, nan}, {2, 5, 9}, {nan, nan, nan}}
	done := make([][]bool, len(scores))
	for k, row := range scores {
		for _, s := range row {
			done[k] = append(done[k], !math.IsNaN(s))
		}
	}
	mean := func(k int, folds []int) (mean float64) {
		for _, f := range folds {
			if !done[k][f] {
				t.Errorf("#%d has no fold %d", k, f)
			}
			mean += scores[k][f] / float64(len(folds))
		}
		return mean
	}
	if got := Ahead(done, mean); !slices.Equal(got, []int{2, 1, 0, 3}) {
		t.Errorf("got %v", got)
	}
	scores[0][0] = 2.5 // better than #2 there, which has more folds
	if got := Ahead(done, mean); !slices.Equal(got, []int{2, 1, 0, 3}) {
		t.Errorf("got %v", got)
	}
	scores[0][0] = 7 // the best on what all have
	if got := Ahead(done, mean); got[0] != 0 || got[3] != 3 {
		t.Errorf("got %v", got)
	}
	done[1] = []bool{false, true, false} // no fold in common with #0
	if got := Ahead(done, mean); !slices.Equal(got, []int{2, 0, 1, 3}) && !slices.Equal(got, []int{0, 2, 1, 3}) {
		t.Errorf("got %v", got)
	}
	// The best of a common fold stays though it has the fewest; without a common fold it cannot be known to be the best.
	first := func(k int, _ []int) float64 { return -float64(k) }
	if got := Ahead([][]bool{{true, false}, {true, true}}, first); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("got %v", got)
	}
	if got := Ahead([][]bool{{true, false, false}, {false, true, true}}, first); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("got %v", got)
	}
	if got := Ahead([][]bool{{false}, {false}}, mean); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("got %v", got)
	}
}

// The deciding score is the score of the contest, the score that all studies tune, or the base
// score.
func TestDeciding(t *testing.T) {
	for _, c := range []struct {
		name       string
		objectives []string
		classes    int
		want       string
	}{
		{"auc", []string{"cv_brier"}, 2, "auc"}, {"", []string{"cv_brier", "cv_brier"}, 2, "brier"},
		{"", []string{"cv_brier", "log_evidence"}, 2, "information_bits"}, {"", []string{"", ""}, 2, "information_bits"},
		{"", []string{"log_evidence"}, 0, BaseScore(0).Name},
	} {
		if got := Deciding(c.name, c.objectives, c.classes); got.Name != c.want {
			t.Errorf("%+v: %s", c, got.Name)
		}
	}
}
