package reports

import (
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Rates are weighted by cases: one case with rate 1 and three with rate ½ give (1 + 1½)/4. Counts
// are added.
func TestGridScoresWeighCases(t *testing.T) {
	theta := []record.Number{1}
	held := func(cases int, scores map[string]record.Number) *Study {
		return &Study{Study: record.Study{Test: cases}, Trials: []*record.Trial{{Index: 3, Points: []record.Point{{Theta: theta, Scores: scores}}}}}
	}
	studies := []*Study{
		held(1, map[string]record.Number{"error_rate": 1, "errors": 1, "auc": 1}),
		held(3, map[string]record.Number{"error_rate": 0.5, "errors": 1.5, "auc": 0}),
	}
	got, missing := scoresAt(studies, 3, 0, theta)
	want := Values{{Name: "errors", Value: 2.5}, {Name: "error_rate", Value: 0.625}, {Name: "auc", Value: 0.25}, {Name: "n", Value: 4}}
	if missing || !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, at := range []struct{ trial, point int }{{2, 0}, {3, 1}} {
		if got, missing := scoresAt(studies, at.trial, at.point, theta); got != nil || !missing {
			t.Errorf("scores of point %v: %v, missing: %v", at, got, missing)
		}
	}
	if got, missing := scoresAt(studies, 3, 0, []record.Number{2}); got != nil || missing {
		t.Errorf("scores where the folds tried another point: %v, missing: %v", got, missing)
	}
	studies[1].Trials[0].Points[0].Failure = cause.Failure.New("no")
	if got, missing := scoresAt(studies, 3, 0, theta); got != nil || !missing {
		t.Errorf("scores of a failed point: %v, missing: %v", got, missing)
	}
	studies[0].Fit = &record.Fit{}
	if got, missing := scoresAt(studies, 2, 0, theta); got != nil || missing {
		t.Errorf("scores of a trial that a search which has ended does not have: %v, missing: %v", got, missing)
	}
}
