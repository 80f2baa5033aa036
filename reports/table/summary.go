package table

import (
	"bytes"
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

// illustrations is the summary of a run without data: a row for every illustration; for a posterior
// a row for the prior, one for the exact moments and one for every inference method.
func illustrations(r *reports.Report) Table {
	t := Table{Columns: []Column{numbers("#"), words("illustration"), words("kernel"), words("prior mean"),
		words("likelihood"), words("hyperparameters"),
		numbers("points"), numbers("jitter"), {Name: "inference", Keep: true}, numbers("mean"),
		numbers("standard deviation"), numbers("correlation").spared(1),
		numbers("log evidence"), numbers("iterations").spared(2), {Name: "status", Keep: true}}}
	short := reports.IllustratedNames(r.Illustrations)
	for k, i := range r.Illustrations {
		var values []string
		for _, h := range i.Hyperparameters {
			values = append(values, h.Name+"="+reports.Readable(float64(h.Value)))
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
		correlation = readable(float64(c[0][1]) / math.Sqrt(float64(c[0][0]*c[1][1])))
	}
	if g.LogEvidence != nil {
		evidence = readable(*g.LogEvidence)
	}
	return Row(strings.Join(means, ", "), strings.Join(deviations, ", "), correlation, evidence)
}

// unconverged describes which fits of a row had not converged.
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
		return Counted(count, "fold", "folds") + " not converged"
	}
	return ""
}

// Summary has one row per configuration and evaluation. Columns of words with equal values in every
// row are lifted into the caption; empty columns are left out. For a run without data it has the
// illustrations.
func Summary(r *reports.Report) Table {
	if len(r.Illustrations) > 0 {
		return illustrations(r)
	}
	t := Table{Columns: []Column{
		numbers("#"), {Name: "status", Keep: true}, words("dataset"), words("preprocess"), parted("kernel"),
		parted("mean"), parted("likelihood"), words("inference"), words("tuned with"), parted("tune"),
		words("evaluation"),
		numbers("log evidence").spared(5).explained(true, "of all of the training data, nats"),
		numbers("loo").spared(30).explained(true, "mean leave-one-out log probability of the training cases, nats"),
		numbers("inducing inputs"), numbers("unexplained").explained(false, "share of the prior variance that the "+
			"inducing inputs leave"),
	}}
	decides := deciding(r)
	for i, s := range cv.Scores {
		if s.Column.Heading == "" {
			continue
		}
		spare := 10 + i
		if slices.Contains(decides, s.Name) {
			spare = 0
		}
		t.Columns = append(t.Columns, numbers(s.Column.Heading).spared(spare).explained(s.Greater,
			s.Doc+" ("+s.Unit+")"))
		if s.Column.Interval {
			t.Columns = append(t.Columns, numbers("95 % interval").spared(29))
		}
		if s.Name == decisionScore {
			t.Columns = append(t.Columns, numbers("cost").spared(6), numbers("rejected").spared(7))
		}
	}
	choice, chooses := choosing(r)
	if chooses {
		t.Columns = append(t.Columns, numbers("inner "+heading(choice)))
	}
	short := r.ShortNames()
	hybrid := slices.ContainsFunc(r.Configurations, reports.Configuration.Hybrid)
	for _, i := range ranked(r) {
		c, answer := r.Configurations[i], r.AnswerOf(i)
		tunedWith := ""
		if hybrid {
			tunedWith = short[c.TuneInference.Text]
		}
		evaluations := c.Evaluations
		if len(evaluations) == 0 {
			evaluations = []reports.Evaluation{{Status: reports.Done}}
		}
		for _, e := range evaluations {
			row := Row(i, standing(answer, i, c, e), c.Dataset, c.Preprocess, c.Part(short[c.Kernel.Text]),
				c.Part(c.Mean.Text),
				c.Part(short[c.Likelihood.Text]), short[c.Inference.Text], tunedWith, c.Part(c.Tune), e.Name,
				decimals(c.LogEvidence, 3), decimals(c.LeftOneOut(), 4), inducingCells(c), summaryCells(e))
			if chooses {
				row = append(row, inner(answer, i))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.Lift()
	for _, a := range r.Decided() {
		if len(a.Indistinguishable) > 0 {
			by := a.By
			if a.Nested != nil {
				by = a.Nested.By
			}
			t.Caption = append(t.Caption, reports.AsGood+": "+verdict(by, false))
			break
		}
	}
	if slices.ContainsFunc(t.Rows, func(row []Cell) bool {
		return slices.ContainsFunc(row, func(c Cell) bool { return c.Starred })
	}) {
		t.Caption = append(t.Caption, "*: over some folds alone, see status")
	}
	return t
}

// deciding are the scores by which configurations compete.
func deciding(r *reports.Report) (names []string) {
	for _, a := range r.Decided() {
		names = append(names, a.By)
	}
	return names
}

// ranked are the configurations, those with the same data together, best first. Those that did not
// compete come last, in the order of the file.
func ranked(r *reports.Report) []int {
	out := make([]int, len(r.Configurations))
	first, place := map[string]int{}, make([]int, len(out))
	for i, c := range r.Configurations {
		out[i] = i
		if _, met := first[c.Dataset]; !met {
			first[c.Dataset] = i
		}
		place[i] = r.AnswerOf(i).Place(i)
	}
	slices.SortStableFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(first[r.Configurations[a].Dataset], first[r.Configurations[b].Dataset]),
			cmp.Compare(place[a], place[b]))
	})
	return out
}

// standing is the rank of a row: best, not significantly different, or its status.
func standing(a *reports.Answer, i int, c reports.Configuration, e reports.Evaluation) Cell {
	of, lacks := a.Of(i), state(c, e)
	out := Cell{Mark: map[string]Mark{reports.Winner: Winner, reports.AsGood: AsGood}[of]}
	if a != nil && a.Nested == nil && a.Evaluation != e.Name {
		of, out.Mark = "", ""
	}
	if lacks != "" && of == "" {
		out.Mark = Apart
	}
	out.Text = strings.Join(slices.DeleteFunc([]string{of, lacks}, func(s string) bool { return s == "" }), ", ")
	return out
}

// choosing is the score by which nested cross-validation selects, if there is one.
func choosing(r *reports.Report) (by string, ok bool) {
	for _, a := range r.Decided() {
		if n := a.Nested; n != nil && n.By != "log_evidence" {
			return n.By, true
		}
	}
	return "", false
}

// inner is the score of a configuration on the inner folds of nested cross-validation.
func inner(a *reports.Answer, i int) Cell {
	if a == nil || a.Nested == nil {
		return Cell{}
	}
	if a.Configuration == i {
		return decimals(a.Nested.Score, 4)
	}
	for _, rival := range a.Rivals {
		if rival.Configuration == i {
			return decimals(rival.Score, 4)
		}
	}
	return Cell{}
}

// inducingCells are the number of inducing inputs, and the fraction of the prior variance that they
// leave unexplained.
func inducingCells(c reports.Configuration) []Cell {
	i := c.Inducing
	if i == nil {
		return make([]Cell, 2)
	}
	share := float64(i.Unexplained)
	return Row(i.Points, number(reports.Brief(100*share)+" %", share))
}

// decisionScore is the score after which a summary has the costs of decisions.
const decisionScore = "error_rate"

// summaryCells are the scores of an evaluation in a row of a summary, whose status says over which
// folds they are.
func summaryCells(e reports.Evaluation) (out []Cell) {
	of := e.Scores.Partial
	starred := func(c Cell) Cell {
		c = c.over(of)
		c.Starred = c.Partial != nil
		return c
	}
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
		out = append(out, starred(cell))
		if s.Column.Interval {
			out = append(out, interval)
		}
		if s.Name == decisionScore {
			cost, rejected := Cell{}, Cell{}
			if d := e.Decisions; d != nil {
				cost, rejected = starred(decimals(d.Loss, 4)), starred(Row(d.Rejected)[0])
			}
			out = append(out, cost, rejected)
		}
	}
	return out
}

// state is what a row lacks.
func state(c reports.Configuration, e reports.Evaluation) string {
	switch {
	case e.Scored < e.Folds:
		return fmt.Sprintf("%s: %d/%d folds done", e.Status, e.Scored, e.Folds)
	case c.Status != reports.Done:
		return string(c.Status)
	case c.Missing > 0:
		return "incomplete"
	}
	return unconverged(c, e.Name)
}

// RetryHint is the command that runs failed jobs again.
const RetryHint = "gpc-tune run with --retry-failed runs failed jobs again"

// Text writes the answer, what is missing, the summary, the comparisons with the best, warnings and
// failures by cause, and the hyperparameters and optima of every configuration.
func Text(out io.Writer, r *reports.Report) error { return TextOn(out, r, Screen{}) }

// TextOn writes the text for a terminal, with the answer as the last lines.
func TextOn(out io.Writer, r *reports.Report, on Screen) error {
	w := new(bytes.Buffer)
	on = on.signed()
	facts := Answered(r, MostAnswered)
	answer := func() {
		for _, f := range facts {
			text := on.wrap(terminal.OneLine(f.Name+": "+f.Text), "    ")
			name, rest, _ := strings.Cut(text, ":")
			fmt.Fprintf(w, "%s:%s\n", on.bold(name), rest)
		}
	}
	if on.Width == 0 && len(facts) > 0 {
		answer()
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s\n", r.Experiment)
	if r.Missing > 0 {
		fmt.Fprintf(w, "INCOMPLETE: at least %s missing; resume the run to complete it\n",
			Counted(r.Missing, "job is", "jobs are"))
	}
	failures := 0
	for _, c := range r.Configurations {
		failures += len(c.Failures)
	}
	if failures > 0 {
		text := on.wrap(fmt.Sprintf("FAILURES: %d, listed below; %s", failures, RetryHint), "    ")
		fmt.Fprintln(w, on.bad(text))
	}
	t := Summary(r)
	if len(t.Caption) > 0 {
		fmt.Fprintf(w, "%s\n", on.wrap(terminal.OneLine(strings.Join(t.Caption, ", ")), ""))
	}
	fmt.Fprintln(w)
	t.writeOn(w, on)
	if t, ok := Pivot(r, nil); ok {
		fmt.Fprintf(w, "\n%s\n\n", on.wrap(terminal.OneLine(strings.Join(t.Caption, ", ")), ""))
		t.writeOn(w, on)
	}
	for _, t := range Against(r) {
		fmt.Fprintf(w, "\n%s\n", on.wrap(t.Heading, ""))
		t.writeOn(w, on)
	}
	writeCauses(w, on, "warning", r.WarningCauses())
	writeCauses(w, on, "FAILED", r.FailureCauses())
	for i, c := range r.Configurations {
		if c.Status == reports.Cut {
			continue // the summary shows it
		}
		var of bytes.Buffer
		writeConfiguration(c, &of, i)
		fmt.Fprintln(w)
		for line := range strings.Lines(of.String()) {
			fmt.Fprintln(w, on.wrap(strings.TrimSuffix(line, "\n"), "        "))
		}
	}
	writeContests(r, w, on, false)
	if on.Width > 0 {
		fmt.Fprintln(w)
		answer()
	}
	return on.show(out, w.String())
}

// writeCauses writes one line for every cause, and its first notice.
func writeCauses(w io.Writer, on Screen, label string, all []reports.Cause) {
	for i, c := range all {
		if i == 0 {
			fmt.Fprintln(w)
		}
		name := label
		if c.Note {
			name = "note"
		}
		line := on.wrap(name+": "+CauseText(c), "    ")
		switch name {
		case "warning":
			line = on.styled("33", line)
		case "FAILED":
			line = on.bad(line)
		}
		fmt.Fprintln(w, line)
		if first := c.Notices[0]; !c.Note && first.String() != c.Cause {
			text := terminal.OneLine(first.String())
			if first.Configuration >= 0 {
				text = fmt.Sprintf("#%d %s", first.Configuration, text)
			}
			fmt.Fprintln(w, on.wrap("    first: "+text, "        "))
		}
	}
}

// CauseText is a cause in one line: what, how often, where, its meaning and its remedy.
func CauseText(c reports.Cause) string {
	text := fmt.Sprintf("%s (%s)", terminal.OneLine(c.Cause), Counted(c.Count, "time", "times"))
	var of []string
	const most = 4
	for _, n := range c.Notices {
		if name := fmt.Sprintf("#%d", n.Configuration); n.Configuration >= 0 && !slices.Contains(of, name) {
			of = append(of, name)
		}
	}
	if len(of) > most {
		of = append(of[:most-1], fmt.Sprintf("%d more", len(of)-most+1))
	}
	if len(of) > 0 {
		text += " in " + series(of)
	}
	if c.Meaning != "" {
		text += ": " + c.Meaning
	}
	if c.Remedy != "" {
		text += "; remedy: " + c.Remedy
	}
	return text
}

// writeConfiguration writes what does not fit into the summary.
func writeConfiguration(c reports.Configuration, w io.Writer, index int) {
	text := "no hyperparameters"
	switch {
	case c.Status == reports.Missing:
		text = "not fitted to all of the training data yet"
	case c.Status == reports.Failed:
		text = "the fit to all of the training data has failed"
	case len(c.Hyperparameters) > 0:
		text = reports.Assignments(c.ByInput(c.Hyperparameters), reports.Readable)
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
			reports.Readable(float64(m.Mean)), reports.Brief(float64(m.SD)),
			cmp.Or(reports.Decimals(float64(m.RHat), 3), "unknown"),
			cmp.Or(reports.Decimals(float64(m.ESS), 0), "unknown"))
	}
	for _, b := range c.Best {
		by := b.By
		if by == c.Objective {
			by = c.Tuned()
		}
		if by == c.Tuned() || brief(by) {
			fmt.Fprintf(w, "    best %s of %s: %s at %s%s\n", by, c.Among(b.By), reports.Readable(float64(b.Value)),
				reports.Assignments(c.ByInput(c.Grid[b.Point].Point), reports.Readable), c.Equals(b))
		}
	}
	for _, e := range c.Evaluations {
		if d := e.Decisions; d != nil {
			fmt.Fprintf(w, "    %s: decisions cost %s a case%s, expected %s, by the largest probability %s; %d of "+
				"%d rejected\n",
				e.Scores.Partial.Beside(e.Name), reports.Readable(float64(d.Loss)),
				e.Scores.Partial.Whole(costInterval(*d)), reports.Readable(float64(d.Expected)),
				reports.Readable(float64(d.Likeliest)), d.Rejected, e.Scores.N)
		}
	}
	for _, p := range c.Published {
		var figures []string
		for _, f := range p.Figures {
			published, here, _ := f.Texts()
			if here = f.Partial.Beside(here); math.IsNaN(float64(f.Here)) {
				here = "no figure"
			}
			figures = append(figures, fmt.Sprintf("%s %s (here %s)", f.Name, published, here))
		}
		if p.Note != "" {
			figures = append(figures, p.Note)
		}
		fmt.Fprintf(w, "    published, %s: %s\n", p.Source, strings.Join(figures, ", "))
	}
}

// costInterval is the interval of the mean cost, if there is one.
func costInterval(d reports.Decisions) string {
	if d.CI95 == nil {
		return ""
	}
	return fmt.Sprintf(" (95 %% %s to %s)", reports.Readable(float64(d.CI95[0])),
		reports.Readable(float64(d.CI95[1])))
}

// Restarts summarises the restarts or the chains, if there are any.
func Restarts(c reports.Configuration) string {
	o := c.Optima()
	switch {
	case len(c.Posterior) > 0:
		return fmt.Sprintf("chains %d (%d failed); the figures above are those of their best sample, the scores "+
			"averages over all samples", o.Restarts, o.Failed)
	case o.Restarts == 0:
		return ""
	}
	text := fmt.Sprintf("%s%s (%d failed)", Counted(o.Restarts, "restart", "restarts"), c.SoFar(), o.Failed)
	switch {
	case o.Distinct == 0:
		return text
	case o.Distinct == 1 && o.Restarts-o.Failed == 1:
		return fmt.Sprintf("%s, ended at %s %.3f", text, c.Tuned(), o.Hi)
	case o.Distinct == 1:
		return fmt.Sprintf("%s, all at %s %.3f", text, c.Tuned(), o.Hi)
	}
	return fmt.Sprintf("%s, %d different optima: %s from %.3f to %.3f, the best found by %s", text, o.Distinct,
		c.Tuned(), o.Lo, o.Hi, Counted(o.AtBest, "restart", "restarts"))
}

// tried lists the numbers of inducing inputs that were tried, with their log evidences.
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

// strongest is the correlation with the largest absolute value.
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

// brief reports whether a score is shown in short summaries.
func brief(name string) bool {
	s, err := cv.ScoreNamed(name)
	return err == nil && s.Column.Brief
}
