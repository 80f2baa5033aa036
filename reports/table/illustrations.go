package table

import (
	"math"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// illustrations is the summary of a run without data: a row for every illustration; for a posterior
// a row for the prior, one for the exact moments and one for every inference method.
func illustrations(r *reports.Report) Table {
	t := Table{Columns: []Column{numbers("#"), words("illustration"), words("kernel"), words("prior mean"),
		words("likelihood"), words("hyperparameters"),
		numbers("points"), numbers("jitter"), {Name: "inference", KeepInText: true}, numbers("mean"),
		numbers("standard deviation"), numbers("correlation").droppedAt(1),
		numbers("log evidence"), numbers("iterations").droppedAt(2), {Name: "status", KeepInText: true}}}
	short := reports.IllustratedNames(r.Illustrations)
	for k, i := range r.Illustrations {
		var values []string
		for _, h := range i.Hyperparameters {
			values = append(values, h.Name+"="+reports.Assigned(h, reports.Readable))
		}
		jitter := ""
		if i.Jitter > 0 {
			jitter = reports.Brief(float64(i.Jitter))
		}
		add := func(cells ...any) {
			t.Add(k, i.Kind, short[i.Kernel.Text], short[i.Mean.Text], short[i.Likelihood.Text],
				strings.Join(values, " "), Row(cells...))
		}
		if i.Exact == nil {
			add(len(i.Columns[0].Values), jitter, "", "", "", "", "", "", "")
			continue
		}
		add("", "", "(the prior)", Moments(i.Prior), "", "")
		add("", "", "(the exact posterior)", Moments(i.Exact), "", "")
		for _, a := range i.Approximations {
			state, iterations := string(reports.Failed), ""
			if a.Gaussian != nil {
				state, iterations = "", strconv.Itoa(a.Iterations)
				if !a.Converged {
					state = "not converged"
				}
			}
			add("", "", short[a.Inference.Text], Moments(a.Gaussian), iterations, state)
		}
	}
	return t
}

// Moments are the cells of a Gaussian: means, standard deviations, correlation and log evidence;
// blank without one.
func Moments(g *record.Gaussian) []Cell {
	if g == nil {
		return make([]Cell, 4)
	}
	var means, deviations []string
	correlation, evidence := Cell{}, Cell{}
	for i, m := range g.Mean {
		means = append(means, reports.Readable(float64(m)))
		deviations = append(deviations, reports.Readable(math.Sqrt(float64(g.Covariance[i][i]))))
	}
	if c := g.Covariance; len(c) == 2 {
		correlation = Row(float64(c[0][1]) / math.Sqrt(float64(c[0][0]*c[1][1])))[0]
	}
	if g.LogEvidence != nil {
		evidence.Value = *g.LogEvidence
	}
	return Row(strings.Join(means, ", "), strings.Join(deviations, ", "), correlation, evidence)
}
