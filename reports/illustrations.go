package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// illustrated draws the illustrations of a kind, those of every entry of the file in one figure.
func (r *Report) illustrated(kind string, draw func([]record.Illustration) figure.Figure) (out []figure.Figure) {
	entries := map[int][]record.Illustration{}
	last := 0
	for _, i := range r.Illustrations {
		if i.Kind == kind {
			entries[i.Entry] = append(entries[i.Entry], i)
			last = i.Entry
		}
	}
	for entry := range last + 1 {
		if all := entries[entry]; all != nil {
			f := draw(all)
			f.Name = fmt.Sprintf("%s-%d", kind, entry)
			out = append(out, f)
		}
	}
	return out
}

// distinguished says what illustrations have in common, and how each differs from the others.
func distinguished(all []record.Illustration) (common []string, differs []string) {
	words := make([][]string, len(all))
	for k, i := range all {
		for _, part := range []struct {
			name string
			of   record.Component
		}{{"kernel ", i.Kernel}, {"mean ", i.Mean}, {"likelihood ", i.Likelihood}} {
			word := ""
			if !part.of.IsZero() {
				word = part.name + shortName(part.of)
			}
			words[k] = append(words[k], word)
		}
		for _, h := range i.Hyperparameters {
			words[k] = append(words[k], fmt.Sprintf("%s = %.4g", h.Name, float64(h.Value)))
		}
	}
	everywhere := func(word string) bool {
		return !slices.ContainsFunc(words, func(w []string) bool { return !slices.Contains(w, word) })
	}
	shared := slices.DeleteFunc(slices.Clone(words[0]), func(word string) bool { return word == "" || !everywhere(word) })
	if len(shared) > 0 {
		common = []string{strings.Join(shared, ", ")}
	}
	for _, w := range words {
		own := slices.DeleteFunc(w, func(word string) bool { return word == "" || slices.Contains(shared, word) })
		differs = append(differs, strings.Join(own, ", "))
	}
	return common, differs
}

// illustrations is the summary of a run without data: a row for every illustration, but of a posterior one for the prior, one for its exact
// moments and one for every inference method.
func (r *Report) illustrations() Table {
	words := func(name string) Column { return Column{Name: name} }
	number := func(name string) Column { return Column{Name: name, Right: true, keep: true} }
	t := Table{Columns: []Column{number("#"), words("illustration"), words("kernel"), words("prior mean"), words("likelihood"), words("hyperparameters"),
		number("points"), number("jitter"), {Name: "inference", keep: true}, number("mean"), number("standard deviation"), number("correlation"),
		number("log evidence"), number("iterations"), {Name: "status", keep: true}}}
	short := shortened(r.Illustrations)
	for k, i := range r.Illustrations {
		var values []string
		for _, h := range i.Hyperparameters {
			values = append(values, h.Name+"="+significant(float64(h.Value)))
		}
		jitter := ""
		if i.Jitter > 0 {
			jitter = brief(float64(i.Jitter))
		}
		row := []string{strconv.Itoa(k), i.Kind, short[i.Kernel.Text], short[i.Mean.Text], short[i.Likelihood.Text], strings.Join(values, " ")}
		add := func(cells ...string) { t.Rows = append(t.Rows, slices.Concat(row, cells)) }
		if i.Exact == nil {
			add(strconv.Itoa(len(i.Columns[0].Values)), jitter, "", "", "", "", "", "", "")
			continue
		}
		add(slices.Concat([]string{"", "", "(the prior)"}, moments(i.Prior), []string{"", ""})...)
		add(slices.Concat([]string{"", "", "(the exact posterior)"}, moments(i.Exact), []string{"", ""})...)
		for _, a := range i.Approximations {
			state, iterations := string(Failed), ""
			if a.Gaussian != nil {
				state, iterations = "", strconv.Itoa(a.Iterations)
				if !a.Converged {
					state = "not converged"
				}
			}
			add(slices.Concat([]string{"", "", short[a.Inference.Text]}, moments(a.Gaussian), []string{iterations, state})...)
		}
	}
	t.lift()
	return t
}

// shortened makes short names for the components of illustrations.
func shortened(all []record.Illustration) map[string]string {
	var texts []record.Component
	for _, i := range all {
		texts = append(texts, i.Kernel, i.Mean, i.Likelihood)
		for _, a := range i.Approximations {
			texts = append(texts, a.Inference)
		}
	}
	return shorten(texts)
}

// moments are those of a Gaussian as a table has them: means, standard deviations, correlation and log evidence; blank where there is none.
func moments(g *record.Gaussian) []string {
	cells := []string{"", "", "", ""}
	if g == nil {
		return cells
	}
	var means, deviations []string
	for i, m := range g.Mean {
		means, deviations = append(means, significant(float64(m))), append(deviations, significant(math.Sqrt(float64(g.Covariance[i][i]))))
	}
	cells[0], cells[1] = strings.Join(means, ", "), strings.Join(deviations, ", ")
	if c := g.Covariance; len(c) == 2 {
		cells[2] = significant(float64(c[0][1]) / math.Sqrt(float64(c[0][0]*c[1][1])))
	}
	if g.LogEvidence != nil {
		cells[3] = significant(float64(*g.LogEvidence))
	}
	return cells
}

// addIllustrations checks what the manifest has of them, and adds what warnings and failures they have to those of the run: that a
// method fails may be what is to be shown.
func (r *Report) addIllustrations() error {
	short := shortened(r.Illustrations)
	for k, i := range r.Illustrations {
		if !whole(i) {
			return fmt.Errorf("the parts of illustration %d do not fit together", k)
		}
		for _, a := range i.Approximations {
			notes := a.Warnings
			if a.Failure != "" {
				notes = append(slices.Clip(notes), "fails: "+a.Failure)
			}
			for _, note := range notes {
				r.Warnings = append(r.Warnings, fmt.Sprintf("illustration %d, %s: %s", k, short[a.Inference.Text], note))
			}
		}
	}
	return nil
}

// whole says that an illustration has what is shown of its kind.
func whole(i record.Illustration) bool {
	if len(i.Columns) == 0 || len(i.Columns[0].Values) == 0 || slices.ContainsFunc(i.Columns, func(c record.Column) bool { return len(c.Values) != len(i.Columns[0].Values) }) {
		return false
	}
	n := len(i.Labels)
	fits := func(g *record.Gaussian) bool {
		return len(g.Mean) == n && len(g.Covariance) == n && !slices.ContainsFunc(g.Covariance, func(row []record.Number) bool { return len(row) != n })
	}
	switch i.Kind {
	case "likelihood":
		return n == 1
	case "posterior":
		return (n == 1 && len(i.Columns) == 4 || n == 2 && len(i.Columns) == 3 && len(i.Columns[0].Values) == edge(i)*edge(i)) &&
			i.Prior != nil && fits(i.Prior) && i.Exact != nil && fits(i.Exact) &&
			!slices.ContainsFunc(i.Approximations, func(a record.Approximated) bool {
				return a.Gaussian != nil && !fits(a.Gaussian) || slices.ContainsFunc(a.Iterates, func(g record.Gaussian) bool { return !fits(&g) })
			})
	}
	return true
}

// writeIllustration writes all of its numbers.
func writeIllustration(w io.Writer, experiment string, number int, i record.Illustration) {
	fmt.Fprintf(w, "%s #%d  %s\n", experiment, number, i.Kind)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range []fact{{"kernel", i.Kernel.Text}, {"mean", i.Mean.Text}, {"likelihood", i.Likelihood.Text}} {
		if f.Text != "" {
			fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
		}
	}
	for _, h := range i.Hyperparameters {
		fmt.Fprintf(t, "%s\t%s\n", h.Name, shortest(h.Value))
	}
	t.Flush() // errors surface in w
	if i.Exact != nil {
		(&Report{Illustrations: []record.Illustration{i}}).illustrations().section(w, "moments")
	}
	numbers := Table{Columns: make([]Column, len(i.Columns)), Rows: make([][]string, len(i.Columns[0].Values))}
	for c, column := range i.Columns {
		numbers.Columns[c] = Column{Name: column.Name, Right: true, keep: true}
		for k, v := range column.Values {
			numbers.Rows[k] = append(numbers.Rows[k], shortest(v))
		}
	}
	numbers.section(w, "numbers")
	for _, a := range i.Approximations {
		if a.Failure != "" {
			fmt.Fprintf(w, "FAILED %s: %s\n", a.Inference, a.Failure)
		}
	}
}
