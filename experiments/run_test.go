package experiments

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/check"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// runs runs a configuration file and returns its report.
func runs(t *testing.T, text string, settings ...string) *reports.Report {
	t.Helper()
	p := plantest.Planned(t, text, settings...)
	r, _, err := run.Run(t.Context(), p, t.TempDir(), run.Options{Warn: func(format string, args ...any) { t.Logf(format, args...) }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLengthScaleStartsAtRootDOrTheMedianDistance(t *testing.T) {
	// Four points on a line: distances 1, 2, 4, 1+2, 2+4, 1+2+4 have the median (3+4)/2.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "line.csv"), []byte("x,label\n0,a\n1,b\n3,a\n7,b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for preprocess, want := range map[string]float64{"": 3.5, "preprocess: none": 3.5, "preprocess: standardize": 1, "preprocess: whiten": 1} {
		text := "data: {train: " + filepath.Join(dir, "line.csv") + ", " + preprocess + "}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n"
		r := runs(t, text)
		if got, ok := r.Configurations[0].Hyperparameters.Get("length_scale"); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: length scale %v, want %v", preprocess, got, want)
		}
	}
}

// More restarts extend the list of starts: the first starts stay, and the best value cannot get
// worse.
func TestMoreRestartsAreNeverWorse(t *testing.T) {
	text := strings.Replace(valid, "kernel: se", "kernel: {se: {ard: true}}", 1)
	few := runs(t, text, "tune={method: bfgs, restarts: 2}").Configurations[0]
	many := runs(t, text, "tune={method: bfgs, restarts: 5}").Configurations[0]
	if many.LogEvidence < few.LogEvidence-1e-9 {
		t.Errorf("5 restarts reach %v, 2 reach %v", many.LogEvidence, few.LogEvidence)
	}
	for i, r := range few.Restarts {
		if r.Value != many.Restarts[i].Value {
			t.Errorf("restart %d ends at %v of 2 and at %v of 5", i, r.Value, many.Restarts[i].Value)
		}
	}
}

// Preprocessing is fitted on the training part only: the test part cannot change the fit.
func TestPreprocessingSeesTheTrainingPartOnly(t *testing.T) {
	dir := t.TempDir()
	train := "x,label\n0,a\n1,b\n3,a\n7,b\n2,a\n9,b\n"
	evidence := map[string]reports.Number{}
	for name, test := range map[string]string{"near": "x,label\n1,a\n5,b\n", "far": "x,label\n-1000,a\n9e6,b\n"} {
		for file, text := range map[string]string{"train.csv": train, "test.csv": test} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		text := "data: {train: " + dir + "/train.csv, test: " + dir + "/test.csv, preprocess: whiten}\nmodel: {kernel: se, likelihood: logit, inference: ep}\ntune: none\n"
		c := runs(t, text).Configurations[0]
		evidence[name] = c.LogEvidence
		if n := c.Scores.N; n != 2 {
			t.Errorf("%s: %d test cases were scored, want 2", name, n)
		}
	}
	if evidence["near"] != evidence["far"] {
		t.Errorf("log evidence %v and %v for the same training data", evidence["near"], evidence["far"])
	}
}

// With {whiten: all} every fold has the inputs obtained by whitening all cases beforehand, and a
// warning says that held-out cases are used.
func TestPreprocessingOfAllCases(t *testing.T) {
	const model = "model: {kernel: {se: {length_scale: {fixed: 2}}}, likelihood: probit, inference: laplace}\n" +
		"tune: none\nevaluate: {kfold: {k: 3}}\n"
	ds, err := data.Load(data.Spec{Dataset: "thyroid_binary"}, ".", 0)
	if err != nil {
		t.Fatal(err)
	}
	fitted, _, err := preprocess.Fit(ds.X, "whiten", "")
	if err != nil {
		t.Fatal(err)
	}
	white := fitted.Apply(ds.X)
	var text strings.Builder
	for j := range ds.ColumnNames {
		fmt.Fprintf(&text, "x%d,", j)
	}
	text.WriteString("label\n")
	for i, label := range ds.Labels {
		for _, v := range white.RawRowView(i) {
			fmt.Fprintf(&text, "%v,", v)
		}
		text.WriteString(ds.Classes[label] + "\n")
	}
	file := filepath.Join(t.TempDir(), "white.csv")
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	beforehand := runs(t, "data: {train: "+file+"}\n"+model).Configurations[0]
	r := runs(t, "data: {dataset: thyroid_binary, preprocess: [{whiten: all}, {whiten: training}]}\n"+model)
	all, training := r.Configurations[0], r.Configurations[1]
	loss := func(c reports.Configuration) float64 {
		estimate, _ := c.Scores.Value("log_loss")
		return float64(estimate.Value)
	}
	if got, want := loss(all), loss(beforehand); math.Abs(got-want) > 1e-12 {
		t.Errorf("log loss %v, want %v", got, want)
	}
	if loss(all) == loss(training) {
		t.Error("the folds' own whitening makes no difference")
	}
	if all.Preprocess != "whiten(all)" || training.Preprocess != "whiten" {
		t.Errorf("preprocess %q and %q", all.Preprocess, training.Preprocess)
	}
	warned := slices.ContainsFunc(r.Warnings, func(w reports.Notice) bool {
		return strings.Contains(w.Text, "uses the inputs of all 215 cases")
	})
	if !warned {
		t.Errorf("no warning that it looks at what is held out: %q", r.Warnings)
	}
}

// Table 1 of Csató et al. (2000) on the path of gradient descent: one step has both free energies,
// to their printed digit, and both numbers of errors.
func TestCsatoTable1(t *testing.T) {
	s, err := spec.Load("gallery:csato_figure1", []string{"tune.inference=[" +
		strings.Join([]string{"naive_mean_field", "ensemble_mean_field"}[:exhaustive.Of(1, 2)], ", ") + "]"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := run.Run(t.Context(), p, t.TempDir(), run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string][]record.Step{}
	for _, c := range r.Configurations {
		ways[c.Inference.Text+c.TuneInference.Text] = c.Studies[0].Trials[0].Path
	}
	const ensemble, naive = "ensemble_mean_field", "naive_mean_field"
	for _, cell := range []struct {
		tunes             string
		ensemble, naive   float64 // free energies
		errorsEn, errorsN record.Number
	}{{naive, 107.0, 110.9, 62, 62}, {ensemble, 100.6, 183.2, 72, 70}}[:exhaustive.Of(1, 2)] {
		en, na := ways[ensemble+cell.tunes], ways[naive+cell.tunes]
		if len(en) != len(na) || len(en) < 50 {
			t.Fatalf("%d and %d steps", len(en), len(na))
		}
		found := false
		for k := range en {
			if !slices.Equal(en[k].Theta, na[k].Theta) || en[k].Value != na[k].Value {
				t.Fatalf("step %d: %v and %v", k, en[k], na[k])
			}
			energy := func(s record.Step, predicts string) float64 {
				if predicts == cell.tunes {
					return -float64(s.Value)
				}
				return -float64(*s.LogEvidence)
			}
			if math.Abs(energy(en[k], ensemble)-cell.ensemble) <= 0.05 && math.Abs(energy(na[k], naive)-cell.naive) <= 0.05 {
				found = found || en[k].Scores["errors"] == cell.errorsEn && na[k].Scores["errors"] == cell.errorsN
			}
		}
		if !found {
			t.Errorf("tuned with %s: no step has the free energies and the errors of the table", cell.tunes)
		}
	}
}

// A traced path has the scores of the test set at each step; its last scores equal the scores of
// the assessment, and all other results are unchanged. Paths of folds, and evaluations beyond the
// limit, are not traced.
func TestTracedScores(t *testing.T) {
	text := "data: {dataset: pima, subsample: 40, preprocess: standardize}\nmodel: {kernel: se, likelihood: probit, inference: [laplace, ep]}\nevaluate: {test: {}, kfold: {k: 2}}\n"
	plain, traced := runs(t, text, "tune={method: bfgs, evaluations: 9}"), runs(t, text, "tune={method: bfgs, evaluations: 9, trace_scores: true}")
	hybrid := runs(t, text, "tune={method: bfgs, inference: laplace, trace_scores: true}")
	for i, c := range traced.Configurations {
		for k, s := range c.Studies {
			trial, before := s.Trials[0], plain.Configurations[i].Studies[k].Trials[0]
			if trial.Evaluations > 10 || len(trial.Path) != len(before.Path) {
				t.Errorf("%s: %d evaluations, %d steps and %d untraced", c.Label, trial.Evaluations, len(trial.Path), len(before.Path))
			}
			for _, step := range trial.Path {
				if len(step.Scores) == 0 || step.LogEvidence != nil {
					t.Errorf("%s, %s: step %+v", c.Label, s.Evaluation, step)
				}
			}
			if k > 0 && len(trial.Path) > 0 {
				t.Errorf("%s, %s: a fold has a way", c.Label, s.Evaluation)
			}
		}
		path := c.Studies[0].Trials[0].Path
		if e, ok := c.Scores.Value("errors"); !ok || record.Number(e.Value) != path[len(path)-1].Scores["errors"] {
			t.Errorf("%s: %v errors, and at the end of the way %v", c.Label, e.Value, path[len(path)-1].Scores)
		}
		path = hybrid.Configurations[i].Studies[0].Trials[0].Path
		end := path[len(path)-1]
		if c.Inference.Text == "ep" && (end.LogEvidence == nil || math.Abs(float64(*end.LogEvidence-hybrid.Configurations[i].LogEvidence)) > 1e-6) {
			t.Errorf("log evidence of ep where laplace is tuned: %v, and at the end of the way %v", hybrid.Configurations[i].LogEvidence, end.LogEvidence)
		}
	}
}

// A prior mean that softmax does not see is reported; one_vs_rest sees it.
func TestMeanOfSeveralClasses(t *testing.T) {
	text := "data: {dataset: iris}\nmodel: {kernel: se, mean: constant, likelihood: softmax, inference: laplace}\n"
	if w := plantest.Planned(t, text).Manifest.Warnings; len(w) != 1 || !strings.Contains(w[0].String(), "the prior mean has no effect") {
		t.Errorf("warnings %q", w)
	}
	for _, settings := range [][]string{{"model.mean=zero"}, {"model.likelihood=probit", "model.classes=one_vs_rest"}} {
		if w := plantest.Planned(t, text, settings...).Manifest.Warnings; len(w) != 0 {
			t.Errorf("%v: warnings %q", settings, w)
		}
	}
}

// For held-out cases the latent mean m and variance v are recorded; with probit the averaged
// probability is Φ(m/√(1+v)).
func TestPredictionsComeWithTheirLatentMoments(t *testing.T) {
	text := "data: {dataset: crabs, preprocess: standardize, subsample: 40}\nmodel: {kernel: se, likelihood: probit, inference: ep}\ntune: none\nevaluate: {kfold: {k: 2}}\n"
	f, err := page.FormatNamed("predictions")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Render(&out, runs(t, text)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 41 {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		var v [4]float64 // p[F], p[M], latent mean and variance
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[7+i], 64); err != nil {
				t.Fatal(err)
			}
		}
		if want := distuv.UnitNormal.CDF(v[2] / math.Sqrt(1+v[3])); math.Abs(v[1]-want) > 1e-12 || math.Abs(v[0]+v[1]-1) > 1e-12 {
			t.Errorf("%v: p[M] should be %v", row, want)
		}
		if decided := map[bool]string{true: "M", false: "F"}[v[1] > v[0]]; row[6] != decided {
			t.Errorf("%v: decided %s", row, decided)
		}
	}
}

// The key of a plan, which identifies its run folder, changes exactly with what changes results.
func TestPlanKey(t *testing.T) {
	base := plantest.Planned(t, valid).Manifest.Key
	for setting, same := range map[string]bool{
		"name=other":                                   true,
		"report.curves=[calibration]":                  true,
		"seed=2":                                       false,
		"model.likelihood=logit":                       false,
		"model.kernel={se: {amplitude: 2}}":            false,
		"model.inference={laplace: {tolerance: 1e-9}}": false,
		"tune={method: bfgs, restarts: 2}":             false,
		"data.preprocess=whiten":                       false,
		"evaluate={kfold: {k: 3}}":                     false,
		"predict.average=map":                          false,
	} {
		if key := plantest.Planned(t, valid, setting).Manifest.Key; (key == base) != same {
			t.Errorf("--set %s: same key %v, want %v", setting, key == base, same)
		}
	}
}

// If every column has its own length scale, the manifest says which belongs to which; the kernel
// numbers the columns that it uses.
func TestColumnsOfHyperparameters(t *testing.T) {
	got := map[string]string{}
	for _, h := range plantest.Planned(t, valid, "model.kernel={sum: [{active: {dims: [4, 2], kernel: {se: {ard: true}}}}, noise]}").Manifest.Configurations[0].Hyperparameters {
		got[h.Name] = h.Column
	}
	if want := (map[string]string{"1.se.amplitude": "", "1.se.length_scale[1]": "CL", "1.se.length_scale[2]": "FL", "2.noise.amplitude": ""}); !maps.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
}

// Several ways of tuning in one file give the same results as each alone; comparators, which tune
// themselves, run once.
func TestWaysOfTuning(t *testing.T) {
	const grid = "{method: grid, inference: ep, grid: {length_scale: {log: [0, 1], points: 2}}}"
	settings := []string{"data.subsample=40", "model.kernel={se: {amplitude: 3}}", "model.inference=[laplace, base_rate]", "evaluate={hold_out: {}}"}
	both := runs(t, valid, append(settings, "tune=[bfgs, "+grid+"]")...).Configurations
	var methods []string
	for _, c := range both {
		methods = append(methods, c.Tune)
	}
	if want := []string{"bfgs", "none", "grid"}; !slices.Equal(methods, want) {
		t.Fatalf("configurations tuned by %q, want %q", methods, want)
	}
	for i, tune := range map[int]string{0: "bfgs", 2: grid} {
		one := runs(t, valid, append(settings, "tune="+tune)...).Configurations[0]
		if a, b := both[i], one; a.LogEvidence != b.LogEvidence || a.TuneInference.Text != b.TuneInference.Text || !slices.Equal(a.Hyperparameters, b.Hyperparameters) ||
			!reflect.DeepEqual(a.Scores.Results[0].Estimate, b.Scores.Results[0].Estimate) {
			t.Errorf("%s: %v %v with another beside it, %v %v alone", tune, a.LogEvidence, a.Hyperparameters, b.LogEvidence, b.Hyperparameters)
		}
	}
}

// A point that cannot be evaluated is recorded with its reason and affects no other point.
func TestAFailedPointIsOnRecord(t *testing.T) {
	p := plantest.Planned(t, valid, "model.inference={ep: {max_iterations: 1}}", "tune={method: grid, grid: {amplitude: {values: [0.0001, 30]}}}")
	r, summary, err := run.Run(t.Context(), p, t.TempDir(), run.Options{Warn: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "not converged") {
		t.Errorf("an EP that stopped after one sweep is not reported (%+v):\n%s", summary, text)
	}
	if strings.Contains(string(text), "NaN") {
		t.Errorf("NaN in the report:\n%s", text)
	}
}

// Laplace's method tunes multinomial probit by softmax, from all starts or before EP does, and
// gpc-tune check has its gradient. It does not predict with that likelihood.
func TestLaplaceTunesForMultinomialProbit(t *testing.T) {
	text := "data: {dataset: iris, subsample: 40, preprocess: standardize}\n" +
		"model: {kernel: [se, {per_class: se}], likelihood: multinomial_probit, inference: ep}\nevaluate: {kfold: {k: 2}}\n"
	for _, tune := range []string{"tune: {method: bfgs, restarts: 1, inference: laplace}\n",
		"tune: {method: bfgs, restarts: 1, start_inference: laplace, evaluations: 3}\n"} {
		r := runs(t, text+tune)
		for _, c := range r.Configurations {
			if s, ok := c.Scores.Value("log_loss"); !ok || !(s.Value < 0.6) || len(c.Failures) > 0 {
				t.Errorf("%s%s: log loss %v, failures %v", tune, c.Label, s.Value, c.Failures)
			}
		}
		if found := checkPlan(t, plantest.Planned(t, text+tune), check.CheckOptions{}); !found.Passed {
			t.Errorf("%s: %+v", tune, found)
		}
	}
	_, err := spec.Parse("a.yaml", []byte(strings.Replace(text, "inference: ep", "inference: laplace", 1)), nil)
	if err == nil || !strings.Contains(err.Error(), "use softmax") {
		t.Error(err)
	}
}

// Tuning with one inference and predicting with another gives the optimum of the first, with the
// log evidence and the predictions of the other at that point, for EP within a tolerance of 1e-6.
func TestHybrids(t *testing.T) {
	text := strings.Replace(valid, "inference: laplace", "inference: [laplace, ep]", 1) + "evaluate: {hold_out: {}}\n"
	for _, tune := range []string{
		"tune={method: bfgs, inference: [laplace, ep]}",
		"tune={method: grid, inference: [laplace, ep], grid: {amplitude: {values: [1, 3]}, length_scale: {values: [1, 4]}}}",
	} {
		r := runs(t, text, tune)
		if len(r.Configurations) != 4 {
			t.Fatalf("%d configurations, want 4", len(r.Configurations))
		}
		for k, c := range r.Configurations {
			if want := [4][2]string{{"laplace", "laplace"}, {"laplace", "ep"}, {"ep", "laplace"}, {"ep", "ep"}}[k]; [2]string{c.Inference.Text, c.TuneInference.Text} != want {
				t.Fatalf("configuration %d predicts with %s, tuned with %s", k, c.Inference, c.TuneInference)
			}
			tuner, predictor := r.Configurations[k%2*3], r.Configurations[k/2*3]
			q := query.Query{Data: "crabs", Preprocess: "standardize", Kernel: "se", Mean: "zero", Likelihood: "probit", Inference: c.Inference.Text, Theta: map[string]string{}}
			for i, h := range c.Hyperparameters {
				if h != tuner.Hyperparameters[i] {
					t.Errorf("%s tuned with %s: %v, %s alone %v", c.Inference, c.TuneInference, h, c.TuneInference, tuner.Hyperparameters[i])
				}
				q.Theta["log_"+h.Name] = strconv.FormatFloat(math.Log(float64(h.Value)), 'g', -1, 64)
			}
			a, err := q.Evaluate(t.Context())
			if err != nil || math.Abs(float64(a.LogEvidence)-float64(c.LogEvidence)) > 1e-9 {
				t.Errorf("%s tuned with %s: log evidence %v, want %v, error %v", c.Inference, c.TuneInference, c.LogEvidence, a.LogEvidence, err)
			}
			for i, restart := range c.Restarts {
				if restart.Value != tuner.Restarts[i].Value {
					t.Errorf("%s tuned with %s: restart ends at %v, want %v", c.Inference, c.TuneInference, restart.Value, tuner.Restarts[i].Value)
				}
			}
			for i, p := range c.Grid {
				near := slices.EqualFunc(p.Scores, predictor.Grid[i].Scores, func(a, b record.Named) bool {
					return a.Name == b.Name && math.Abs(float64(a.Value-b.Value)) < 1e-5
				})
				if *p.LogEvidence != *tuner.Grid[i].LogEvidence || !near {
					t.Errorf("%s tuned with %s: grid point %d has %v and %v", c.Inference, c.TuneInference, i, *p.LogEvidence, p.Scores)
				}
			}
		}
	}
}

// Regression end to end against a direct dense computation: log evidence, predictive moments (by their scores), with a
// test file and with folds.
func TestRegressionAgainstADirectSolve(t *testing.T) {
	const n, m, amplitude, length, noise, constant = 25, 7, 1.7, 0.8, 0.3, 2.0
	dir := t.TempDir()
	x, y := make([]float64, n+m), make([]float64, n+m)
	var train, test strings.Builder
	train.WriteString("x,y\n")
	test.WriteString("x,y\n")
	for i := range x {
		x[i] = 0.37*float64(i*i%32) - 0.01*float64(i)
		y[i] = 2 + math.Sin(2*x[i]) + 0.2*math.Cos(37*x[i])
		to := &train
		if i >= n {
			to = &test
		}
		fmt.Fprintf(to, "%v,%v\n", x[i], y[i])
	}
	for name, text := range map[string]string{"train.csv": train.String(), "test.csv": test.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}

	// solve returns the log evidence of the training cases and the scores of the test cases.
	solve := func(train, test []int) (evidence, rmse, loss float64) {
		k := func(a, b int) float64 {
			return amplitude * amplitude * math.Exp(-(x[a]-x[b])*(x[a]-x[b])/(2*length*length))
		}
		c, r, targets := mat.NewSymDense(len(train), nil), mat.NewVecDense(len(train), nil), make([]float64, len(train))
		for i, a := range train {
			for j, b := range train {
				c.SetSym(i, j, k(a, b))
			}
			c.SetSym(i, i, k(a, a)+noise*noise)
			r.SetVec(i, y[a]-constant)
			targets[i] = y[a]
		}
		var chol mat.Cholesky
		var alpha, v mat.VecDense
		if !chol.Factorize(c) || chol.SolveVecTo(&alpha, r) != nil {
			t.Fatal("singular")
		}
		evidence = -mat.Dot(&alpha, r)/2 - chol.LogDet()/2 - float64(len(train))/2*math.Log(2*math.Pi)
		mean, variance := stat.PopMeanVariance(targets, nil)
		base := distuv.Normal{Mu: mean, Sigma: math.Sqrt(variance)}
		for _, b := range test {
			cross := mat.NewVecDense(len(train), nil)
			for i, a := range train {
				cross.SetVec(i, k(a, b))
			}
			if chol.SolveVecTo(&v, cross) != nil {
				t.Fatal("singular")
			}
			p := distuv.Normal{Mu: constant + mat.Dot(cross, &alpha), Sigma: math.Sqrt(k(b, b) - mat.Dot(cross, &v) + noise*noise)}
			rmse += (y[b] - p.Mu) * (y[b] - p.Mu) / float64(len(test))
			loss += (base.LogProb(y[b]) - p.LogProb(y[b])) / float64(len(test))
		}
		return evidence, math.Sqrt(rmse), loss
	}
	same := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-10*max(1, math.Abs(want))) {
			t.Errorf("%s = %.14g, want %.14g", what, got, want)
		}
	}
	all, held := make([]int, n), make([]int, m)
	for i := range all {
		all[i] = i
	}
	for i := range held {
		held[i] = n + i
	}
	evidence, rmse, loss := solve(all, held)
	q := query.Query{Data: filepath.Join(dir, "train.csv"), Test: filepath.Join(dir, "test.csv"), Preprocess: "none", Kernel: "{se: {amplitude: 1.7, length_scale: 0.8}}",
		Mean: "{constant: 2}", Likelihood: "{gaussian: {noise: 0.3}}", Inference: "exact"}
	a, err := q.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same("log evidence", float64(a.LogEvidence), evidence)
	same("rmse", float64(*a.Test.RMSE), rmse)
	same("standardized log loss", float64(*a.Test.StandardizedLogLoss), loss)
	if a.Test.N != m || a.Test.Errors != nil || len(a.Gradient) != 2 {
		t.Errorf("%+v", a)
	}

	text := fmt.Sprintf("data: {train: %s/train.csv, test: %s/test.csv}\nmodel: {kernel: %q, mean: {constant: 2}, likelihood: {gaussian: {noise: 0.3}}, inference: [exact, ep, laplace]}\n"+
		"tune: none\nevaluate: {test: {}, kfold: {k: 4}}\n", dir, dir, "KERNEL")
	text = strings.Replace(text, `"KERNEL"`, q.Kernel, 1)
	r := runs(t, text)
	folds, err := split.KFold{K: 4}.Split(n, nil, nil, random.Derive(0, "split", "kfold"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Configurations {
		same(c.Inference.Text+": log evidence", float64(c.LogEvidence), evidence)
		for name, want := range map[string]float64{"rmse": rmse, "standardized_log_loss": loss} {
			got, _ := c.Scores.Value(name)
			same(c.Inference.Text+": "+name, got.Value, want)
		}
		for i, f := range folds {
			evidence, rmse, loss := solve(f.Train, f.Test)
			same(c.Inference.Text+": log evidence of a fold", float64(c.Folds[i].LogEvidence), evidence)
			for name, want := range map[string]float64{"rmse": rmse, "standardized_log_loss": loss} {
				got, _ := c.Folds[i].Scores.Value(name)
				same(c.Inference.Text+": "+name+" of a fold", got.Value, want)
			}
		}
	}
}

// The same labels are classes for one likelihood and numbers for another.
func TestLabelsAreWhatTheLikelihoodTakes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "d.csv"), []byte("x,label\n0,1\n1,2\n3,1\n7,2\n4,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := runs(t, "data: {train: "+dir+"/d.csv}\nmodel: {kernel: se, likelihood: [probit, gaussian, logit], inference: ep}\ntune: {method: grid, grid: {amplitude: {values: [1, 2]}}}\nevaluate: {kfold: {k: 2}}\nreport: {curves: [calibration]}\n")
	for i, want := range []struct {
		classes int
		score   string
	}{{2, "information_bits"}, {0, "rmse"}, {2, "information_bits"}} {
		c := r.Configurations[i]
		if _, ok := c.Scores.Value(want.score); !ok || len(c.Classes) != want.classes || c.Scores.N != 5 || len(c.Failures) > 0 {
			t.Errorf("%s: classes %q, scores %v, failures %v", c.Likelihood, c.Classes, c.Scores, c.Failures)
		}
		if _, ok := c.Grid[0].Scores.Get(want.score); !ok {
			t.Errorf("%s: a grid point has the scores %v", c.Likelihood, c.Grid[0].Scores)
		}
	}
}

// Standard errors are given for the fit on all training data, if the tuned objective has a maximum
// there.
func TestStandardErrors(t *testing.T) {
	text := strings.Replace(valid, "inference: laplace", "inference: ep", 1) + "evaluate: {kfold: {k: 2}}\n"
	for tune, warned := range map[string]string{
		"tune={method: bfgs, standard_errors: true}":                     "",
		"tune={method: bfgs, standard_errors: true, inference: laplace}": "",
		"tune={method: bfgs}": "",
		"tune={method: grid, standard_errors: true, grid: {amplitude: {values: [500]}, length_scale: {values: [20]}}}": "from a maximum",
	} {
		c := runs(t, text, tune, "seed=2").Configurations[0] // the folds of this seed have a maximum within the bounds
		asked := strings.Contains(tune, "standard_errors")
		if (len(c.StandardErrors) == 2) != asked || (len(c.Correlations) == 2) != asked {
			t.Errorf("%s: standard errors %v, correlations %v", tune, c.StandardErrors, c.Correlations)
		}
		if text := fmt.Sprint(c.Warnings); (warned == "") != (len(c.Warnings) == 0) || !strings.Contains(text, warned) {
			t.Errorf("%s: warnings %q, want %q", tune, c.Warnings, warned)
		}
		if asked {
			if s, ok := c.StandardErrors.Get("log_length_scale"); !ok || !(s > 0.01 && s < 10) || c.Correlations[0][1] != c.Correlations[1][0] {
				t.Errorf("%s: standard errors %v, correlations %v", tune, c.StandardErrors, c.Correlations)
			}
		}
	}
}

// A plan counts the rows that repeat an earlier one with the label, whatever their identifiers, unless
// they are kept together.
func TestRepeatedRowsAreNoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	text := "id,x,z,label\n1,0,,a\n2,1,5,b\n3,0,,a\n4,0,,b\n5,2,5,a\n6,1,5,b\n7,0,,a\n8,-0,6,b\n9,0,6,b\n10,3,3,a\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for keys, want := range map[string]int{"id: id": 4, "drop: [id]": 4, "id: id, duplicates: together": 0, "ignore_case: true": 0} {
		p := plantest.Planned(t, "data: {train: "+path+", label: label, missing: mean, "+keys+"}\nmodel: {inference: p1nn}\n")
		got := 0
		for _, w := range p.Manifest.Warnings {
			if w.Kind == cause.Repeated {
				got += w.Cases
			}
		}
		if got != want {
			t.Errorf("%s: %d repeated rows, want %d; %q", keys, got, want, p.Manifest.Warnings)
		}
	}
}

// If the data do not allow a start or a split, the message uses the user's own names.
func TestDataThatDoNotSuitAreNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"far": "x,label\n0,a\n1e9,b\n3e9,a\n7e9,b\n", "rare": "x,label\n0,no\n1,no\n3,no\n7,yes\n"} {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const model = "}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n"
	p := plantest.Planned(t, "data: {train: "+dir+"/far.csv"+model)
	if w := p.Manifest.Warnings; len(w) != 2 || !strings.Contains(w[0].String(), `"a" (2), "b" (2)`) || !strings.Contains(w[1].String(), "length_scale starts at its bound 3.26902e+06") {
		t.Errorf("warnings %q", w)
	}
	s, err := spec.Parse("t.yaml", []byte("data: {train: "+dir+"/rare.csv"+model+"evaluate: {kfold: {k: 2}}\npredict: {sets: {coverage: 0.9}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.New(t.Context(), s); err == nil || strings.Contains(err.Error(), "sets") ||
		!strings.Contains(err.Error(), `would train without class "yes", which has 1 case`) {
		t.Errorf("error %v", err)
	}
}

// Averages less accurate than 1e-5 give a warning, both for one fit and for samples.
func TestAverageWarning(t *testing.T) {
	text := "data: {dataset: glass, subsample: 48, preprocess: standardize}\nevaluate: {kfold: {k: 2}}\nmodel: {kernel: {se: {length_scale: {prior: {log_normal: {mean: 0, sd: 0.1}}}, amplitude: {fixed: 3}}}, likelihood: softmax, inference: {laplace: {"
	for options, want := range map[string]bool{"points: 8": true, "max_iterations: 100": false} {
		for _, tune := range []string{"none", "{method: mcmc, samples: 4, burn: 1, objective: log_posterior}"} {
			r := runs(t, text+options+"}}}\ntune: "+tune+"\n")
			if w := fmt.Sprint(r.Configurations[0].Warnings); strings.Contains(w, "averaged softmax probabilities") != want {
				t.Errorf("%s, tune %s: warnings %q", options, tune, w)
			}
		}
	}
}
