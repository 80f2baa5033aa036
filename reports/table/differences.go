package table

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// ComparisonForms are the formats of a Comparison.
var ComparisonForms = Forms[*reports.Comparison]{{Name: "text", Render: comparisonText},
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
		key.Add(s.Name, s.Experiment, s.Dataset, s.Preprocess, short[s.Kernel.Text],
			s.Mean.Text, short[s.Likelihood.Text], short[s.Inference.Text], short[s.TuneInference.Text], s.Tune)
	}
	key.writeOn(w, Screen{})
	if c.Run != nil && len(c.Run.Decided()) > 0 {
		for _, t := range Against(c.Run) {
			t.print(w, Screen{}, false)
		}
		fmt.Fprintln(w, "\nall pairs, log evidences and decisions: --all")
		return w.Flush()
	}
	differences(c).print(w, Screen{}, false)
	for _, note := range NotCompared(c) {
		fmt.Fprintln(w, note)
	}
	return w.Flush()
}

// differences has a row for every difference.
func differences(c *reports.Comparison) Table {
	t := Table{Title: "differences",
		Columns: Columns("first − second", "evaluation", "what", "difference", "95 % interval", "p", "")}
	for _, p := range c.Pairs {
		pair := p.First.Name + " − " + p.Second.Name
		t.differences(pair, p)
	}
	return t
}

// differences adds the rows of a pair.
func (t *Table) differences(pair string, p reports.Pair) {
	if e := p.LogEvidence; e != nil {
		bayes := "Bayes factor " + bayesFactor(float64(e.Log10))
		if p.Sampled {
			bayes += ", of the best samples of chains"
		}
		t.Add(pair, "all", "log evidence", e.Nats, nil, nil, bayes)
	}
	for _, e := range p.Evaluations {
		folds := strconv.Itoa(e.Folds)
		if e.Partial != nil {
			folds = fmt.Sprintf("%d of %d", e.Partial.Done, e.Partial.Planned)
		}
		for _, s := range e.Scores {
			test, interval := "no t-test", Cell{}
			if s.CI95 != nil {
				test, interval = "corrected t-test", between(s.CI95[0], s.CI95[1], nil)
			}
			t.Add(pair, e.Name, s.Name, Cell{Value: s.Difference}.over(e.Partial), interval,
				probability(s.P), fmt.Sprintf("%s, folds %s", test, folds))
		}
		if m := e.McNemar; m != nil {
			format := "McNemar, of %d cases only %s is right on %d, only %s on %d"
			if m.Grouped {
				format = "McNemar, of %d groups %s is right more often in %d, %s in %d"
			}
			t.Add(pair, e.Name, "decisions", Cell{Value: m.Difference}.over(e.Partial),
				between(m.CI95[0], m.CI95[1], nil), probability(m.P),
				fmt.Sprintf(format, m.Cases, p.First.Name, m.OnlyFirst, p.Second.Name, m.OnlySecond))
		}
	}
}

// bayesFactor is 10^x as a readable number, or as a power.
func bayesFactor(x float64) string {
	const largest = 6
	if math.Abs(x) > largest {
		return fmt.Sprintf("10^%.0f", x)
	}
	return reports.Readable(math.Pow(10, x))
}

// NotCompared lists the comparisons that were not possible.
func NotCompared(c *reports.Comparison) (out []string) {
	for _, p := range c.Pairs {
		for _, note := range p.Notes {
			out = append(out, fmt.Sprintf("%s − %s not compared: %s", p.First.Name, p.Second.Name, note))
		}
	}
	return out
}
