package table

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// ComparisonForms are the forms in which it is written.
var ComparisonForms = reports.Forms[*reports.Comparison]{{Name: "text", Render: comparisonText},
	{Name: "json", Render: reports.WriteJSON[*reports.Comparison]}}

// comparisonText names the configurations and writes a table of the differences.
func comparisonText(out io.Writer, c *reports.Comparison) error {
	w := bufio.NewWriter(out) // keeps the first error
	var parts []record.Component
	var sides []reports.Side
	for _, p := range c.Pairs {
		for _, s := range []reports.Side{p.First, p.Second} {
			if !slices.ContainsFunc(sides, func(o reports.Side) bool { return o.Run == s.Run && o.Name == s.Name }) {
				sides = append(sides, s)
				parts = append(parts, s.Kernel, s.Likelihood, s.Inference, s.TuneInference)
			}
		}
	}
	short := reports.ShortNames(parts)
	slices.SortFunc(sides, func(a, b reports.Side) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Configuration, b.Configuration))
	})
	key := Table{Columns: Columns("", "experiment", "dataset", "preprocess", "kernel", "mean", "likelihood",
		"inference", "tuned with", "tune")}
	for _, s := range sides {
		key.Rows = append(key.Rows, Row(s.Name, s.Experiment, s.Dataset, s.Preprocess, short[s.Kernel.Text],
			s.Mean.Text, short[s.Likelihood.Text], short[s.Inference.Text], short[s.TuneInference.Text], s.Tune))
	}
	key.write(w)
	Differences(c).section(w, "differences")
	for _, note := range NotCompared(c) {
		fmt.Fprintln(w, note)
	}
	return w.Flush()
}

// Differences has a row for every difference.
func Differences(c *reports.Comparison) Table {
	t := Table{Columns: Columns("first − second", "evaluation", "what", "difference", "95 % interval", "p", "")}
	for _, p := range c.Pairs {
		pair := p.First.Name + " − " + p.Second.Name
		row := func(evaluation, what string, difference reports.Number, of *reports.Partial, ends *[2]reports.Number,
			pValue reports.Number, more string) {
			between, probability := "", Cell{}
			if ends != nil {
				between = interval(ends[0], ends[1], nil)
			}
			if !pValue.None() {
				if probability = number(fmt.Sprintf("%.3g", float64(pValue)), float64(
					pValue)); probability.Text == "1" {
					probability = decimals(pValue, 0)
				}
			}
			t.Rows = append(t.Rows, Row(pair, evaluation, what, Significant(difference).over(of), between, probability,
				more))
		}
		if e := p.LogEvidence; e != nil {
			bayes := "Bayes factor 10^" + reports.Decimals(float64(e.Log10), 3)
			if p.Sampled {
				bayes += ", of the best samples of chains"
			}
			row("all", "log evidence", e.Nats, nil, nil, reports.Number(math.NaN()), bayes)
		}
		for _, e := range p.Evaluations {
			for _, s := range e.Scores {
				test := "corrected t-test"
				if s.CI95 == nil {
					test = "no t-test"
				}
				folds := strconv.Itoa(e.Folds)
				if e.Partial != nil {
					folds = fmt.Sprintf("%d of %d", e.Partial.Done, e.Partial.Planned)
				}
				row(e.Name, s.Name, s.Difference, e.Partial, s.CI95, s.P, fmt.Sprintf("%s, folds %s", test, folds))
			}
			if m := e.McNemar; m != nil {
				row(e.Name, "decisions", m.Difference, e.Partial, &m.CI95, m.P,
					fmt.Sprintf("McNemar, of %d cases only %s is right on %d, only %s on %d", m.Cases, p.First.Name,
						m.OnlyFirst, p.Second.Name, m.OnlySecond))
			}
		}
	}
	return t
}

// NotCompared are what could not be compared.
func NotCompared(c *reports.Comparison) (out []string) {
	for _, p := range c.Pairs {
		for _, note := range p.Notes {
			out = append(out, fmt.Sprintf("%s − %s not compared: %s", p.First.Name, p.Second.Name, note))
		}
	}
	return out
}
