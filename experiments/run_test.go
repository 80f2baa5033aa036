package experiments

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
)

// runs runs a configuration file and returns its report.
func runs(t *testing.T, text string, settings ...string) *reports.Report {
	t.Helper()
	p := planned(t, text, settings...)
	r, _, err := p.Run(t.Context(), t.TempDir(), Options{Warn: func(format string, args ...any) { t.Logf(format, args...) }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func planned(t *testing.T, text string, settings ...string) *Plan {
	t.Helper()
	s, err := Parse("t.yaml", []byte(text), settings)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
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

// More restarts extend the list of starts, so the best can only get better, and what came first stays.
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

// Preprocessing is fitted on the training part only: what the test part holds cannot change the fit.
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

// The key of a plan, by which a run folder knows its owner, changes with what changes results and with nothing else.
func TestPlanKey(t *testing.T) {
	base := planned(t, valid).Manifest.Key
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
		if key := planned(t, valid, setting).Manifest.Key; (key == base) != same {
			t.Errorf("--set %s: same key %v, want %v", setting, key == base, same)
		}
	}
}

// A point that cannot be evaluated is on record with its reason, and costs nothing but itself.
func TestAFailedPointIsOnRecord(t *testing.T) {
	p := planned(t, valid, "model.inference={ep: {max_iterations: 1}}", "tune={method: grid, grid: {amplitude: {values: [0.0001, 30]}}}")
	r, summary, err := p.Run(t.Context(), t.TempDir(), Options{Warn: t.Logf})
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

// Tuned with one inference and predicting with another: the optimum of the one, the log evidence and the predictions of
// the other there.
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
			if want := [4][2]string{{"laplace", "laplace"}, {"laplace", "ep"}, {"ep", "laplace"}, {"ep", "ep"}}[k]; [2]string{c.Inference, c.TuneInference} != want {
				t.Fatalf("configuration %d predicts with %s, tuned with %s", k, c.Inference, c.TuneInference)
			}
			tuner, predictor := r.Configurations[k%2*3], r.Configurations[k/2*3]
			q := Query{Data: "crabs", Preprocess: "standardize", Kernel: "se", Mean: "zero", Likelihood: "probit", Inference: c.Inference, Theta: map[string]string{}}
			for i, h := range c.Hyperparameters {
				if h != tuner.Hyperparameters[i] {
					t.Errorf("%s tuned with %s: %v, %s alone %v", c.Inference, c.TuneInference, h, c.TuneInference, tuner.Hyperparameters[i])
				}
				q.Theta["log_"+h.Name] = strconv.FormatFloat(math.Log(float64(h.Number)), 'g', -1, 64)
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
				if *p.LogEvidence != *tuner.Grid[i].LogEvidence || !slices.Equal(p.Scores, predictor.Grid[i].Scores) {
					t.Errorf("%s tuned with %s: grid point %d has %v and %v", c.Inference, c.TuneInference, i, *p.LogEvidence, p.Scores)
				}
			}
		}
	}
}
