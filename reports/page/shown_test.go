package page

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Rounding never turns a number into 0 or 1, and there is no negative zero.
func TestDecimals(t *testing.T) {
	for _, test := range []struct {
		x      float64
		digits int
		want   string
	}{
		{0.9996, 3, "0.9996"}, {0.99996, 4, "0.99996"}, {1, 4, "1.0000"}, {-1.0004, 3, "-1.0004"}, {1.0006, 3, "1.001"}, {0.9994, 3, "0.999"},
		{-0.0004, 3, "-0.0004"}, {0.00004, 3, "0.00004"}, {0, 3, "0.000"}, {math.Copysign(0, -1), 3, "0.000"}, {3e-12, 3, "3e-12"}, {-16.14, 1, "-16.1"},
		{100, 1, "100.0"}, {0.03, 1, "0.03"}, {math.NaN(), 3, ""},
	} {
		if got := reports.Decimals(test.x, test.digits); got != test.want {
			t.Errorf("%v to %d digits: %q, want %q", test.x, test.digits, got, test.want)
		}
	}
}

// A score for which less is better is maximised with its sign changed, and its name says so. A best
// value is shown with the number of equal ones and, while the search goes on, as the best so far.
func TestBestIsWhatItSays(t *testing.T) {
	for objective, name := range map[string]string{"cv_error_rate": "negative cv_error_rate", "cv_auc": "cv_auc", "log_posterior": "log_posterior"} {
		r := reporttest.Searched(objective)
		text, page := string(Render(t, "text", r)), parsePage(t, Render(t, "html", r))
		for _, want := range []string{"    best " + name + " of 3 points so far: -0.25 at amplitude=1, the first of 2 with it\n", "#0  not fitted to all of the training data yet\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if best := page.tables["#0 best points so far"]; len(best) != 2 || best[1][0] != "chosen by "+name+", the first of 2 with it" {
			t.Errorf("%q", best)
		}
		if points := page.tables["#0 points"]; len(points) != 4 || points[0][1] != name {
			t.Errorf("%q", points)
		}
		s, err := r.Show(0, 2)
		if err != nil {
			t.Fatal(err)
		}
		var trial bytes.Buffer
		if err := table.ShownForms[0].Render(&trial, s); err != nil || !strings.Contains(trial.String(), name) {
			t.Errorf("%v, no %q in\n%s", err, name, trial.String())
		}
	}
}

// A score that is undefined in some folds is not compared, and the text says so.
func TestCompareTellsUndefinedScores(t *testing.T) {
	m, lines := reporttest.Stopped()
	for _, l := range lines { // the second fold has one class, and no area under a curve
		if f := l.Fit; f.Study == 2 && len(f.Labels) > 0 {
			f.Labels = []int{0, 0}
		}
	}
	c, err := reports.Compare(reporttest.Build(t, m, lines))
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(table.NotCompared(c), "\n"); !strings.Contains(notes, "#0 − #2 not compared: kfold auc: it is not defined in every fold") {
		t.Errorf("%s", notes)
	}
}
