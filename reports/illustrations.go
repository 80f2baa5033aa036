package reports

import (
	"fmt"
	"io"
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
		for _, part := range []struct{ name, text string }{{"kernel ", i.Kernel}, {"mean ", i.Mean}, {"likelihood ", i.Likelihood}} {
			word := ""
			if part.text != "" {
				word = part.name + shortName(part.text)
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

// illustrations is the summary of a run without data: a row for every illustration.
func (r *Report) illustrations() Table {
	t := Table{Columns: []Column{{Name: "#", Right: true, keep: true}, {Name: "illustration"}, {Name: "kernel"}, {Name: "prior mean"}, {Name: "likelihood"},
		{Name: "hyperparameters"}, {Name: "points", Right: true, keep: true}, {Name: "jitter", Right: true, keep: true}}}
	var texts []string
	for _, i := range r.Illustrations {
		texts = append(texts, i.Kernel, i.Mean, i.Likelihood)
	}
	short := shorten(texts)
	for k, i := range r.Illustrations {
		jitter := ""
		if i.Jitter > 0 {
			jitter = brief(float64(i.Jitter))
		}
		var values []string
		for _, h := range i.Hyperparameters {
			values = append(values, h.Name+"="+significant(float64(h.Value)))
		}
		t.Rows = append(t.Rows, []string{strconv.Itoa(k), i.Kind, short[i.Kernel], short[i.Mean], short[i.Likelihood], strings.Join(values, " "), strconv.Itoa(len(i.Columns[0].Values)), jitter})
	}
	t.lift()
	return t
}

// addIllustrations checks what the manifest has of them.
func (r *Report) addIllustrations() error {
	for k, i := range r.Illustrations {
		if len(i.Columns) == 0 || len(i.Columns[0].Values) == 0 || slices.ContainsFunc(i.Columns, func(c record.Column) bool { return len(c.Values) != len(i.Columns[0].Values) }) ||
			i.Kind == "likelihood" && len(i.Labels) != 1 {
			return fmt.Errorf("the parts of illustration %d do not fit together", k)
		}
	}
	return nil
}

// writeIllustration writes all of its numbers.
func writeIllustration(w io.Writer, experiment string, number int, i record.Illustration) {
	fmt.Fprintf(w, "%s #%d  %s\n", experiment, number, i.Kind)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range []fact{{"kernel", i.Kernel}, {"mean", i.Mean}, {"likelihood", i.Likelihood}} {
		if f.Text != "" {
			fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
		}
	}
	for _, h := range i.Hyperparameters {
		fmt.Fprintf(t, "%s\t%s\n", h.Name, shortest(Number(h.Value)))
	}
	t.Flush() // errors surface in w
	numbers := Table{Columns: make([]Column, len(i.Columns)), Rows: make([][]string, len(i.Columns[0].Values))}
	for c, column := range i.Columns {
		numbers.Columns[c] = Column{Name: column.Name, Right: true, keep: true}
		for k, v := range column.Values {
			numbers.Rows[k] = append(numbers.Rows[k], shortest(Number(v)))
		}
	}
	numbers.section(w, "numbers")
}
