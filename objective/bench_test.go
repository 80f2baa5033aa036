package objective

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// One evidence with its gradient from a cold start, in the steady state of a Run.
func BenchmarkEvidenceAndGradient(b *testing.B) {
	for _, inference := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
		for _, n := range []int{200, 767, 2000} {
			rng := rand.New(rand.NewPCG(1, 1))
			x, y := mat.NewDense(n, 16, nil), make([]float64, n)
			for i := range n {
				for j := range 16 {
					x.Set(i, j, rng.NormFloat64())
				}
				y[i] = 1
				if x.At(i, 0)*x.At(i, 1)+x.At(i, 2)+0.5*rng.NormFloat64() < 0 {
					y[i] = -1
				}
			}
			d := Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}, Scaled: true}
			m := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: inference}
			b.Run(fmt.Sprintf("%T/n=%d", inference, n), func(b *testing.B) { benchmarkCold(b, m, d, []float64{1, 1.5}) })
		}
	}
}

// The same with as many cases as the training sets of cross-validation.
func BenchmarkSmall(b *testing.B) {
	for _, s := range smallModels {
		for _, n := range []int{50, 100, 200} {
			for _, at := range []struct {
				name  string
				theta []float64
			}{{"ordinary", s.ordinary}, {"hard", []float64{6, 2}}} {
				b.Run(fmt.Sprintf("%s/n=%d/%s", s.name, n, at.name), func(b *testing.B) {
					benchmarkCold(b, s.model(), bundled(b, s.file, n), at.theta)
				})
			}
		}
	}
}

// A whole local optimisation, from the default start of every study.
func BenchmarkSmallOptimize(b *testing.B) {
	for _, s := range smallModels {
		b.Run(s.name+"/n=100", func(b *testing.B) {
			o, err := New(s.model(), LogEvidence{}, bundled(b, s.file, 100))
			if err != nil {
				b.Fatal(err)
			}
			evaluations := 0
			for b.Loop() {
				optimum, err := Optimize(b.Context(), o, o.Layout.Pick(o.Layout.Start()), Settings{})
				if err != nil {
					b.Fatal(err)
				}
				evaluations = optimum.Evaluations
			}
			b.ReportMetric(float64(evaluations), "evaluations")
		})
	}
}

var smallModels = []smallModel{
	{"laplace/logit", likelihood.Logit{}, approx.Laplace{}, "ionosphere", []float64{2.7, 2.2}},
	{"laplace/probit", likelihood.Probit{}, approx.Laplace{}, "ionosphere", []float64{2, 2.3}},
	{"ep/logit", likelihood.Logit{}, approx.EP{}, "ionosphere", []float64{3.5, 1.9}},
	{"ep/probit", likelihood.Probit{}, approx.EP{}, "ionosphere", []float64{2.9, 1.9}},
	{"pl/logit", likelihood.Logit{}, approx.PL{}, "ionosphere", []float64{3.5, 1.9}},
	{"laplace/softmax", likelihood.Softmax{}, approx.Laplace{}, "thyroid", []float64{3.1, 1.5}},
}

// smallModel is a model with its hyperparameters ln σ and ln l near the optimum on a bundled set.
type smallModel struct {
	name       string
	likelihood likelihood.Likelihood
	inference  approx.Approximation
	file       string
	ordinary   []float64
}

func (s smallModel) model() Model {
	return Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: s.likelihood, Inference: s.inference}
}

// benchmarkCold times evidence and gradient at theta, from a cold start in the steady state of a Run.
func benchmarkCold(b *testing.B, m Model, d Data, theta []float64) {
	o, err := New(m, LogEvidence{}, d)
	if err != nil {
		b.Fatal(err)
	}
	r, grad := NewRun(b.Context(), o), make([]float64, 2)
	for b.Loop() {
		r.Reset()
		if err := r.Gradient(grad, theta); err != nil {
			b.Fatal(err)
		}
	}
}

// bundled returns n cases of a bundled set, evenly spaced and standardised.
func bundled(b *testing.B, set string, n int) Data {
	f, err := os.Open("../experiments/data/sets/" + set + ".csv")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	rows = rows[1:]
	last := len(rows[0]) - 1
	x, index := mat.NewDense(n, last, nil), make([]int, n)
	var labels []string
	column := make([]float64, n)
	for c := range last + 1 {
		for i := range column {
			cell := rows[i*len(rows)/n][c]
			if c == last {
				if index[i] = slices.Index(labels, cell); index[i] < 0 {
					index[i], labels = len(labels), append(labels, cell)
				}
				continue
			}
			if column[i], err = strconv.ParseFloat(cell, 64); err != nil {
				b.Fatal(err)
			}
		}
		if c < last {
			mean, sd := stat.PopMeanStdDev(column, nil)
			for i, v := range column {
				x.Set(i, c, (v-mean)/sd)
			}
		}
	}
	y := approx.Targets{Classes: len(labels), Index: index}
	if len(labels) == 2 {
		y = approx.Targets{Classes: 2, Value: make([]float64, n)}
		for i, k := range index {
			y.Value[i] = float64(2*k - 1)
		}
	}
	return Data{X: &kernel.Inputs{X: x}, Y: y, Scaled: true}
}
