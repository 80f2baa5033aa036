package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/kernel/kerneltest"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// One component of every other kind.
func init() {
	kernel.Register("cauchy", "σ²/(1 + r²/2l²)", 1, kernel.Stationary[cauchy]{})
	param.Register("laplace", "{mean: 0, scale: 1}: p(ln v) ∝ exp(-|ln v - mean|/scale)", 1, laplace{Scale: 1})
	objective.RegisterAverage("midway", "the mean of averaged and map", 1, midway{})
	split.Register("alternate", "every other case is tested", 1, alternate{})
	cv.RegisterScore(cv.Score{
		Name: "least", Unit: "probability", Greater: true, Version: 1, Within: [2]float64{0, 1}, Func: least,
		Doc: "least probability of a true class", Column: cv.Column{Heading: "least p", Digits: 3},
	})
	page.Register(page.Format{Name: "line", Doc: "a line a configuration", File: "lines.txt", Render: lines})
}

// cauchy is κ(s) = 1/(1 + s/2).
type cauchy struct{}

func (cauchy) Kappa(k, s []float64, c, _ float64) {
	for j, v := range s {
		k[j] = 1 / (1 + c*v/2)
	}
}

func (cauchy) Weigh(m, s []float64, c, _ float64) {
	for j, v := range s {
		m[j] /= 1 + c*v/2
	}
}

// laplace is a double exponential density of ln v.
type laplace struct {
	Mean  float64 `yaml:"mean"`
	Scale float64 `yaml:"scale"`
}

func (laplace) Transform() param.Transform { return param.Log }
func (p laplace) Spread() float64          { return math.Sqrt2 * p.Scale }

func (p laplace) LogDensity(theta float64) (value, slope float64) {
	z := theta - p.Mean
	return -math.Abs(z)/p.Scale - math.Log(2*p.Scale), -math.Copysign(1/p.Scale, z)
}

// midway is the mean of two averages.
type midway struct{}

func (midway) Uses(l likelihood.Likelihood) error { return objective.MAP{}.Uses(l) }

func (midway) Predict(dst *mat.Dense, p *objective.Point, z *kernel.Inputs) {
	other := mat.DenseCopyOf(dst)
	objective.Averaged{}.Predict(dst, p, z)
	objective.MAP{}.Predict(other, p, z)
	dst.Add(dst, other)
	dst.Scale(0.5, dst)
}

// alternate tests every other case.
type alternate struct{}

func (alternate) Split(n int, _ []int, _ []string, _ uint64) ([]split.Fold, error) {
	var f split.Fold
	for i := range n {
		if i%2 == 0 {
			f.Train = append(f.Train, i)
		} else {
			f.Test = append(f.Test, i)
		}
	}
	return []split.Fold{f}, nil
}

func least(p cv.Predictions) (e cv.Estimate, ok bool) {
	var of []float64
	for i, label := range p.Labels {
		of = append(of, p.Proba.At(i, label))
	}
	return cv.Estimate{Value: slices.Min(of), Lo: math.NaN(), Hi: math.NaN()}, true
}

func lines(w io.Writer, r *reports.Report) error {
	for _, c := range r.Configurations {
		if _, err := fmt.Fprintln(w, c.Kernel, c.Inference); err != nil {
			return err
		}
	}
	return nil
}

// A file names components of every kind, and the results have what they compute.
func TestEveryKind(t *testing.T) {
	kerneltest.Check(t, kernel.Stationary[cauchy]{}, 3)
	const file = `
data: {train: words.txt}
model:
  kernel: {cauchy: {amplitude: {prior: {laplace: {scale: 2}}}, length_scale: 50}}
  likelihood: logit
  inference: laplace
tune: {method: compass, rounds: 2, objective: log_posterior}
predict: {average: midway}
evaluate: {alternate: {}}
report: {formats: [line]}
`
	plan, err := experiments.Parse(t.Context(), "every.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "run")
	report, _, err := experiments.Run(t.Context(), plan, folder, experiments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := report.Configurations[0].Scores.Value("least"); !ok || !(v.Value > 0 && v.Value < 0.5) {
		t.Errorf("least: %v, %v", v, ok)
	}
	text, err := os.ReadFile(filepath.Join(folder, "lines.txt"))
	if err != nil || !strings.Contains(string(text), "cauchy") {
		t.Errorf("%q, %v", text, err)
	}
	versions := report.Manifest.Configurations[0].Versions
	for _, name := range []string{"kernel cauchy", "prior laplace", "average midway", "score least", "method compass"} {
		if versions[name] != 1 {
			t.Errorf("%s has no version in %v", name, versions)
		}
	}
}
