package table

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

// illustrations is the summary of a run without data: a row for every illustration, but of a
// posterior one for the prior, one for its exact moments and one for every inference method.
func illustrations(r *reports.Report) Table {
	t := Table{Columns: []Column{numbers("#"), words("illustration"), words("kernel"), words("prior mean"),
		words("likelihood"), words("hyperparameters"),
		numbers("points"), numbers("jitter"), {Name: "inference", Keep: true}, numbers("mean"),
		numbers("standard deviation"), numbers("correlation"),
		numbers("log evidence"), numbers("iterations"), {Name: "status", Keep: true}}}
	short := reports.IllustratedNames(r.Illustrations)
	for k, i := range r.Illustrations {
		var values []string
		for _, h := range i.Hyperparameters {
			values = append(values, h.Name+"="+reports.Significant(float64(h.Value)))
		}
		jitter := ""
		if i.Jitter > 0 {
			jitter = reports.Brief(float64(i.Jitter))
		}
		add := func(cells ...any) {
			row := Row(k, i.Kind, short[i.Kernel.Text], short[i.Mean.Text], short[i.Likelihood.Text],
				strings.Join(values, " "))
			t.Rows = append(t.Rows, append(row, Row(cells...)...))
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
	t.Lift()
	return t
}

// Moments are those of a Gaussian as a table has them: means, standard deviations, correlation and
// log evidence; blank where there is none.
func Moments(g *record.Gaussian) []Cell {
	if g == nil {
		return make([]Cell, 4)
	}
	var means, deviations []string
	correlation, evidence := Cell{}, Cell{}
	for i, m := range g.Mean {
		means = append(means, reports.Significant(float64(m)))
		deviations = append(deviations, reports.Significant(math.Sqrt(float64(g.Covariance[i][i]))))
	}
	if c := g.Covariance; len(c) == 2 {
		correlation = Significant(float64(c[0][1]) / math.Sqrt(float64(c[0][0]*c[1][1])))
	}
	if g.LogEvidence != nil {
		evidence = Significant(*g.LogEvidence)
	}
	return Row(strings.Join(means, ", "), strings.Join(deviations, ", "), correlation, evidence)
}

// unconverged says which fits behind a row had not converged.
func unconverged(c reports.Configuration, evaluation string) string {
	count := 0
	for _, f := range c.Folds {
		if f.Evaluation == evaluation && f.Converged != nil {
			count++
		}
	}
	switch {
	case c.Converged != nil:
		return "not converged"
	case count > 0:
		return fmt.Sprintf("%d folds not converged", count)
	}
	return ""
}

// Summary has one row per configuration, or several if there are several evaluations. Columns of
// words that are the same in every row are lifted into the caption; columns without any entry are
// left out. Of a run without data it has the illustrations.
func Summary(r *reports.Report) Table {
	if len(r.Illustrations) > 0 {
		return illustrations(r)
	}
	t := Table{Columns: []Column{
		numbers("#"), words("dataset"), words("preprocess"), parted("kernel"), parted("mean"), parted("likelihood"),
		words("inference"), words("tuned with"), parted("tune"), words("evaluation"), numbers("log evidence"),
		numbers("loo"), numbers("inducing inputs"), numbers("unexplained"),
	}}
	for _, s := range cv.Scores {
		if s.Column.Heading == "" {
			continue
		}
		t.Columns = append(t.Columns, numbers(s.Column.Heading))
		if s.Column.Interval {
			t.Columns = append(t.Columns, numbers("95 % interval"))
		}
		if s.Name == decisionScore {
			t.Columns = append(t.Columns, numbers("cost"), numbers("rejected"))
		}
	}
	t.Columns = append(t.Columns, Column{Name: "status", Keep: true})
	short := r.ShortNames()
	hybrid := slices.ContainsFunc(r.Configurations, reports.Configuration.Hybrid)
	for i, c := range r.Configurations {
		tunedWith := ""
		if hybrid {
			tunedWith = short[c.TuneInference.Text]
		}
		evaluations := c.Evaluations
		if len(evaluations) == 0 {
			evaluations = []reports.Evaluation{{Status: reports.Done}}
		}
		for _, e := range evaluations {
			t.Rows = append(t.Rows, Row(i, c.Dataset, c.Preprocess, c.Part(short[c.Kernel.Text]), c.Part(c.Mean.Text),
				c.Part(short[c.Likelihood.Text]), short[c.Inference.Text], tunedWith, c.Part(c.Tune), e.Name,
				decimals(c.LogEvidence, 3), decimals(c.LeftOneOut(), 4), inducingCells(c), summaryCells(e),
				state(c, e)))
		}
	}
	t.Lift()
	return t
}

// inducingCells are how many inducing inputs there are, and the share of the prior variance that
// they leave.
func inducingCells(c reports.Configuration) []Cell {
	i := c.Inducing
	if i == nil {
		return make([]Cell, 2)
	}
	share := float64(i.Unexplained)
	return Row(i.Points, number(reports.Brief(100*share)+" %", share))
}

// decisionScore is the score after which a summary has what decisions cost.
const decisionScore = "error_rate"

// summaryCells are the scores of an evaluation in a row of a summary.
func summaryCells(e reports.Evaluation) (out []Cell) {
	of := e.Scores.Partial
	for _, s := range cv.Scores {
		if s.Column.Heading == "" {
			continue
		}
		v, known := e.Scores.Value(s.Name)
		factor, cell, interval := 1.0, Cell{}, Cell{}
		if s.Column.Percent {
			factor = 100
		}
		switch {
		case known && s.Count:
			cell = number(fmt.Sprintf("%.0f/%d", v.Value, e.Scores.N), v.Value)
		case known:
			cell = decimals(factor*v.Value, s.Column.Digits)
			interval.Text = of.Whole(fmt.Sprintf("%.*f – %.*f", s.Column.Digits, factor*v.Lo, s.Column.Digits,
				factor*v.Hi))
		}
		out = append(out, cell.over(of))
		if s.Column.Interval {
			out = append(out, interval)
		}
		if s.Name == decisionScore {
			cost, rejected := Cell{}, Cell{}
			if d := e.Decisions; d != nil {
				cost, rejected = decimals(d.Loss, 4).over(of), Row(d.Rejected)[0].over(of)
			}
			out = append(out, cost, rejected)
		}
	}
	return out
}

// state says what a row lacks.
func state(c reports.Configuration, e reports.Evaluation) string {
	switch {
	case e.Scored < e.Folds:
		return fmt.Sprintf("%s: %d of %d folds", e.Status, e.Scored, e.Folds)
	case c.Status != reports.Done:
		return string(c.Status)
	case c.Missing > 0:
		return "incomplete"
	}
	return unconverged(c, e.Name)
}

// RetryHint says what can be done about failed jobs.
const RetryHint = "gpc-tune run with --retry-failed runs failed jobs again"

// Text writes what is missing, the summary, the hyperparameters and optima of every configuration,
// and all warnings and failures.
func Text(out io.Writer, r *reports.Report) error {
	w := bufio.NewWriter(out) // keeps the first error
	fmt.Fprintf(w, "%s\n", r.Experiment)
	if r.Missing > 0 {
		fmt.Fprintf(w, "INCOMPLETE: at least %d jobs are missing; resume the run to complete it\n", r.Missing)
	}
	failures := 0
	for _, c := range r.Configurations {
		failures += len(c.Failures)
	}
	if failures > 0 {
		fmt.Fprintf(w, "FAILURES: %d, listed below; %s\n", failures, RetryHint)
	}
	t := Summary(r)
	if len(t.Caption) > 0 {
		fmt.Fprintf(w, "%s\n", terminal.OneLine(strings.Join(t.Caption, ", ")))
	}
	fmt.Fprintln(w)
	t.write(w)
	if t, ok := Pivot(r, nil); ok {
		fmt.Fprintf(w, "\n%s\n\n", terminal.OneLine(strings.Join(t.Caption, ", ")))
		t.write(w)
	}
	for i, c := range r.Configurations {
		fmt.Fprintln(w)
		writeConfiguration(c, w, i)
	}
	writeContests(r, w, false)
	if len(r.Warnings) > 0 {
		fmt.Fprintln(w)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", terminal.OneLine(warning))
	}
	return w.Flush()
}

// writeConfiguration adds what the summary has no room for.
func writeConfiguration(c reports.Configuration, w io.Writer, index int) {
	text := "no hyperparameters"
	switch {
	case c.Status == reports.Cut:
		text = "cut by the race"
	case c.Status == reports.Missing:
		text = "not fitted to all of the training data yet"
	case c.Status == reports.Failed:
		text = "the fit to all of the training data has failed"
	case len(c.Hyperparameters) > 0:
		text = reports.Assignments(c.Hyperparameters, reports.Significant)
	}
	fmt.Fprintf(w, "#%d  %s\n", index, text)
	if len(c.StandardErrors) > 0 {
		fmt.Fprintf(w, "    standard errors %s%s\n", reports.Assignments(c.StandardErrors, reports.Brief), strongest(c))
	}
	if o := Restarts(c); o != "" {
		fmt.Fprintf(w, "    %s\n", o)
	}
	if text := tried(c); text != "" {
		fmt.Fprintf(w, "    %s\n", text)
	}
	for _, m := range c.Posterior {
		fmt.Fprintf(w, "    posterior %s %s ± %s (R-hat %s, effective samples %s)\n", m.Name,
			reports.Significant(float64(m.Mean)), reports.Brief(float64(m.SD)),
			cmp.Or(reports.Decimals(float64(m.RHat), 3), "unknown"),
			cmp.Or(reports.Decimals(float64(m.ESS), 0), "unknown"))
	}
	for _, b := range c.Best {
		by := b.By
		if by == c.Objective {
			by = c.Tuned()
		}
		if by == c.Tuned() || brief(by) {
			fmt.Fprintf(w, "    best %s of %s: %s at %s%s\n", by, c.Among(b.By), reports.Significant(float64(b.Value)),
				reports.Assignments(c.Grid[b.Point].Point, reports.Significant), c.Equals(b))
		}
	}
	for _, e := range c.Evaluations {
		if d := e.Decisions; d != nil {
			fmt.Fprintf(w, "    %s: decisions cost %s a case%s, expected %s, by the largest probability %s; %d of "+
				"%d rejected\n",
				e.Scores.Partial.Beside(e.Name), reports.Significant(float64(d.Loss)),
				e.Scores.Partial.Whole(costInterval(*d)), reports.Significant(float64(d.Expected)),
				reports.Significant(float64(d.Likeliest)), d.Rejected, e.Scores.N)
		}
	}
	for _, p := range c.Published {
		var figures []string
		for _, f := range p.Figures {
			here := "no figure"
			if !math.IsNaN(float64(f.Here)) {
				here = f.Partial.Beside(reports.Significant(float64(f.Here)))
			}
			figures = append(figures, fmt.Sprintf("%s %s (here %s)", f.Name, reports.Significant(float64(f.Published)),
				here))
		}
		if p.Note != "" {
			figures = append(figures, p.Note)
		}
		fmt.Fprintf(w, "    published, %s: %s\n", p.Source, strings.Join(figures, ", "))
	}
	list(w, "warning: ", c.Warnings)
	list(w, "FAILED ", c.Failures)
}

// costInterval is that of the cost, if it has one.
func costInterval(d reports.Decisions) string {
	if d.CI95 == nil {
		return ""
	}
	return fmt.Sprintf(" (95 %% %s to %s)", reports.Significant(float64(d.CI95[0])),
		reports.Significant(float64(d.CI95[1])))
}

// Restarts sums up the restarts or the chains, if there are any.
func Restarts(c reports.Configuration) string {
	o := c.Optima()
	switch {
	case len(c.Posterior) > 0:
		return fmt.Sprintf("chains %d (%d failed); the figures above are those of their best sample, the scores "+
			"averages over all samples", o.Restarts, o.Failed)
	case o.Restarts == 0:
		return ""
	case o.Distinct == 0:
		return fmt.Sprintf("restarts %d%s (%d failed)", o.Restarts, c.SoFar(), o.Failed)
	}
	return fmt.Sprintf("restarts %d%s (%d failed), distinct optima %d, %s %.3f … %.3f (best reached by %d)",
		o.Restarts, c.SoFar(), o.Failed, o.Distinct, c.Tuned(), o.Lo, o.Hi, o.AtBest)
}

// tried says which numbers of inducing inputs were tried, and what they came to.
func tried(c reports.Configuration) string {
	if c.Inducing == nil || len(c.Inducing.Tried) == 0 {
		return ""
	}
	var all []string
	for _, of := range c.Inducing.Tried {
		all = append(all, fmt.Sprintf("%d: %.3f", of.Points, float64(of.LogEvidence)))
	}
	return "log evidence by the number of inducing inputs " + strings.Join(all, ", ")
}

// strongest is the correlation of largest size.
func strongest(c reports.Configuration) string {
	text, largest := "", -1.0
	for a, row := range c.Correlations {
		for b, r := range row[:a] {
			if size := math.Abs(float64(r)); size > largest {
				largest = size
				text = fmt.Sprintf("; largest correlation %.2f (%s, %s)", float64(r), c.StandardErrors[b].Name,
					c.StandardErrors[a].Name)
			}
		}
	}
	return text
}

// brief says of a score that it is shown where there is room for few.
func brief(name string) bool {
	s, err := cv.ScoreNamed(name)
	return err == nil && s.Column.Brief
}
