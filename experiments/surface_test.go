package experiments

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
)

// journalled runs an experiment and returns its plan and the lines of its journal.
func journalled(t *testing.T, text string) (*plan.Plan, []record.Line) {
	t.Helper()
	p, dir := plantest.Planned(t, text), t.TempDir()
	if _, _, err := run.Run(t.Context(), p, dir, run.Options{Warn: t.Logf}); err != nil {
		t.Fatal(err)
	}
	folder, err := run.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, folder.Lines
}

// wholeFit runs a configuration and returns its fit on all training data, and a model of it.
func wholeFit(t *testing.T, text string) (*record.Fit, *predict.Classifier) {
	t.Helper()
	p, lines := journalled(t, text)
	for _, line := range lines {
		if f := line.Fit; f != nil && f.Study == 0 {
			if !f.Failure.IsZero() {
				t.Fatal(f.Failure)
			}
			c, err := predict.LoadClassifier(modelOf(t, p, 0))
			if err != nil {
				t.Fatal(err)
			}
			return f, c
		}
	}
	t.Fatal("no fit on record")
	return nil, nil
}

// predicted returns the columns of `gpc-tune predict`.
func predicted(t *testing.T, c *predict.Classifier, file string) map[string][]float64 {
	t.Helper()
	table, err := c.Predict(file, spec.Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]float64{}
	for _, row := range table.Rows {
		for j, v := range row {
			if v, ok := v.(record.Number); ok {
				columns[table.Columns[j]] = append(columns[table.Columns[j]], float64(v))
			}
		}
	}
	return columns
}

// same compares recorded numbers with a column, up to rounding.
func same(t *testing.T, what string, got []record.Number, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= 1e-9*max(1, math.Abs(v))) {
			t.Errorf("%s: number %d is %v, want %v", what, i, got[i], v)
			return
		}
	}
}

// For generated data the truth at the points of the lattice is recorded; the lattice covers the
// test cases too.
func TestTruthOnRecord(t *testing.T) {
	const text = "data: {dataset: %s}\nmodel: {kernel: se, likelihood: %s, inference: %s}\ntune: none\n"
	surface := func(set, likelihood, inference string) *record.Surface {
		f, _ := wholeFit(t, fmt.Sprintf(text, set, likelihood, inference))
		return f.Surface
	}
	s := surface("sinusoid", "gaussian", "exact")
	axis := record.Floats(s.Axes[0])
	if last := len(axis) - 1; len(s.Truth) != 1 || !(math.Abs(axis[0]+0.1) < 1e-12) || !(math.Abs(axis[last]-1.1) < 1e-12) {
		t.Fatalf("%d truths from %v to %v", len(s.Truth), axis[0], axis[last])
	}
	var want []float64
	for _, x := range axis {
		want = append(want, math.Sin(2*math.Pi*x))
	}
	same(t, "sinusoid", s.Truth[0], want)
	s = surface("gpml_fig31", "logit", "laplace")
	want = nil
	for _, y := range s.Axes[1] {
		for _, x := range s.Axes[0] {
			want = append(want, 1/(1+math.Exp(-float64(x+y))))
		}
	}
	if len(s.Truth) != 1 {
		t.Fatalf("%d truths of two classes", len(s.Truth))
	}
	same(t, "gpml_fig31", s.Truth[0], want)
	if s := surface("gpml_fig313", "softmax", "laplace"); len(s.Truth) != 3 {
		t.Errorf("%d truths of three classes", len(s.Truth))
	}
	if s := surface("ripley", "probit", "laplace"); s.Truth != nil {
		t.Error("the truth of cases that were not drawn here")
	}
}

// The values recorded for figures equal the predictions for a file with the points of the lattice,
// written here, and for the training cases.
func TestWhatFiguresShow(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	var one, two, numeric strings.Builder
	one.WriteString("x,y\n")
	two.WriteString("u,v,y\n")
	numeric.WriteString("x,y\n")
	for i := range 24 {
		x := 10 + 3*math.Sin(float64(i*i))
		fmt.Fprintf(&one, "%v,%s\n", x, map[bool]string{true: "yes", false: "no"}[math.Sin(2*x)+0.3*math.Cos(float64(7*i)) > 0])
		u, v := 100*math.Cos(float64(3*i*i)), math.Sin(float64(5*i+i*i))
		cell := fmt.Sprint(v)
		if i == 5 {
			cell = "NA"
		}
		fmt.Fprintf(&two, "%v,%s,%c\n", u, cell, 'a'+int(u/100+v+3)%3)
		fmt.Fprintf(&numeric, "%v,%v\n", x, math.Sin(2*x))
	}
	files := map[string]string{"one": write("one.csv", one.String()), "two": write("two.csv", two.String()), "numeric": write("numeric.csv", numeric.String())}
	for _, test := range []struct {
		file, data, model, tune string
		names, classes          []string
	}{
		{"one", "preprocess: standardize", "{kernel: se, likelihood: probit, inference: ep}", "none", []string{"x"}, []string{"yes"}},
		{"one", "", "{kernel: {sum: [{se: {amplitude: {prior: {half_normal: {scale: 3}}}, length_scale: {fixed: 1}}}, {noise: {amplitude: {fixed: 0.3}}}]}, mean: {constant: {fixed: 0.2}}, likelihood: logit, inference: laplace}", "{method: mcmc, objective: log_posterior, restarts: 2, burn: 2, samples: 4}", []string{"x"}, []string{"yes"}},
		{"two", "drop: [v]", "{kernel: se, likelihood: softmax, inference: laplace}", "none", []string{"u"}, []string{"a", "b", "c"}},
		{"two", "preprocess: whiten, missing: median", "{kernel: {se: {ard: true}}, likelihood: probit, inference: laplace, classes: one_vs_rest}", "none", []string{"u", "v"}, []string{"a", "b", "c"}},
		{"numeric", "preprocess: standardize", "{kernel: se, likelihood: gaussian, inference: exact}", "none", []string{"x"}, nil},
	} {
		text := fmt.Sprintf("data: {train: %s, label: y, %s}\nmodel: %s\ntune: %s\n", files[test.file], test.data, test.model, test.tune)
		f, c := wholeFit(t, text)
		if test.tune != "none" { // after MCMC it is the fit at the sample with the recorded hyperparameters
			_, c = wholeFit(t, strings.NewReplacer("{prior: {half_normal: {scale: 3}}}", fmt.Sprintf("{fixed: %v}", f.Natural[0]), test.tune, "none").Replace(text))
		}
		s := f.Surface
		if s == nil || !slices.Equal(s.Names, test.names) || len(s.Axes) != len(test.names) || len(s.Inputs) != len(test.names) {
			t.Errorf("%s: %s: no surface, or over other inputs", test.file, test.model)
			continue
		}
		points := strings.Join(test.names, ",") + "\n"
		if len(s.Axes) == 1 {
			for _, x := range s.Axes[0] {
				points += fmt.Sprintf("%v\n", float64(x))
			}
		} else {
			for _, v := range s.Axes[1] {
				for _, u := range s.Axes[0] {
					points += fmt.Sprintf("%v,%v\n", float64(u), float64(v))
				}
			}
		}
		for j, axis := range s.Axes {
			there := slices.DeleteFunc(record.Floats(s.Inputs[j]), math.IsNaN)
			lo, hi := slices.Min(there), slices.Max(there)
			margin := 0.1 * (hi - lo)
			last := len(axis) - 1
			if len(axis) != map[int]int{1: 201, 2: 41}[len(s.Axes)] || math.Abs(float64(axis[0])-(lo-margin)) > 1e-12*100 || math.Abs(float64(axis[last])-(hi+margin)) > 1e-12*100 {
				t.Errorf("%s: axis %d has %d values from %v to %v; the inputs are from %v to %v", test.file, j, len(axis), axis[0], axis[last], lo, hi)
			}
		}
		want := predicted(t, c, write("points.csv", points))
		of := func(column string, class int) string {
			if len(test.classes) > 1 {
				column += "[" + test.classes[class] + "]"
			}
			return column
		}
		if test.classes == nil {
			same(t, "mean", s.Mean, want["mean"])
			same(t, "variance", s.Variance, want["variance"])
		}
		for k := range max(1, len(test.classes)) {
			if test.classes != nil {
				same(t, test.file+" probabilities", s.Proba[k], want["p["+test.classes[k]+"]"])
			}
			same(t, test.file+" latent mean", s.LatentMean[k], want[of("latent_mean", k)])
			same(t, test.file+" latent variance", s.LatentVariance[k], want[of("latent_variance", k)])
		}
		train := predicted(t, c, files[test.file])
		if test.classes == nil {
			if f.TrainLatentMean != nil || f.TrainLabels != nil || len(s.Targets) != 24 {
				t.Errorf("regression: %d latent means, %d labels and %d targets of the training cases", len(f.TrainLatentMean), len(f.TrainLabels), len(s.Targets))
			}
			continue
		}
		if len(f.TrainLabels) != 24 {
			t.Errorf("%d labels of 24 training cases", len(f.TrainLabels))
		}
		for k := range test.classes {
			same(t, test.file+" latent mean of training cases", f.TrainLatentMean[k], train[of("latent_mean", k)])
		}
	}

	// Comparators have only probabilities; the probabilities of p1nn are π on the side of the
	// nearest case.
	f, c := wholeFit(t, fmt.Sprintf("data: {train: %s, label: y}\nmodel: {inference: p1nn}\ntune: none\n", files["one"]))
	s, pi := f.Surface, float64(f.Natural[0])
	if s == nil || s.LatentMean != nil || f.TrainLatentMean != nil || len(f.TrainLabels) != 24 {
		t.Fatal("the record of a comparator")
	}
	same(t, "p1nn", s.Proba[0], predicted(t, c, filepath.Join(dir, "points.csv"))["p[yes]"])
	for i, x := range s.Axes[0] {
		nearest := 0
		for k, v := range s.Inputs[0] {
			if math.Abs(float64(v-x)) < math.Abs(float64(s.Inputs[0][nearest]-x)) {
				nearest = k
			}
		}
		if want := map[int]float64{0: 1 - pi, 1: pi}[f.TrainLabels[nearest]]; math.Abs(float64(s.Proba[0][i])-want) > 1e-15 {
			t.Errorf("p(yes) at %v is %v, want %v", x, s.Proba[0][i], want)
		}
	}

	// Three inputs, and categories, have no lattice.
	three := write("three.csv", "a,b,c,y\n1,2,3,n\n2,1,3,p\n4,4,1,p\n3,2,2,n\n")
	colours := write("colours.csv", "a,y\nred,n\nblue,p\nred,p\nblue,n\n")
	for _, file := range []string{three, colours} {
		if f, _ := wholeFit(t, fmt.Sprintf("data: {train: %s, label: y, categorical: one_hot}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n", file)); f.Surface != nil || len(f.TrainLatentMean) != 1 {
			t.Errorf("%s: a surface, or no latent means of training cases", file)
		}
	}
}

// The probabilities at the latent means follow from the formulas of the likelihoods. A run that
// predicts with them records them once.
func TestMAPIsOnRecord(t *testing.T) {
	text := "data: {dataset: crabs, preprocess: standardize, subsample: 40}\nmodel: {kernel: se, likelihood: %s, inference: ep}\ntune: none\nevaluate: {kfold: {k: 2}}\n"
	held := func(text string) (fits []*record.Fit) {
		t.Helper()
		_, lines := journalled(t, text)
		for _, line := range lines {
			if line.Fit.Study > 0 {
				fits = append(fits, line.Fit)
			}
		}
		return fits
	}
	for name, squash := range map[string]func(f float64) float64{
		"probit": distuv.UnitNormal.CDF,
		"logit":  func(f float64) float64 { return 1 / (1 + math.Exp(-f)) },
		"{noisy_threshold: {epsilon: {fixed: 0.125}}}": func(f float64) float64 {
			if f > 0 {
				return 0.875
			}
			return 0.125
		},
	} {
		fits := held(fmt.Sprintf(text, name))
		for _, f := range fits {
			var want []float64
			for _, m := range f.LatentMean[0] {
				want = append(want, squash(float64(m)))
			}
			same(t, name, f.MAP, want)
		}
		if len(fits) != 2 {
			t.Errorf("%s: %d folds", name, len(fits))
		}
	}
	for _, f := range held(fmt.Sprintf(text, "probit") + "predict: {average: map}\n") {
		if f.MAP != nil {
			t.Error("predictions at the latent mean are on record twice")
		}
	}
}

// A sampled log evidence is recorded with its standard error; others have none.
func TestStandardErrorsOfPoints(t *testing.T) {
	_, lines := journalled(t, "data: {dataset: crabs, subsample: 20}\nmodel: {kernel: se, likelihood: probit, inference: [{sampling: {temperatures: 60}}, ep]}\ntune: {method: grid, grid: {length_scale: {values: [1, 2]}, amplitude: {values: [2]}}}\nevaluate: training\n")
	points := 0
	for _, line := range lines {
		if line.Trial == nil {
			continue
		}
		for _, p := range line.Trial.Points {
			points++
			if sampled := line.Trial.Configuration == 0; (p.StandardError > 0) != sampled || sampled && p.StandardError > 2 {
				t.Errorf("configuration %d: standard error %v", line.Trial.Configuration, p.StandardError)
			}
		}
	}
	if points != 8 {
		t.Errorf("%d points, want 8", points)
	}
}

// modelOf writes the model file of a configuration.
func modelOf(t *testing.T, p *plan.Plan, configuration int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m.json")
	if _, _, err := predict.Fit(t.Context(), p, name, predict.FitOptions{Configuration: &configuration, Options: run.Options{Warn: t.Logf}}); err != nil {
		t.Fatal(err)
	}
	return name
}
