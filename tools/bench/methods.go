//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
)

// inferred is a likelihood with a method of inference, and the name of its column.
type inferred struct {
	name   string
	lik    likelihood.Likelihood
	method approx.Approximation
}

// besideEP is EP and, after it, every other method of the table that takes lik on this many classes
// and has an exact gradient of its log evidence.
func besideEP(lik likelihood.Likelihood, classes int) (all []inferred) {
	for _, m := range approx.Table {
		method := got(m.New(nil))
		if caps, err := method.Uses(lik, classes); err != nil || caps.Sampled || !caps.Gradient {
			continue
		}
		all = append(all, inferred{m.Name, lik, method})
		if m.Name == "ep" {
			last := len(all) - 1
			all[0], all[last] = all[last], all[0]
		}
	}
	return all
}

// excerpt describes subsamples of a data set, by their sizes, and the points theta at which they
// are evaluated.
type excerpt struct {
	name   string
	spec   data.Spec
	raw    bool // inputs as they are, not standardised
	sizes  []int
	points [][]float64
}

// binaryExcerpts have a point near the optimum of Laplace's method on 400 cases, and one of large
// amplitude and a length scale of twice √d.
func binaryExcerpts(folder string) []excerpt {
	file := func(name string) data.Spec { return data.Spec{Train: filepath.Join(folder, name)} }
	return []excerpt{
		{"spam", file("spam.csv.gz"), false, []int{200, 2000}, [][]float64{{2.50, 3.32}, {3.2, 2.7}}},
		{"banana", file("banana.csv"), false, []int{1000, 2000}, [][]float64{{1.14, -0.24}, {3.2, 1.05}}},
		{"usps_3v5", file("usps_3v5_train.csv.gz"), true, []int{200, 767}, [][]float64{{2.10, 2.90}, {6, 3.7}}},
		{"breast_cancer_complete", data.Spec{Dataset: "breast_cancer_complete"}, false, []int{683},
			[][]float64{{1.53, 2.05}, {3.2, 1.8}}},
		{"ionosphere", data.Spec{Dataset: "ionosphere"}, false, []int{351}, [][]float64{{1.6, 1.6}, {3.2, 2.45}}},
		{"pima", data.Spec{Dataset: "pima"}, false, []int{200}, [][]float64{{0.80, 2.16}, {3.2, 1.67}}},
	}
}

// methods compares the methods with EP.
func (b *bench) methods() {
	linalg.SetThreads(1)
	b.say("methods")
	b.compareMethods(binaryExcerpts(filepath.Dir(b.train)), besideEP(likelihood.Probit{}, 2))
	classes := besideEP(likelihood.Probit{}, 2)
	for i := range classes {
		classes[i].method = approx.OneVsRest{Binary: classes[i].method}
	}
	b.say("methods, several classes")
	digits := excerpt{"digits", data.Spec{Dataset: "digits"}, true, []int{200, 1000},
		[][]float64{{2.72, 4.18}, {3.2, 3.7}}}
	b.compareMethods([]excerpt{digits}, append(classes, inferred{"softmax", likelihood.Softmax{}, approx.Laplace{}}))
	b.say("methods, numbers")
	housing := excerpt{"housing", data.Spec{Dataset: "housing", Regression: true}, false, []int{506},
		[][]float64{{1, 1.3, -1}, {5, 2.5, -3}}}
	b.compareMethods([]excerpt{housing}, besideEP(likelihood.Gaussian{}, 0))
}

// compareMethods writes a table with a row for each excerpt, size and point; the first method is
// the reference of the others.
func (b *bench) compareMethods(excerpts []excerpt, methods []inferred) {
	header, rule := "| | n | θ |", "|---|---:|---|"
	for _, m := range methods {
		header, rule = header+" "+m.name+" |", rule+"---:|"
	}
	var rows, missing []string
	for _, e := range excerpts {
		if _, err := os.Stat(e.spec.Train); e.spec.Train != "" && err != nil {
			missing = append(missing, e.name)
			continue
		}
		for _, n := range e.sizes {
			d := e.draw(n)
			for _, theta := range e.points {
				rows = append(rows, b.methodsAt(fmt.Sprintf("| %s | %d |", e.name, n), d, theta, methods))
			}
		}
	}
	b.table(header, rule, rows...)
	if len(missing) > 0 {
		b.say("methods missing", strings.Join(missing, ", "))
	}
}

// draw returns n cases, drawn at random.
func (e excerpt) draw(n int) objective.Data {
	e.spec.Subsample = n
	d := got(data.Load(e.spec, ".", 1))
	if !e.raw {
		pre, _, err := preprocess.Fit(d.X, "standardize", "error")
		must(err)
		d.X = pre.Apply(d.X)
	}
	y := approx.Targets{Classes: len(d.Classes), Index: d.Labels, Value: d.Targets}
	if y.Classes == 2 {
		for _, l := range d.Labels {
			y.Value = append(y.Value, float64(2*l-1))
		}
		y.Index = nil
	}
	return objective.Data{X: &kernel.Inputs{X: d.X}, Y: y}
}

// longest is the time limit of one evaluation: some ten times EP's time at the largest size.
const longest = 20 * time.Second

// methodsAt returns a row: the time of the first method, the times of the others as multiples of
// it, and the iterations.
func (b *bench) methodsAt(row string, d objective.Data, theta []float64, methods []inferred) string {
	var contenders []contender
	for _, m := range methods {
		o := got(objective.New(model(false, m.lik, m.method), objective.LogEvidence{}, d))
		free := theta[:len(o.Layout.FreeSpecs())]
		contenders = append(contenders, contender{m.name, here(func() (a answer) {
			ctx, cancel := context.WithTimeout(context.Background(), longest)
			defer cancel()
			p, err := o.At(ctx, free)
			switch {
			case ctx.Err() != nil:
				return answer{Error: fmt.Sprintf("not done in %v", longest)}
			case err != nil:
				return answer{Error: "failed"}
			}
			if a.Evaluations = p.Diagnostics().Iterations; p.Converged() != nil {
				a.Error = "not converged"
				return a
			}
			must(p.Gradient(make([]float64, len(free))))
			return a
		})})
	}
	rounds := 3
	if d.Y.Len() > 500 {
		rounds = 1
	}
	all := race(rounds, contenders...)
	texts := make([]string, len(theta))
	for i, v := range theta {
		texts[i] = fmt.Sprintf("%.4g", v)
	}
	row += " " + strings.Join(texts, ", ") + " |"
	for i, t := range all {
		if t.first().Error != "" && t.first().Evaluations == 0 {
			row += " " + t.first().Error + " |"
			continue
		}
		cell := seconds(t.least(cpuOf))
		if i > 0 {
			cell = twoDigits(t.least(cpuOf) / all[0].least(cpuOf))
		}
		note := fmt.Sprint(t.first().Evaluations)
		if t.first().Error != "" {
			note += ", " + t.first().Error
		}
		row += fmt.Sprintf(" %s (%s) |", cell, note)
	}
	return row
}
