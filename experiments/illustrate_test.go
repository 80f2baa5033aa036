package experiments

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// illustrated are the illustrations of a file.
func illustrated(t *testing.T, text string) []record.Illustration {
	t.Helper()
	return planned(t, text).Manifest.Illustrations
}

// What prior shows is what gpc-tune sample draws with its seed, once for models that differ in what it does not show.
func TestPriorsAreDrawn(t *testing.T) {
	got := illustrated(t, "seed: 5\nillustrate: [prior, {prior: {inputs: {from: 0, to: 2, points: 11}, draws: 2}}]\n"+
		"model: {kernel: [{se: {amplitude: 2, length_scale: 0.5}}, matern12], likelihood: [probit, logit], inference: [ep, laplace]}\n")
	if len(got) != 8 {
		t.Fatalf("%d illustrations, want 2 of each of 2 kernels and 2 likelihoods", len(got))
	}
	i := got[4]
	if i.Entry != 1 || i.Likelihood != "probit" || !strings.HasPrefix(i.Kernel, "{se") {
		t.Fatalf("%d, %s, %s", i.Entry, i.Kernel, i.Likelihood)
	}
	want, err := Sampling{Query: Query{Kernel: "{se: {amplitude: 2, length_scale: 0.5}}", Mean: "zero", Likelihood: "probit"}, Grid: "0:2:11", Count: 2, Seed: derive(5, "illustrate", "1")}.Draw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(i.Columns) != 5 {
		t.Fatalf("%d columns", len(i.Columns))
	}
	for c, column := range i.Columns {
		if column.Name != want.Columns[c] {
			t.Errorf("column %d is %s, want %s", c, column.Name, want.Columns[c])
		}
		for k, v := range column.Values {
			if v != want.Rows[k][c] {
				t.Errorf("%s in row %d: %v, want %v", column.Name, k, v, want.Rows[k][c])
			}
		}
	}
	if h := i.Hyperparameters; len(h) != 2 || math.Abs(float64(h[0].Value)-2) > 1e-15 || math.Abs(float64(h[1].Value)-0.5) > 1e-15 {
		t.Errorf("hyperparameters %+v", h)
	}

	bare := illustrated(t, "illustrate: prior\nmodel: {kernel: se}\n")[0]
	if len(bare.Columns) != 4 || bare.Column("p1") != nil || len(bare.Column("x")) != 201 {
		t.Errorf("without a likelihood: %d columns of %d numbers", len(bare.Columns), len(bare.Columns[0].Values))
	}
	classes := illustrated(t, "illustrate: {prior: {draws: 1, classes: [a, b, c]}}\nmodel: {kernel: {per_class: se}, likelihood: softmax}\n")[0]
	for k := range classes.Column("x") {
		if sum := classes.Column("p1[a]")[k] + classes.Column("p1[b]")[k] + classes.Column("p1[c]")[k]; math.Abs(sum-1) > 1e-15 {
			t.Fatalf("probabilities of sum %v", sum)
		}
	}
}

// A folder keeps the illustrations it began with, is reported again from its manifest alone, and is extended by those that ask
// for more.
func TestRunsOfIllustrations(t *testing.T) {
	const text = "name: a\nillustrate: {prior: {inputs: {points: 5}}}\nmodel: {kernel: [se]}\n"
	dir := filepath.Join(t.TempDir(), "run")
	report, summary, err := planned(t, text).Run(t.Context(), dir, Options{})
	if err != nil || summary.Total != 0 || len(report.Illustrations) != 1 || len(report.Figures()) != 1 || len(report.Summary().Rows) != 1 {
		t.Fatalf("%+v, %v", summary, err)
	}
	folder, err := ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := folder.Report()
	if err != nil || !reflect.DeepEqual(again.Figures(), report.Figures()) {
		t.Errorf("from the folder: %v", err)
	}
	if progress, err := folder.Progress(); err != nil || !progress.Finished {
		t.Errorf("progress %+v, %v", progress, err)
	}
	for _, other := range []string{"seed=2", "illustrate.prior.inputs.points=6", "model.kernel=noise"} {
		if _, _, err := planned(t, text, other).Run(t.Context(), dir, Options{Extend: true}); err == nil {
			t.Errorf("%s goes on in the folder", other)
		}
	}
	more := planned(t, text, "model.kernel=[se, noise]")
	if _, _, err := more.Run(t.Context(), dir, Options{}); err == nil {
		t.Error("extended without being asked")
	}
	if report, _, err := more.Run(t.Context(), dir, Options{Extend: true}); err != nil || len(report.Illustrations) != 2 {
		t.Errorf("extended: %v", err)
	}
	if _, _, err := planned(t, text).Fit(t.Context(), filepath.Join(t.TempDir(), "m.json"), FitOptions{}); err == nil || !strings.Contains(err.Error(), "nothing is fitted") {
		t.Errorf("fit: %v", err)
	}
	if _, err := planned(t, text).Check(t.Context(), CheckOptions{}); err == nil || !strings.Contains(err.Error(), "nothing is fitted") {
		t.Errorf("check: %v", err)
	}
}

// The columns of likelihoods are the closed forms of log p(y|f), and every derivative is the slope of the column before it.
func TestLikelihoodsAreShown(t *testing.T) {
	const text = "illustrate: {likelihood: {latent: {from: -2, to: 2, points: 401}, label: %s}}\nmodel: {likelihood: [probit, logit, noisy_threshold, {gaussian: {noise: 0.5}}]}\n"
	for _, y := range []float64{1, -1} {
		closed := map[string]func(f float64) float64{
			"probit": func(f float64) float64 { return math.Log(math.Erfc(-y*f/math.Sqrt2) / 2) },
			"logit":  func(f float64) float64 { return -math.Log1p(math.Exp(-y * f)) },
			"noisy_threshold": func(f float64) float64 {
				if y*f > 0 {
					return math.Log(0.99)
				}
				return math.Log(0.01)
			},
			"{gaussian: {noise: 0.5}}": func(f float64) float64 { return -2*(y-f)*(y-f) - math.Log(2*math.Pi*0.25)/2 },
		}
		for _, i := range illustrated(t, strings.Replace(text, "%s", fmt.Sprint(y), 1)) {
			x, want := i.Column("f"), closed[i.Likelihood]
			for k, v := range i.Column("log_likelihood") {
				if math.Abs(x[k]) > 1e-12 && !(math.Abs(v-want(x[k])) <= 1e-14*max(1, math.Abs(v))) {
					t.Errorf("%s at %v: %v, want %v", i.Likelihood, x[k], v, want(x[k]))
				}
			}
			if i.Likelihood == "noisy_threshold" {
				if len(i.Columns) != 2 {
					t.Errorf("noisy_threshold has %d columns", len(i.Columns))
				}
				continue
			}
			for c := 1; c < 4; c++ { // the error of the slopes is h^4/30 times the fifth derivative, h = 0.01
				v, slope := record.Floats(i.Columns[c].Values), record.Floats(i.Columns[c+1].Values)
				for k := 2; k+2 < len(x); k++ {
					if d := (8*(v[k+1]-v[k-1]) - (v[k+2] - v[k-2])) / (12 * 0.01); math.Abs(d-slope[k]) > 1e-8 {
						t.Fatalf("%s: %s at %v is %v, its slope there should be %v", i.Likelihood, i.Columns[c+1].Name, x[k], slope[k], d)
					}
				}
			}
		}
	}
}
