package catalogue

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// mostTold is the maximum number of columns that are described one by one.
const mostTold = 60

// writeTable writes the data section for a file of columns, with the kind of each column.
func (w *starter) writeTable(t *columns.Table) {
	w.line("  train: %s # %s", w.relative(t.Spec.Train), comment(fmt.Sprintf("%d rows, %s", t.Rows, t.Form)))
	if t.Encoding != "" {
		w.line("  encoding: %s # the text is not UTF-8; where letters look wrong, another (gpc-tune explain encoding)",
			t.Encoding)
	}
	w.line("  # test: FILE # with the same columns")
	label := t.Columns[t.Label]
	w.line("  label: %s # %s", scalar(string(t.Spec.Label)), comment(t.Reason()+": "+label.Found+second(t)))
	if len(t.Rare) > 0 {
		w.line("  classes: [%s] # not %s: too few cases to learn and to test",
			strings.Join(names(t.Spec.Classes), ", "), comment(counted(t.Rare)))
	}
	if t.Spec.Positive != "" {
		w.line("  positive: %s # coded +1, as given", scalar(string(t.Spec.Positive)))
	}
	if t.Spec.Order != nil {
		w.line("  order: [%s] # of the classes, the lowest first; likelihood: ordinal uses it",
			strings.Join(names(t.Spec.Order), ", "))
	}
	if t.Unlabelled > 0 {
		w.line("  unlabelled: drop # %s without a label", several(t.Unlabelled, "case"))
	}
	w.roles(t)
	if t.Spec.Weights != "" {
		w.line("  weights: %s # how many cases each row counts as", scalar(string(t.Spec.Weights)))
	}
	if of := t.Spec.IgnoreCase.Columns; of != nil {
		w.line("  ignore_case: [%s] # spelt in several ways, which are one; %s", strings.Join(names(of), ", "),
			comment(t.Spellings))
	}
	if s := t.Spec; s.Decimal != "" {
		w.line("  decimal: %s # numbers as in %s; or %s", s.Decimal,
			map[string]string{"point": "1,234.5", "comma": "1.234,5"}[s.Decimal],
			map[string]string{"point": "comma", "comma": "point"}[s.Decimal])
	}
	if len(t.Spec.MissingValues) > 0 {
		w.line("  missing_values: [%s] # texts among numbers, beside the empty field, NA, NaN and ?",
			strings.Join(names(t.Spec.MissingValues), ", "))
	}
	w.missing(t)
	w.inputs(t)
	switch {
	case t.Spec.Duplicates != "":
		w.line("  duplicates: %s # %d rows repeat an earlier one: tested on copies of training cases, a model would "+
			"score too well", t.Spec.Duplicates, t.Duplicates)
	case t.Duplicates > 0:
		w.line("  # %d rows repeat an earlier one, the label included: scores are too good if those are no cases of "+
			"their own", t.Duplicates)
	}
}

// second describes which of two classes is coded +1.
func second(t *columns.Table) string {
	if len(t.Classes) == 2 && t.Spec.Positive == "" {
		return "; the second in natural order is +1 unless positive: CLASS says the other"
	}
	return ""
}

// roles writes the columns that are not inputs, one line each with the reason.
func (w *starter) roles(t *columns.Table) {
	for _, part := range []struct {
		key string
		use columns.Use
		one bool
	}{{"id", columns.ID, false}, {"group", columns.Group, true}, {"drop", columns.Left, false}} {
		first := true
		for j, c := range t.Columns {
			if c.Use != part.use {
				continue
			}
			name, why := scalar(t.Naming(j)), comment(c.Kind+": "+c.Found)
			switch {
			case part.one:
				w.line("  %s: %s # %s", part.key, name, why)
				continue
			case first:
				w.line("  %s: # %s", part.key, map[columns.Use]string{
					columns.ID: "carried through to the predictions, no inputs", columns.Left: "left out"}[part.use])
			}
			first = false
			w.line("    - %s # %s", name, why)
		}
	}
	if len(t.Spec.Columns.Described) > 0 {
		w.line("  columns: # what values mean: their order, the lowest first, parts of dates, units, limits, durations")
		for j, c := range t.Columns {
			switch name := scalar(t.Naming(j)); {
			case c.Order != nil:
				w.line("    %s: {ordered: [%s]}", name,
					strings.Join(names(t.Spec.Columns.Described[t.Naming(j)].Ordered), ", "))
			case c.Date != nil:
				w.line("    %s: {date: {%s}} # %s", name, keysOf(*c.Date), comment(c.Found+absent(c)))
			case c.Duration != "":
				w.line("    %s: {duration: %s} # %s", name, c.Duration, comment(c.Found+absent(c)))
			case c.Limits && c.Unit != "":
				w.line("    %s: {unit: %s, limits: true} # %s", name, scalar(c.Unit), comment(c.Found+absent(c)))
			case c.Limits:
				w.line("    %s: {limits: true} # %s", name, comment(c.Found+absent(c)))
			case c.Unit != "":
				w.line("    %s: {unit: %s} # %s", name, scalar(c.Unit), comment(c.Found+absent(c)))
			}
		}
	}
	if len(t.Spec.Categories) > 0 {
		w.line("  categories:")
		for j, c := range t.Columns {
			if c.Named() {
				w.line("    - %s # %s", scalar(t.Naming(j)), comment(c.Found))
			}
		}
	}
	if t.Spec.Categorical != "" || len(t.Spec.Categories) > 0 {
		w.line("  categorical: %s # an input of 0 and 1 for each category", cmp.Or(t.Spec.Categorical, "one_hot"))
	}
}

// keysOf are the keys of a date.
func keysOf(d cells.Date) string {
	text := "form: " + string(d.Form)
	if len(d.Parts) > 0 {
		text += fmt.Sprintf(", parts: [%s]", strings.Join(names(d.Parts), ", "))
	}
	if d.Since != "" {
		text += ", since: " + scalar(string(d.Since))
	}
	if d.Zone != "" {
		text += ", zone: " + scalar(string(d.Zone))
	}
	return text
}

// missing writes the treatment of missing values.
func (w *starter) missing(t *columns.Table) {
	values, inputs := 0, 0
	for _, c := range t.Columns {
		if c.Use == columns.Input && c.Missing > 0 {
			values, inputs = values+c.Missing, inputs+1
		}
	}
	if values == 0 {
		w.line("  missing: median # no input has missing values here; a case to predict may; or error, drop, mean")
		return
	}
	w.line("  missing: median # of %s in %s; or drop (the case), mean; missing_indicators: true adds inputs of "+
		"0 and 1", several(values, "value"), several(inputs, "input"))
}

// inputs describes the inputs that are not categories, one line each.
func (w *starter) inputs(t *columns.Table) {
	told := 0
	for _, c := range t.Columns {
		if c.Use != columns.Input || c.Named() || c.Date != nil || c.Unit != "" || c.Limits || c.Duration != "" {
			continue
		}
		if told++; told > mostTold {
			continue
		}
		if told == 1 {
			w.line("  # inputs:")
		}
		w.line("  #   %s: %s", comment(c.Name), comment(c.Found+absent(c)))
	}
	if told > mostTold {
		w.line("  #   and %d more (gpc-tune data shows all)", told-mostTold)
	}
}

// absent returns the number of missing values, in words, or "" if no value is missing.
func absent(c columns.Column) string {
	if c.Missing == 0 {
		return ""
	}
	return fmt.Sprintf("; %d missing", c.Missing)
}

// writeSet writes the data section for a bundled set, or for a file without columns.
func (w *starter) writeSet(from data.Spec, s data.Summary) {
	about := comment(fmt.Sprintf("%d cases, %d inputs: %s", s.Cases, len(s.Inputs), data.Abridged(s.Inputs)))
	if from.Dataset != "" {
		w.line("  dataset: %s # %s", from.Dataset, about)
		w.line("  # train: cases.csv # or a file of your own: gpc-tune init cases.csv writes this for it")
	} else {
		w.line("  train: %s # %s", w.relative(from.Train), about)
		w.line("  # test: FILE # with the same columns")
	}
	if s.Classes != nil {
		also := ""
		if len(s.Classes) == 2 {
			also = "; the second is +1 unless positive: CLASS says the other"
		}
		w.line("  # classes: %s%s", comment(counted(s.Classes)), also)
	} else {
		w.line("  # the label is a number, %g to %g; above: %g makes two classes of it", s.Target.Min, s.Target.Max,
			s.Target.Median)
	}
	if len(s.Missing) > 0 {
		missing := 0
		for _, m := range s.Missing {
			missing += m.N
		}
		w.line("  missing: median # of %s in %s; or drop (the case), mean", several(missing, "value"),
			several(len(s.Missing), "input"))
	}
}

// several formats a count with its noun.
func several(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// names converts names to YAML.
func names[T ~string](all []T) (out []string) {
	for _, n := range all {
		out = append(out, scalar(string(n)))
	}
	return out
}

// counted lists classes with their numbers of cases.
func counted(classes []data.Count) string {
	var all []string
	for _, c := range classes {
		all = append(all, fmt.Sprintf("%s (%d)", c.Class, c.N))
	}
	return data.Abridged(all)
}
