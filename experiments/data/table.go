package data

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
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

// readOptions has the options of a reader.
type readOptions struct {
	missing    string                  // treatment of missing values
	tokens     []string                // further texts for a missing value
	absent     []float64               // the missing words that are numbers, which count in any spelling
	decimal    string                  // notation of numbers
	delimited  string                  // the delimiter of the training file, if that is known
	drop       bool                    // drop cases without a label
	named      []string                // known column names: one in the first line makes it a header
	words      bool                    // a first line that looks like names above columns of texts is a header
	plan       func(t *table) error    // sets t.roles, t.inputs and t.label once the columns are known
	keep       func(label string) bool // cases with other labels are skipped; nil keeps all
	predicting bool                    // a missing label is allowed
	previous   *firstLines             // layout of previous parts, which read updates; nil: none
}

// field is the content of one field of a row.
type field struct {
	text   string
	typed  bool    // number is known, and not to be read from the text
	number float64 // NaN: the text is not a number
	own    bool    // the text is no substring of a line; other cells may share it
}

// number is the number of a field, or NaN.
func (want *readOptions) number(f field) float64 {
	if f.typed {
		return f.number
	}
	if v, ok := cells.ParseNumber(f.text, want.decimal); ok {
		return v
	}
	return math.NaN()
}

// lacking sets further texts that mean a missing value.
func (want *readOptions) lacking(tokens []string) {
	want.tokens = tokens
	for _, text := range tokens {
		if v := want.number(field{text: text}); !math.IsNaN(v) {
			want.absent = append(want.absent, v)
		}
	}
}

// value returns the number of a field in this role, or NaN, and reports whether the value is
// missing.
func (want *readOptions) value(r role, f field) (v float64, missing bool) {
	if r == carried || cells.Missing(f.text) || slices.Contains(want.tokens, f.text) {
		return math.NaN(), r != carried
	}
	if r != number && !r.counts() && want.absent == nil {
		return math.NaN(), false
	}
	v = want.number(f)
	refused := r == number && want.predicting && math.IsNaN(v) && IsMissingWord(f.text)
	return v, refused || slices.Contains(want.absent, v)
}

// contents are the rows of a file, read one after another.
type contents interface {
	// next goes to the next row that has a cell in every column; others are faults. line is the
	// row's line, or its number from 1 in a file without lines.
	next() (line int, ok bool)
	cell(column int) field
	at(column int) int // begin of the cell in its line, or its column, from 1; 0: unknown
}

// reader reads one file format: a text that it recognises, or a binary format, by its first bytes.
type reader struct {
	magic string
	is    func(text string) bool
	lines bool // lines of a file give the same rows when they are read separately
	// open sets format, names, header and label of the table, and returns its rows, and an upper
	// bound of their number. It returns nil after a fault of the file as a whole.
	open func(t *table, src source, want *readOptions) (rows contents, n int)
	read func(t *table, text string, want readOptions) error // replaces open in the sparse format
}

// firstLines is the layout of a file, as its first lines show it. If a file is read in parts, the
// layout of the first part is used for the later ones.
type firstLines struct {
	reader *reader

	form   string // for people: "CSV, comma, header"
	sparse bool   // svmlight
	header bool   // the file has column names
	names  []string
	label  int // position of the label; -1: none. Before plan: its default position

	comma    rune // delimiter of delimited columns
	trailing int  // see records
	single   bool // see records
	read     int  // rows so far
	unicode  bool // a part was UTF-8 and not ASCII alone
}

// isNumber reports whether a text is a number that is not missing.
func (want *readOptions) isNumber(text string) bool {
	v, missing := want.value(number, field{text: text})
	return !missing && !math.IsNaN(v)
}

// table is the content of a file, column by column.
type table struct {
	firstLines
	roles  []role
	inputs []int // positions of the inputs, in the requested order; -1: 0 in every case

	numbers  *mat.Dense      // a row per case with the numeric inputs; NaN is missing
	place    []int           // position of each input column among them
	unread   map[int]*Unread // unreadable values of input columns, among cases to predict
	meanings map[int]meaning // conversions of input columns that are not plain numbers
	marked   map[int]bool    // input columns with a meaning whose marks are kept
	currency map[int]string  // currency signs of input columns of numbers
	// Per column: numbers other than 0 without a percent sign, and numbers with one.
	scales  [][2]int
	percent map[int]bool // whether an input column of the training cases has percent signs
	// Texts of level, target, needed and carried columns, "" if missing; and marks.
	texts   [][]string
	known   map[string]string // texts seen before, to keep a single copy
	weights []float64         // weight of each case, if a column has weights
	trials  [][2]float64      // failures and successes of each case to predict, if known
	counted bool              // a row is the successes and failures of trials
	rows    []int             // row of each case from 0, without header, comments and blank lines
	lines   []int             // line of each case

	warnings      []cause.Notice
	more          int            // number of columns that are renamed without a separate warning
	dropped       int            // cases dropped because a value was missing
	unlabelled    int            // cases dropped because the label was missing
	weightless    int            // cases left out because their weight is 0
	skippedLabels map[string]int // number of cases that keep skipped, by label
	faults        *FileError
}

// begin allocates n cases, once the columns of t are known, with the roles of want.
func (t *table) begin(want readOptions, n int) error {
	if !t.fits(n, len(t.names)) {
		return t.faults
	}
	if err := want.plan(t); err != nil {
		return err
	}
	if t.counted {
		n *= 2
	}
	if !t.fits(n, len(t.inputs)) {
		return t.faults
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
// byte offset in the line. In a sparse format numbers are 0 here, and its reader sets them.
func (t *table) add(want readOptions, line int, of func(j int) field, at func(j int) int) (added bool) {
	row := t.read
	t.read++
	if t.label >= 0 && t.passes(want, of(t.label)) {
		return false
	}
	n, complete, counts := len(t.rows), true, caseCounts{math.NaN(), math.NaN(), 1}
	for j, role := range t.roles {
		if role == ignored || role == number && t.sparse {
			continue
		}
		f := of(j)
		v, mark, missing := t.value(want, line, at, j, f)
		text := f.text
		if missing && role == target && want.drop {
			t.unlabelled++
			return false
		}
		if missing {
			complete, text, v = complete && role == target && want.predicting, "", math.NaN()
			t.missing(want, role, line, at, j, "value")
		} else if mark == cells.WithoutTime && t.marked[j] {
			complete = false
			t.missing(want, role, line, at, j, "time of the day, which is an input")
		}
		switch {
		case counts.set(role, v):
			if !want.predicting && !missing && !(v >= 0 && v <= math.MaxFloat64) { // predicting ignores it
				t.faults.once(fault{"amount", j}, line, at(j), "column %q: the %s %q is no finite number, 0 or more; "+
					"%s", t.names[j], amountNames[role], text, want.remedy("correct it", "or name another column"))
			}
		case role != number:
			t.texts[j][n] = t.kept(text, f.own)
		default:
			t.addNumber(want, line, at, j, f, v, mark, missing)
		}
	}
	if !complete && want.missing == "drop" {
		t.dropped++
		return false
	}
	if !t.append(want, counts, row, line, at) {
		t.weightless++
		return false
	}
	return true
}

// addNumber sets the number of column j of the next case, and its mark.
func (t *table) addNumber(want readOptions, line int, at func(j int) int, j int, f field, v float64, mark string,
	missing bool) {
	n := len(t.rows)
	if kind := (fault{"number", j}); math.IsNaN(v) && !missing && !t.faults.repeats(kind, line) {
		t.faults.once(kind, line, at(j), "column %q: %s", t.names[j], t.notValue(want, j, f.text))
	}
	if t.marked[j] {
		t.texts[j][n] = mark
	}
	if t.meanings[j] == nil && !f.typed && !math.IsNaN(v) {
		t.oneCurrency(want.decimal, line, at, j, f.text)
		t.oneScale(j, f.text, v)
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
func (t *table) append(want readOptions, a caseCounts, row, line int, at func(j int) int) bool {
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
		t.faults.once(fault{"successes", t.label}, line, at(t.label), "column %q: %v successes of %v trials; %s",
			t.names[t.label], a.successes, a.trials,
			want.remedy("correct one of them", "or name other columns in counts"))
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
func (t *table) trained(c Column, decimal string) {
	if t.percent == nil {
		t.percent = map[int]bool{}
	}
	t.percent[c.Index] = c.Percent
	t.interpret(c, decimal)
}

// interpret prepares the conversion of an input's texts to numbers, if they are not plain numbers.
func (t *table) interpret(c Column, decimal string) {
	t.keepCurrency(c.Index, c.Currency)
	m := c.meaning(decimal)
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
func (t *table) oneCurrency(decimal string, line int, at func(j int) int, j int, text string) {
	switch first, wrong := t.otherCurrency(decimal, j, field{text: text}); {
	case wrong:
		t.faults.once(fault{"currency", j}, line, at(j), "column %q: %q is in %s, and others are in %s; write all in "+
			"one currency, or leave the column out (drop)", t.names[j], text, cells.Currency(text), first)
	case first == "" && decimal != "":
		t.keepCurrency(j, cells.Currency(text))
	}
}

// otherCurrency returns the currency of the numbers of column j so far, and whether a number is in
// another one.
func (t *table) otherCurrency(decimal string, j int, f field) (first string, wrong bool) {
	if decimal == "" || f.typed || t.meanings[j] != nil { // none is read
		return "", false
	}
	of := cells.Currency(f.text)
	first = t.currency[j]
	return first, of != "" && first != "" && of != first
}

// oneScale notes whether numbers of column j have a percent sign, and whether others do not.
func (t *table) oneScale(j int, text string, v float64) {
	if t.scales == nil {
		t.scales = make([][2]int, len(t.names))
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
		t.warnings = append(t.warnings, cause.Percent.Of(percent, "numbers of %q have a percent sign and are "+
			"divided by 100; others, without one, are not: %d", t.names[j], bare))
	case later && have && bare > 0:
		t.warnings = append(t.warnings, cause.Percent.Of(bare, "numbers of %q have no percent sign, and are not "+
			"divided by 100; those of the training cases have one, and are", t.names[j]))
	case later && !have && percent > 0:
		t.warnings = append(t.warnings, cause.Percent.Of(percent, "numbers of %q have a percent sign and are "+
			"divided by 100; some of the training cases have none, and are not", t.names[j]))
	}
}

// percents reports whether column j has percent signs, and has them at all numbers other than 0.
func (t *table) percents(j int) bool {
	return t.scales != nil && t.scales[j][0] == 0 && t.scales[j][1] > 0
}

// notValue describes why a text of column j cannot be read as a number.
func (t *table) notValue(want readOptions, j int, text string) string {
	if m := t.meanings[j]; m != nil {
		wrong, remedy := m.Explain(text)
		return fmt.Sprintf("%q %s; %s", text, wrong, want.remedy("correct it", remedy))
	}
	return cells.WhyNoNumber(text, want.decimal) + "; " + want.remedy("correct it", fmt.Sprintf("leave the column out "+
		"(drop: [%s]), or if it holds categories set categorical: one_hot", t.names[j]))
}

// value returns the number of a field of column j, or NaN, its mark, and whether the value is
// missing. Among cases to predict, texts that are no numbers and have no meaning are missing.
func (t *table) value(want readOptions, line int, at func(j int) int, j int, f field) (v float64, mark string,
	missing bool) {
	v, mark, missing = t.parsed(want, j, f)
	if t.roles[j] != number || missing || !want.predicting || want.missing == "error" {
		return v, mark, missing
	}
	why := "are no numbers"
	if m := t.meanings[j]; m != nil {
		why = m.ExplainSeveral()
	}
	if of, wrong := t.otherCurrency(want.decimal, j, f); wrong {
		why = "are not in " + of
	} else if !math.IsNaN(v) {
		return v, mark, false
	}
	t.unreadCell(j, t.read-1, line, at(j), f.text, why+": they are treated as missing")
	return math.NaN(), "", true
}

// parsed is value for training cases. Texts without a meaning are NaN.
func (t *table) parsed(want readOptions, j int, f field) (v float64, mark string, missing bool) {
	v, missing = want.value(t.roles[j], f)
	m := t.meanings[j]
	if m == nil {
		return v, "", missing
	}
	switch m.(type) {
	case cells.Quantity, cells.Durations:
		if f.typed && !math.IsNaN(f.number) || missing {
			return v, "", missing
		}
	}
	if v, mark, ok := m.Number(f.text); ok {
		return v, mark, false
	}
	return math.NaN(), "", missing
}

// fill reads the rows of a file whose columns are known; n is an upper bound of their number.
func (t *table) fill(c contents, n int, want readOptions) error {
	if err := t.begin(want, n); err != nil {
		return err
	}
	cell, at := c.cell, c.at
	for {
		line, ok := c.next()
		if !ok {
			return nil
		}
		t.add(want, line, cell, at)
	}
}

// remedy returns the advice for the file. Before a model is fitted it adds the advice for the data
// section.
func (want *readOptions) remedy(inFile, inSection string) string {
	if want.predicting {
		return inFile
	}
	return inFile + ", " + inSection
}

// end truncates the columns to the cases read.
func (t *table) end() {
	for j := range t.scales {
		t.mixedScale(j)
	}
	for j := range t.texts {
		t.texts[j] = t.texts[j][:min(len(t.rows), len(t.texts[j]))]
	}
	t.known = nil
}

// fits refuses a file that is too large for a dense matrix.
func (t *table) fits(n, columns int) bool {
	if columns > maxColumns || n > maxCells/max(1, columns) {
		t.faults.add(0, 0, "%s of %s are more than can be held (%d columns, %d values); take a part of the "+
			"file", cells.Several(n, "row"), cells.Several(columns, "column"), maxColumns, maxCells)
		return false
	}
	return true
}

// filled refuses a file that would need much memory for few values.
func (t *table) filled(n, columns, values int) bool {
	if n <= max(sparseFree, maxEmpty*values)/max(1, columns) {
		return true
	}
	t.faults.add(0, 0, "%s of %s have only %s; a table has a value in one of %d places or more; leave out the columns "+
		"that have few", cells.Several(n, "row"), cells.Several(columns, "column"), cells.Several(values, "value"),
		maxEmpty)
	return false
}

// passes reports whether the case is skipped because of its label.
func (t *table) passes(want readOptions, f field) bool {
	if want.keep == nil {
		return false
	}
	label := cells.Canonical(f.text, want.decimal)
	if _, missing := want.value(target, f); missing || want.keep(label) {
		return false
	}
	t.skippedLabels[label]++
	return true
}

// missing handles a missing value of column j. It is a fault unless missing values are allowed.
func (t *table) missing(want readOptions, r role, line int, at func(j int) int, j int, what string) {
	kind := fault{"missing", j}
	if want.missing == "drop" || want.predicting && (r == target || r.counts()) || t.faults.repeats(kind, line) {
		return
	}
	switch {
	case r == target:
		t.faults.once(kind, line, at(j), "the label (column %q) is missing; write it, or set unlabelled: drop, "+
			"or missing: drop", t.names[j])
	case r == weighing:
		t.faults.once(kind, line, at(j), "the weight (column %q) is missing; write it, 0 to leave the case out, or "+
			"set missing: drop", t.names[j])
	case r.counts():
		t.faults.once(kind, line, at(j), "the %s (column %q) is missing; write it, or set missing: drop",
			amountNames[r], t.names[j])
	case r == needed:
		t.faults.once(kind, line, at(j), "the group (column %q) is missing; write it, or set missing: drop",
			t.names[j])
	case want.missing == "" || want.missing == "error":
		t.faults.once(kind, line, at(j), "column %q has no %s; %s", t.names[j], what,
			want.remedy("write it", "or set missing: drop, mean or median"))
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
	index := make(map[string]int, len(t.names))
	for j, name := range t.names {
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
	if t.faults.place != nil && line > 0 {
		cell.Line, cell.Place = 0, t.faults.place(line, at)
	}
	if t.unread == nil {
		t.unread = map[int]*Unread{}
	}
	if t.unread[j] == nil {
		t.unread[j] = &Unread{Column: t.names[j], Why: why}
	}
	t.unread[j].add(Unread{N: 1, First: []Cell{cell}})
}
