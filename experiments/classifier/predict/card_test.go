package predict

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// sites runs an experiment whose label follows x at the sites a and b, and means nothing at the site c.
func sites(t *testing.T, inference, more string) (*run.Folder, *plan.Plan) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 5))
	text := "x,site,flag,class\n"
	for i := range 150 {
		x, site := rng.NormFloat64(), "abc"[i%3]
		class := x > 0
		if site == 'c' {
			class = rng.IntN(2) == 0
		}
		text += fmt.Sprintf("%.3f,%c,%d,%v\n", x, site, i/3%2, class)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "sites.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, fmt.Sprintf("name: sites\ndata: {train: %s, label: class, categorical: one_hot, preprocess: "+
		"standardize}\nmodel: {kernel: se, likelihood: probit, inference: %s}\ntune: none\nevaluate: %s\n", file, inference,
		more))
	o := run.Options{}
	o.Workers = 1
	if _, _, err := run.Run(t.Context(), p, filepath.Join(dir, "run"), o); err != nil {
		t.Fatal(err)
	}
	folder, err := run.ReadFolder(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	return folder, p
}

// rendered is a card as Markdown and as HTML.
func rendered(t *testing.T, card page.Article) (markdown, html string) {
	t.Helper()
	var out, web bytes.Buffer
	if err := errors.Join(card.Markdown(&out), card.HTML(&web)); err != nil {
		t.Fatal(err)
	}
	return out.String(), web.String()
}

// intervals matches the rows of the table of groups: the ends of the interval, and the verdict.
var intervals = regexp.MustCompile(`(?m)^\| (?:site|flag) = .*\| (-?\d\.\d+) (?:–|to) (-?\d\.\d+) \| (\w*) *\|$`)

// The card of a run has all parts in order. The site whose labels mean nothing is the only worse group,
// with its mean loss computed by hand, and x is what drives the model.
func TestCardOfARun(t *testing.T) {
	for _, of := range []struct{ inference, evaluate string }{
		{"[laplace, base_rate]", "{kfold: {k: 3}}"}, {"logistic_regression", "{repeated_kfold: {k: 3, repeats: 2}}"},
	} {
		folder, p := sites(t, of.inference, of.evaluate)
		card, err := RunCard(t.Context(), folder, p, "")
		if err != nil {
			t.Fatal(err)
		}
		text, html := rendered(t, card)
		rest := text
		for _, part := range []string{"# Model card: sites", "- conclusion: ", "- trust: ", "## Data", "150 training cases",
			"## Model", "## Scores", "error rate", "## Calibration", "## What drives it", "| x |", "| site |", "| flag |",
			"## Groups with worse scores", "1 group is worse than the other cases.", "| site = c | 50 |", "| worse |",
			"| flag = ", "## Limits", "## How to repeat", "gpc-tune run", "gpc-tune fit"} {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Fatalf("%s: no %q in its place in\n%s", of.inference, part, text)
			}
			rest = after
		}
		report, err := folder.Report()
		if err != nil {
			t.Fatal(err)
		}
		sum, n := 0.0, 0.0
		for _, s := range report.Answer.Scored() {
			for i, row := range s.Predictions.Cases {
				if row%3 == 2 {
					sum, n = sum-math.Log2(s.Predictions.Proba.At(i, s.Predictions.Labels[i])), n+1
				}
			}
		}
		if want := fmt.Sprintf("| site = c | 50 | %.3f |", sum/n); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", of.inference, want, text)
		}
		verdicts := map[string]int{}
		for _, row := range intervals.FindAllStringSubmatch(text, -1) {
			verdicts[row[3]]++
			lo, _ := strconv.ParseFloat(row[1], 64)
			if hi, _ := strconv.ParseFloat(row[2], 64); (row[3] == "worse") != (lo > 0) || (row[3] == "better") != (hi < 0) {
				t.Errorf("%s: %s", of.inference, row[0])
			}
		}
		if verdicts["worse"] != 1 || verdicts["better"] == 0 || verdicts[""] == 0 {
			t.Errorf("%s: %v in\n%s", of.inference, verdicts, text)
		}
		if strings.Contains(text, "NaN") || strings.Contains(strings.ReplaceAll(html, "isNaN", ""), "NaN") ||
			!strings.Contains(html, "importance-of-inputs") {
			t.Errorf("%s:\n%s", of.inference, text)
		}
	}
}

// The fits of the folds are computed again as they were: their predictions are the recorded ones.
func TestCardFitsFoldsAgain(t *testing.T) {
	folder, p := sites(t, "laplace", "{kfold: {k: 3}}")
	report, err := folder.Report()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range report.Answer.Scored() {
		c, err := again(t.Context(), p, folder.Lines, s.Fit.Configuration, s.Fit.Study)
		if err != nil {
			t.Fatal(err)
		}
		set := p.Studies[studyOf(p, s.Fit.Configuration, s.Fit.Study)].Job.Set
		bits, err := c.scores(set.Source, set.Test, data.PickRows(set.Source.X, set.Test))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range bits {
			if want := math.Log2(s.Predictions.Proba.At(i, s.Predictions.Labels[i])); math.Abs(v-want) > 1e-9 {
				t.Fatalf("fold %d, case %d: %v bits, recorded %v", s.Fold, i, v, want)
			}
		}
	}
}

// The card of a model file alone says what the file knows, and the command for the rest.
func TestCardOfAModelFile(t *testing.T) {
	for _, inference := range []string{"laplace", "logistic_regression", "{laplace: {inducing: 10}}"} {
		c, _ := coloured(t, inference)
		card, err := c.Card(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := rendered(t, card)
		for _, part := range []string{"60 training cases", "| yes | 28 | 46.7 |", "| colour | category | blue, green, red |",
			"| grade | ordered | low, mid, high |", "| day | date |", "gpc-tune card RUN", "gpc-tune effects MODEL", "hash"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", inference, part, text)
			}
		}
		if _, driven, found := strings.Cut(text, "| input | loss (bits)"); found != (inference != "logistic_regression") ||
			found && !strings.HasPrefix(strings.SplitN(driven, "\n", 4)[2], "| colour |") {
			t.Errorf("%s: colour does not come first in\n%s", inference, text)
		}
	}
}

// Without an input that explains a number, its log density falls by the mean square of the change
// of the prediction over twice the variance: for y = x + e, with standard deviations 1 and 0.5,
// by 1/(0.25 log 2) = 5.8 bits.
func TestCardOfARegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	text := "x,z,y\n"
	for range 150 {
		x := rng.NormFloat64()
		text += fmt.Sprintf("%.3f,%.3f,%.3f\n", x, rng.NormFloat64(), x+0.5*rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "cases.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, fmt.Sprintf("data: {train: %s, label: y}\nmodel: {kernel: linear, likelihood: {gaussian: {noise: {fixed: 0.5}}}, "+
		"inference: exact}\ntune: none\n", file))
	c, err := LoadClassifier(fitted(t, p, 0))
	if err != nil {
		t.Fatal(err)
	}
	card, err := c.Card(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	markdown, _ := rendered(t, card)
	_, driven, _ := strings.Cut(markdown, "| input | loss (bits)")
	rows := strings.SplitN(driven, "\n", 5)
	loss := map[string]float64{}
	for _, row := range rows[2:4] {
		cells := strings.Split(row, "|")
		if loss[strings.TrimSpace(cells[1])], err = strconv.ParseFloat(strings.Fields(cells[2])[0], 64); err != nil {
			t.Fatal(err, row)
		}
	}
	if x, z := loss["x"], loss["z"]; !(x > 4.4 && x < 7.4) || !(math.Abs(z) < 0.2) {
		t.Errorf("%v in\n%s", loss, driven)
	}
}

// Mistakes are named.
func TestCardRefuses(t *testing.T) {
	folder, p := sites(t, "laplace", "{kfold: {k: 3}}")
	if _, err := RunCard(t.Context(), folder, p, "other"); !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), "other") {
		t.Errorf("%v", err)
	}
	changed := *p
	changed.Manifest.Key = "x"
	if _, err := RunCard(t.Context(), folder, &changed, ""); !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), "have changed since") {
		t.Errorf("%v", err)
	}
}
