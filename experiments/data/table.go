package data

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// role is the use of a column of a file.
type role uint8

const (
	ignored    role = iota
	number          // an input: a number or missing
	level           // an input that may be text (one_hot)
	category        // an input whose values are names, even numbers
	target          // the label
	needed          // the group: text that must not be missing
	carried         // an id: unchanged text
	weighing        // the weight of a case
	succeeding      // the successes of a row, which are its label
	trying          // the trials of a row
)

// readOptions has the options for the cases of a file.
type readOptions struct {
	tables.Options
	missing  string                  // treatment of missing values
	drop     bool                    // drop cases without a label
	plan     func(t *table) error    // sets t.roles, t.inputs and t.label once the columns are known
	keep     func(label string) bool // cases with other labels are skipped; nil keeps all
	previous *earlierParts           // parts of the file that were read before, which read updates; nil: none
}

// earlierParts are the parts of a file that were read before.
type earlierParts struct {
	layout tables.Layout
	rows   int // their number of rows
}

// value returns the number of a field in this role, or NaN, and reports whether the value is
// missing.
func (want *readOptions) value(r role, f tables.Field) (v float64, missing bool) {
	switch {
	case r == carried:
		return math.NaN(), false
	case r == number:
		return want.Number(f)
	case r.counts():
		v, _ = want.Number(f)
		return v, want.Missing(f)
	}
	return math.NaN(), want.Missing(f)
}

// table has the cases of a file, column by column.
type table struct {
	*tables.Table
	want   readOptions
	roles  []role
	inputs []int // positions of the inputs, in the requested order; -1: 0 in every case
	label  int   // position of the label; -1: none. Before plan: its default position

	numbers  *mat.Dense      // a row per case with the numeric inputs; NaN is missing
	place    []int           // position of each input column among them
	unread   map[int]*Unread // unreadable values of input columns, among cases to predict
	meanings map[int]meaning // conversions of input columns that are not plain numbers
	marked   map[int]bool    // input columns with a meaning whose marks are kept
	signs
	// Texts of level, target, needed and carried columns, "" if missing; and marks.
	texts   [][]string
	known   map[string]string // texts seen before, to keep a single copy
	weights []float64         // weight of each case, if a column has weights
	trials  [][2]float64      // failures and successes of each case to predict, if known
	counted bool              // a row is the successes and failures of trials
	read    int               // rows so far
	rows    []int             // row of each case from 0, without header, comments and blank lines
	lines   []int             // line of each case

	skipped
}

// signs are the signs of currencies and of percent at the numbers of columns.
type signs struct {
	currency map[int]string // currency signs of input columns
	scales   [][2]int       // per column: numbers other than 0 without a percent sign, and numbers with one
	rounded  map[int]int    // numbers of digits beyond double precision, by the column
	percent  map[int]bool   // whether an input column of the training cases has percent signs
}

// skipped are the numbers of cases that are left out.
type skipped struct {
	dropped       int            // because a value was missing
	unlabelled    int            // because the label was missing
	weightless    int            // because their weight is 0
	skippedLabels map[string]int // because keep skips their label; by label
}

// maxKnown is the number of different texts that are kept once.
const maxKnown = 1000

// read reads the cases of src.
func read(src tables.Source, want readOptions) (t *table, err error) {
	t = &table{want: want, skipped: skipped{skippedLabels: map[string]int{}}}
	if as := want.previous; as != nil {
		want.Layout, t.read = &as.layout, as.rows
		defer func() { *as = earlierParts{t.Layout, t.read} }()
	}
	t.Table = src.Read(want.Options)
	t.label = t.Label
	if t.Rows != nil {
		err = t.begin(t.Most)
	}
	if t.Rows != nil && err == nil {
		cell, at := t.Rows.Cell, t.Rows.At
		for line, ok := t.Rows.Next(); ok; line, ok = t.Rows.Next() {
			t.add(line, cell, at)
		}
	}
	t.End()
	t.finish()
	if faults := t.Faults.Err(); faults != nil && !errors.Is(err, faults) {
		err = errors.Join(err, faults)
	}
	return t, err
}

// begin allocates n cases, once the columns of t are known, with the roles of t.want.
func (t *table) begin(n int) error {
	if !t.Faults.Fits(n, len(t.Names)) {
		return t.Faults
	}
	if err := t.want.plan(t); err != nil {
		return err
	}
	if t.counted {
		n *= 2
	}
	if !t.Faults.Fits(n, len(t.inputs)) {
		return t.Faults
	}
	t.numbers, t.place = mat.NewDense(n, len(t.inputs), nil), make([]int, len(t.roles))
	t.texts = make([][]string, len(t.roles))
	t.rows, t.lines, t.known = make([]int, 0, n), make([]int, 0, n), map[string]string{}
	for k, j := range t.inputs {
		if j >= 0 {
			t.place[j] = k
		}
	}
	for j, r := range t.roles {
		if r != ignored && r != number && !r.counts() || r == succeeding || t.marked[j] {
			t.texts[j] = make([]string, n)
		}
	}
	return nil
}

// kept copies a text that is part of a line, so that the line can be freed.
func (t *table) kept(text string, own bool) string {
	if copied, met := t.known[text]; met {
		return copied
	}
	if !own {
		text = strings.Clone(text)
	}
	if len(t.known) < maxKnown {
		t.known[text] = text
	}
	return text
}

// add adds the next row as a case, unless want skips it: of returns the content of column j, at its
// byte offset in the line.
func (t *table) add(line int, of func(j int) tables.Field, at func(j int) int) {
	row := t.read
	t.read++
	if t.label >= 0 && t.passes(of(t.label)) {
		return
	}
	n, complete, counts := len(t.rows), true, caseCounts{math.NaN(), math.NaN(), 1}
	for j, role := range t.roles {
		if role == ignored {
			continue
		}
		f := of(j)
		if role == number && t.Sparse {
			t.addSparse(line, j, f)
			continue
		}
		v, mark, missing := t.value(line, at, j, f)
		text := f.Text
		if missing && role == target && t.want.drop {
			t.unlabelled++
			return
		}
		if missing {
			complete, text, v = complete && role == target && t.want.Predicting, "", math.NaN()
			t.missing(role, line, at, j, "value")
		} else if mark == cells.WithoutTime && t.marked[j] {
			complete = false
			t.missing(role, line, at, j, "time of the day, which is an input")
		}
		switch {
		case counts.set(role, v):
			if !t.want.Predicting && !missing && !(v >= 0 && v <= math.MaxFloat64) { // predicting ignores it
				t.Faults.Once(fault{"amount", j}, line, at(j), "column %q: the %s %q is no finite number, 0 or more; "+
					"%s", t.Names[j], amountNames[role], cmp.Or(text, fmt.Sprint(v)),
					t.remedy("correct it", "or name another column"))
			}
		case role != number:
			t.texts[j][n] = t.kept(text, f.Own)
		default:
			t.addNumber(line, at, j, f, v, mark, missing)
		}
	}
	if !complete && t.want.missing == "drop" {
		t.dropped++
		return
	}
	if !t.append(counts, row, line, at) {
		t.weightless++
	}
}

// fault identifies a problem that is reported once, however many lines have it.
type fault struct {
	what   string
	column int
}

// addSparse sets the number of column j of the next case of a sparse format, which has no missing
// values.
func (t *table) addSparse(line, j int, f tables.Field) {
	if math.IsNaN(f.Number) {
		t.unreadCell(j, t.read-1, line, 0, f.Text, "are no numbers: they are treated as missing")
	}
	t.numbers.Set(len(t.rows), t.place[j], f.Number)
}

// addNumber sets the number of column j of the next case, and its mark.
func (t *table) addNumber(line int, at func(j int) int, j int, f tables.Field, v float64, mark string, missing bool) {
	n := len(t.rows)
	if kind := (fault{"number", j}); math.IsNaN(v) && !missing && !t.Faults.Repeats(kind, line) {
		t.Faults.Once(kind, line, at(j), "column %q: %s", t.Names[j], t.notValue(j, f.Text))
	}
	if t.marked[j] {
		t.texts[j][n] = mark
	}
	if t.meanings[j] == nil && !f.Typed && !math.IsNaN(v) {
		t.oneCurrency(line, at, j, f.Text)
		t.oneScale(j, f.Text, v)
		t.exact(j, f.Text, v)
	}
	t.numbers.Set(n, t.place[j], v)
}

// classesOfCounts lists the classes of the trials.
var classesOfCounts = []string{"failure", "success"}

// caseCounts has the numbers of a row that multiply its case; NaN: not given.
type caseCounts struct{ weight, successes, trials float64 }

// set sets the number of a column with this role. It reports whether the role is a weight,
// successes or trials.
func (a *caseCounts) set(r role, v float64) bool {
	switch r {
	case weighing:
		a.weight = v
	case succeeding:
		a.successes = v
	case trying:
		a.trials = v
	default:
		return false
	}
	return true
}

// outcome returns the numbers of failures and successes, NaN unless both are 0 or more.
func (a caseCounts) outcome() [2]float64 {
	failures := a.trials - a.successes
	if !(failures >= 0 && a.successes >= 0 && a.trials <= math.MaxFloat64) {
		return [2]float64{math.NaN(), math.NaN()}
	}
	return [2]float64{failures, a.successes}
}

// amountNames has the names of weight, successes and trials in messages.
var amountNames = map[role]string{weighing: "weight", succeeding: "number of successes", trying: "number of trials"}

// counts reports whether the role is a weight, successes or trials.
func (r role) counts() bool { return amountNames[r] != "" }

// append appends the last row as a case, or as the successes and failures of its trials. at gives
// the begin of each column in the line. It reports whether a case was appended: cases of weight 0
// are not.
func (t *table) append(a caseCounts, row, line int, at func(j int) int) bool {
	if !t.counted {
		if a.weight == 0 {
			return false
		}
		if !math.IsNaN(a.weight) {
			t.weights = append(t.weights, a.weight)
		}
		if t.label >= 0 && t.roles[t.label] == succeeding {
			t.trials = append(t.trials, a.outcome())
		}
		t.rows, t.lines = append(t.rows, row), append(t.lines, line)
		return true
	}
	if a.successes > a.trials {
		t.Faults.Once(fault{"successes", t.label}, line, at(t.label), "column %q: %v successes of "+
			"%v trials; %s", t.Names[t.label], a.successes, a.trials,
			t.remedy("correct one of them", "or name other columns in counts"))
	}
	if math.IsNaN(a.weight) {
		a.weight = 1
	}
	first := len(t.rows)
	for k, weight := range []float64{a.weight * (a.trials - a.successes), a.weight * a.successes} {
		if weight == 0 {
			continue
		}
		n := len(t.rows)
		copy(t.numbers.RawRowView(n), t.numbers.RawRowView(first))
		for _, texts := range t.texts {
			if texts != nil {
				texts[n] = texts[first]
			}
		}
		t.texts[t.label][n] = classesOfCounts[k]
		t.weights = append(t.weights, weight)
		t.rows, t.lines = append(t.rows, 2*row+k), append(t.lines, line)
	}
	return len(t.rows) > first
}

// trained prepares the conversion of an input's texts to numbers for later cases, as for the
// training cases.
func (t *table) trained(c Column) {
	if t.percent == nil {
		t.percent = map[int]bool{}
	}
	t.percent[c.Index] = c.Percent
	t.interpret(c)
}

// interpret prepares the conversion of an input's texts to numbers, if they are not plain numbers.
func (t *table) interpret(c Column) {
	t.keepCurrency(c.Index, c.Currency)
	m := c.meaning(t.want.Decimal)
	if m == nil || c.Index < 0 {
		return
	}
	if t.meanings == nil {
		t.meanings, t.marked = map[int]meaning{}, map[int]bool{}
	}
	t.meanings[c.Index], t.roles[c.Index], t.marked[c.Index] = m, number, c.marked()
}

// keepCurrency keeps the currency of the numbers of column j, unless it is empty.
func (t *table) keepCurrency(j int, of string) {
	if t.currency == nil {
		t.currency = map[int]string{}
	}
	if of != "" {
		t.currency[j] = of
	}
}

// oneCurrency adds a fault if two numbers of column j have different currencies.
func (t *table) oneCurrency(line int, at func(j int) int, j int, text string) {
	switch first, wrong := t.otherCurrency(j, tables.Field{Text: text}); {
	case wrong:
		t.Faults.Once(fault{"currency", j}, line, at(j), "column %q: %q is in %s, and others are "+
			"in %s; write all in one currency, or leave the column out (drop)", t.Names[j], text, cells.Currency(text),
			first)
	case first == "" && t.want.Decimal != "":
		t.keepCurrency(j, cells.Currency(text))
	}
}

// otherCurrency returns the currency of the numbers of column j so far, and whether a number is in
// another one.
func (t *table) otherCurrency(j int, f tables.Field) (first string, wrong bool) {
	if t.want.Decimal == "" || f.Typed || t.meanings[j] != nil { // none is read
		return "", false
	}
	of := cells.Currency(f.Text)
	first = t.currency[j]
	return first, of != "" && first != "" && of != first
}

// oneScale notes whether numbers of column j have a percent sign, and whether others do not.
func (t *table) oneScale(j int, text string, v float64) {
	if t.scales == nil {
		t.scales = make([][2]int, len(t.Names))
	}
	switch {
	case strings.HasSuffix(text, "%"):
		t.scales[j][1]++
	case v != 0:
		t.scales[j][0]++
	}
}

// mixedScale warns if some numbers of column j have a percent sign and others have none, or if only
// the training cases, or only these cases, have percent signs.
func (t *table) mixedScale(j int) {
	bare, percent := t.scales[j][0], t.scales[j][1]
	have, later := t.percent[j]
	switch {
	case bare > 0 && percent > 0:
		t.Warnings = append(t.Warnings, cause.Percent.Of(percent, "numbers of %q have a percent sign and are "+
			"divided by 100; others, without one, are not: %d", t.Names[j], bare))
	case later && have && bare > 0:
		t.Warnings = append(t.Warnings, cause.Percent.Of(bare, "numbers of %q have no percent sign, and are not "+
			"divided by 100; those of the training cases have one, and are", t.Names[j]))
	case later && !have && percent > 0:
		t.Warnings = append(t.Warnings, cause.Percent.Of(percent, "numbers of %q have a percent sign and are "+
			"divided by 100; some of the training cases have none, and are not", t.Names[j]))
	}
}

// exact counts whole numbers that double precision rounds.
func (t *table) exact(j int, text string, v float64) {
	const whole = 1 << 53
	if math.Abs(v) < whole || strings.Trim(text, "+-0123456789") != "" || fmt.Sprintf("%.0f", v) == text {
		return
	}
	if t.rounded == nil {
		t.rounded = map[int]int{}
	}
	t.rounded[j]++
}

// percents reports whether column j has percent signs, and has them at all numbers other than 0.
func (t *table) percents(j int) bool {
	return t.scales != nil && t.scales[j][0] == 0 && t.scales[j][1] > 0
}

// notValue describes why a text of column j cannot be read as a number.
func (t *table) notValue(j int, text string) string {
	if m := t.meanings[j]; m != nil {
		wrong, remedy := m.Explain(text)
		return fmt.Sprintf("%q %s; %s", text, wrong, t.remedy("correct it", remedy))
	}
	return cells.WhyNoNumber(text, t.want.Decimal) + "; " + t.remedy("correct it", fmt.Sprintf("leave the column out "+
		"(drop: [%s]), or if it holds categories set categorical: one_hot", t.Names[j]))
}

// value returns the number of a field of column j, or NaN, its mark, and whether the value is
// missing. Among cases to predict, texts that are no numbers and have no meaning are missing.
func (t *table) value(line int, at func(j int) int, j int, f tables.Field) (v float64, mark string, missing bool) {
	v, mark, missing = t.parsed(j, f)
	if t.roles[j] != number || missing || !t.want.Predicting || t.want.missing == "error" {
		return v, mark, missing
	}
	why := "are no numbers"
	if m := t.meanings[j]; m != nil {
		why = m.ExplainSeveral()
	}
	if of, wrong := t.otherCurrency(j, f); wrong {
		why = "are not in " + of
	} else if !math.IsNaN(v) {
		return v, mark, false
	}
	t.unreadCell(j, t.read-1, line, at(j), f.Text, why+": they are treated as missing")
	return math.NaN(), "", true
}

// parsed is value for training cases. Texts without a meaning are NaN.
func (t *table) parsed(j int, f tables.Field) (v float64, mark string, missing bool) {
	v, missing = t.want.value(t.roles[j], f)
	m := t.meanings[j]
	if m == nil {
		return v, "", missing
	}
	switch m.(type) {
	case cells.Quantity, cells.Durations:
		if f.Typed && !math.IsNaN(f.Number) || missing {
			return v, "", missing
		}
	}
	if v, mark, ok := m.Number(f.Text); ok {
		return v, mark, false
	}
	return math.NaN(), "", missing
}

// remedy returns the advice for the file. Before a model is fitted it adds the advice for the data
// section.
func (t *table) remedy(inFile, inSection string) string {
	if t.want.Predicting {
		return inFile
	}
	return inFile + ", " + inSection
}

// finish truncates the columns to the cases read, and warns of mixed percent signs.
func (t *table) finish() {
	for j := range t.scales {
		t.mixedScale(j)
	}
	for _, j := range slices.Sorted(maps.Keys(t.rounded)) {
		t.Warnings = append(t.Warnings, cause.Rounded.Of(t.rounded[j], "whole numbers of %q have more digits than "+
			"double precision, and are rounded; if they are names, list it under categories or drop", t.Names[j]))
	}
	for j := range t.texts {
		t.texts[j] = t.texts[j][:min(len(t.rows), len(t.texts[j]))]
	}
	t.known = nil
}

// passes reports whether the case is skipped because of its label.
func (t *table) passes(f tables.Field) bool {
	if t.want.keep == nil {
		return false
	}
	label := cells.Canonical(f.Text, t.want.Decimal)
	if _, missing := t.want.value(target, f); missing || t.want.keep(label) {
		return false
	}
	t.skippedLabels[label]++
	return true
}

// missing handles a missing value of column j. It is a fault unless missing values are allowed.
func (t *table) missing(r role, line int, at func(j int) int, j int, what string) {
	kind := fault{"missing", j}
	if t.want.missing == "drop" || t.want.Predicting && (r == target || r.counts()) || t.Faults.Repeats(kind, line) {
		return
	}
	switch {
	case r == target:
		t.Faults.Once(kind, line, at(j), "the label (column %q) is missing; write it, or set unlabelled: drop, "+
			"or missing: drop", t.Names[j])
	case r == weighing:
		t.Faults.Once(kind, line, at(j), "the weight (column %q) is missing; write it, 0 to leave the case out, or "+
			"set missing: drop", t.Names[j])
	case r.counts():
		t.Faults.Once(kind, line, at(j), "the %s (column %q) is missing; write it, or set missing: drop",
			amountNames[r], t.Names[j])
	case r == needed:
		t.Faults.Once(kind, line, at(j), "the group (column %q) is missing; write it, or set missing: drop",
			t.Names[j])
	case t.want.missing == "" || t.want.missing == "error":
		t.Faults.Once(kind, line, at(j), "column %q has no %s; %s", t.Names[j], what,
			t.remedy("write it", "or set missing: drop, mean or median"))
	}
}

// leftOut explains why cases of t were left out.
func (t *table) leftOut() string {
	var why []string
	if t.dropped > 0 {
		why = append(why, fmt.Sprintf("%d dropped for missing values", t.dropped))
	}
	if len(t.skippedLabels) > 0 {
		why = append(why, "classes passed over: "+cells.List(slices.Sorted(maps.Keys(t.skippedLabels))))
	}
	if why == nil {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

// index maps column names to positions.
func (t *table) index() map[string]int {
	index := make(map[string]int, len(t.Names))
	for j, name := range t.Names {
		index[name] = j
	}
	return index
}

// unreadCell adds a value of column j of a case, which is unreadable because of why.
func (t *table) unreadCell(j, row, line, at int, text, why string) {
	if len(text) > maxCell {
		text = strings.ToValidUTF8(text[:maxCell], "") + "…"
	}
	cell := Cell{Row: row, Line: line, Text: strings.Clone(text)}
	if place := t.Faults.Place(line, at); place != "" {
		cell.Line, cell.Place = 0, place
	}
	if t.unread == nil {
		t.unread = map[int]*Unread{}
	}
	if t.unread[j] == nil {
		t.unread[j] = &Unread{Column: t.Names[j], Why: why}
	}
	t.unread[j].add(Unread{N: 1, First: []Cell{cell}})
}
