package page

import (
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// regressionRun is a run on numeric targets with two folds, whose errors are 1 and 2, and 2.
func regressionRun() (record.Manifest, []record.Line) {
	m := record.Manifest{Experiment: "numbers", Curves: []string{"calibration"}, Configurations: []record.Configuration{{
		Dataset: "toy", Label: record.Label{Likelihood: reporttest.Declared("gaussian"), Inference: reporttest.Declared("exact")}, Tune: "none", Hyperparameters: []record.Hyperparameter{{Name: "noise", Theta: "log_noise"}},
		Studies: []record.Study{{Key: "a", Evaluation: "train", Train: 3}, {Key: "b", Evaluation: "kfold", Train: 1, Test: 2}, {Key: "c", Evaluation: "kfold", Fold: 1, Train: 2, Test: 1}},
	}}}
	fit := func(study int, f record.Fit) record.Line {
		f.Study, f.Chosen, f.Natural, f.LogEvidence, f.Converged = study, -1, []record.Number{0.5}, -7, true
		return record.Line{Key: string(rune('a' + study)), Fit: &f}
	}
	return m, []record.Line{
		fit(0, record.Fit{}),
		fit(1, record.Fit{
			TrainMoments: &record.Moments{Mean: 3, Variance: 4}, Rows: []int{0, 1},
			Targets: []record.Number{1, 2}, Mean: []record.Number{2, 0}, Variance: []record.Number{0.5, 1},
		}),
		fit(2, record.Fit{
			TrainMoments: &record.Moments{Mean: 1.5, Variance: 9}, Rows: []int{2},
			Targets: []record.Number{3}, Mean: []record.Number{5}, Variance: []record.Number{9},
		}),
	}
}

func TestRegression(t *testing.T) {
	m, lines := regressionRun()
	r := reporttest.Build(t, m, lines)
	c := r.Configurations[0]
	if len(c.Failures) != 0 || r.Missing != 0 || c.Scores.N != 3 || len(c.Scores.Results) != 2 || len(c.Curves) != 0 || len(c.Classes) != 0 {
		t.Errorf("%+v", c)
	}
	// log N(y; base) - log N(y; prediction), case by case: ½ log(v/V) + ½ (y - m)²/v - ½ (y - M)²/V
	want := (math.Log(0.5/4)/2 + 1/0.5/2 - 4./4/2 + math.Log(1./4)/2 + 4./2 - 1./4/2 + math.Log(9./9)/2 + 4./9/2 - 2.25/9/2) / 3
	near := func(what string, got cv.Estimate, ok bool, want float64) {
		if !ok || math.Abs(got.Value-want) > 1e-14 {
			t.Errorf("%s = %v, want %v", what, got.Value, want)
		}
	}
	got, ok := c.Scores.Value("standardized_log_loss")
	near("standardized log loss", got, ok, want)
	got, ok = c.Scores.Value("rmse")
	near("rmse", got, ok, math.Sqrt(3))
	got, ok = c.Folds[1].Scores.Value("rmse")
	near("rmse of fold 1", got, ok, 2)
	for format, has := range map[string]string{
		"text":        "1.7321",
		"json":        `"rmse": {`,
		"csv":         ",1.7320508075688772,",
		"predictions": "0,kfold,0,1,2,3,,5,9\n",
	} {
		if text := string(Render(t, format, r)); !strings.Contains(text, has) || strings.Contains(text, "NaN") {
			t.Errorf("%s lacks %q:\n%s", format, has, text)
		}
	}
}

func TestRegressionErrors(t *testing.T) {
	for want, spoil := range map[string]func(f *record.Fit){
		"2 held-out cases with 2 labels and 1 predictions": func(f *record.Fit) { f.Mean = f.Mean[1:] },
		"2 held-out cases with 2 labels and 3 predictions": func(f *record.Fit) { f.Variance = append(f.Variance, 1) },
		"2 held-out cases with 0 labels":                   func(f *record.Fit) { f.Targets = nil },
		"no mean and variance of the training targets":     func(f *record.Fit) { f.TrainMoments = nil },
		"variance 0": func(f *record.Fit) { f.Variance[1] = 0 },
	} {
		m, lines := regressionRun()
		spoil(lines[1].Fit)
		if _, err := reports.Build(m, lines); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestPosterior(t *testing.T) {
	m, lines := regressionRun()
	m.Configurations[0].Hyperparameters = append(m.Configurations[0].Hyperparameters, record.Hyperparameter{Name: "a", Theta: "log_a"})
	for i := range lines {
		lines[i].Fit.Natural = []record.Number{1, 2}
	}
	lines[0].Fit.Posterior = []record.Marginal{{Name: "log_a", Mean: 0.5, SD: 0.0625, RHat: 1.25, ESS: 71.5}, {Name: "log_b", Mean: 1, SD: 0, RHat: record.Number(math.NaN()), ESS: record.Number(math.NaN())}}
	point := func(a record.Number) record.Point {
		return record.Point{Theta: []record.Number{0, a}, Natural: []record.Number{1, a}, Value: -a, Gradient: record.Number(math.NaN())}
	}
	start := []record.Number{1, 1}
	lines = append(lines,
		record.Line{Key: "chain 0", Trial: &record.Trial{Start: start, Points: []record.Point{point(1), point(3)}, Status: "sampled"}},
		record.Line{Key: "chain 1", Trial: &record.Trial{Index: 1, Start: start, Failure: cause.Failure.New("no start")}},
	)
	lines[0].Fit.Chosen = 0
	r := reporttest.Build(t, m, lines)
	text := string(Render(t, "text", r))
	for _, want := range []string{
		"    chains 2 (1 failed); the figures above are those of their best sample, the scores averages over all samples\n",
		"    posterior log_a 0.5 ± 0.062 (R-hat 1.250, effective samples 72)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
	if strings.Contains(text, "optima") {
		t.Errorf("samples pass for optima:\n%s", text)
	}
	c := r.Configurations[0]
	if len(c.Grid) != 0 || len(c.Restarts) != 2 || c.Restarts[0].Value != -3 || !c.Restarts[0].Chosen {
		t.Errorf("grid %v, restarts %+v", c.Grid, c.Restarts)
	}
	if text := string(Render(t, "json", r)); !strings.Contains(text, `"r_hat": 1.25`) || !strings.Contains(text, `"ess": null`) {
		t.Errorf("%s", text)
	}
}

func TestStandardErrors(t *testing.T) {
	m, lines := regressionRun()
	m.Configurations[0].Hyperparameters = append(m.Configurations[0].Hyperparameters, record.Hyperparameter{Name: "a", Theta: "log_a"}, record.Hyperparameter{Name: "b", Theta: "log_b"})
	for i := range lines {
		lines[i].Fit.Natural = []record.Number{1, 2, 3}
	}
	lines[0].Fit.Curvature = &record.Curvature{
		Names: []string{"log_noise", "log_a", "log_b"}, StandardErrors: []record.Number{0.25, 0.123456, 3},
		Correlations: [][]record.Number{{1, 0.1, 0.2}, {0.1, 1, -0.75}, {0.2, -0.75, 1}},
	}
	r := reporttest.Build(t, m, lines)
	want := "    standard errors log_noise=0.25 log_a=0.12 log_b=3; largest correlation -0.75 (log_a, log_b)\n"
	if text := string(Render(t, "text", r)); !strings.Contains(text, want) {
		t.Errorf("%s lacks %s", text, want)
	}
	if text := string(Render(t, "json", r)); !strings.Contains(text, `"log_a": 0.123456`) || !strings.Contains(text, `"correlations": [`) {
		t.Errorf("%s", text)
	}
	lines[0].Fit.Curvature.Correlations[1] = nil
	if _, err := reports.Build(m, lines); err == nil || !strings.Contains(err.Error(), "3 standard errors") {
		t.Errorf("error %v", err)
	}
}
