package data

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// role is what a column of a file is read for.
type role uint8

const (
	ignored  role = iota
	number        // an input: a number or missing
	level         // an input that may turn out to be text (one_hot)
	category      // an input whose values are names, whatever they look like
	target        // the label
	needed        // the group: text that must be there
	carried       // an id: text as it is
)

// request is what the caller of a reader wants of a file.
type request struct {
	missing string                  // mode
	tokens  []string                // further texts for a missing value
	decimal string                  // how numbers are written
	drop    bool                    // cases without a label
	fold    bool                    // labels and categories are taken in lower case
	named   []string                // column names that the caller knows: one in the first line makes it a header
	plan    func(t *table) error    // sets t.roles, t.inputs and t.label once the columns are known
	keep    func(label string) bool // cases with other labels are passed over; nil keeps all
	loose   bool                    // a missing label is no fault
}

// table is what was read of a file, column by column.
type table struct {
	form   string // for people: "CSV, comma, header"
	sparse bool   // svmlight
	header bool   // names were written in the file
	names  []string
	label  int // position of the label; -1: none. Before plan: where it is unless told otherwise
	roles  []role
	inputs []int // the columns that are inputs, in the order in which they are wanted; -1: 0 in every case

	numbers *mat.Dense        // a row for each case of the inputs that are numbers; NaN is missing
	place   []int             // of each column that is an input, among them
	texts   [][]string        // of the level, target, needed and carried columns; missing levels and labels are ""
	known   map[string]string // texts met before, of which one copy is enough
	rows    []int             // of each case, its 0-based row in the file, header, comments and blank lines not counted
	lines   []int             // of each case

	warnings   []string
	dropped    int             // cases left out because something was missing
	unlabelled int             // cases left out because they had no label
	passed     map[string]bool // labels of cases that keep passed over
	read       int             // rows so far
	faults     *FileError
}

// begin makes room for n cases, once the columns of t are known and want has said what each is read
// for.
func (t *table) begin(want request, n int) error {
	if !t.fits(n, len(t.names)) {
		return t.faults
	}
	if err := want.plan(t); err != nil {
		return err
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
		if r != ignored && r != number {
			t.texts[j] = make([]string, n)
		}
	}
	return nil
}

// kept is a copy of a text, so that not its whole line is kept.
func (t *table) kept(text string) string {
	if copied, met := t.known[text]; met {
		return copied
	}
	text = strings.Clone(text)
	if len(t.known) < maxKnown {
		t.known[text] = text
	}
	return text
}

// add takes the next row as a case, unless want passes over it: field is what stands in column j,
// at the given byte of the line. Numbers of a sparse form are 0, and left to its reader to set.
func (t *table) add(want request, line int, field func(j int) string, at func(j int) int) (added bool) {
	row := t.read
	t.read++
	if t.label >= 0 && t.passes(want, want.folded(target, field(t.label))) {
		return false
	}
	n, complete := len(t.rows), true
	for j, role := range t.roles {
		if role == ignored || role == number && t.sparse {
			continue
		}
		text := field(j)
		missing := role != carried && (Missing(text) || slices.Contains(want.tokens, text))
		if missing && role == target && want.drop {
			t.unlabelled++
			return false
		}
		if missing {
			complete, text = complete && role == target && want.loose, ""
			t.missing(want, role, line, at(j), j)
		}
		if role != number {
			t.texts[j][n] = t.kept(want.folded(role, text))
			continue
		}
		v, ok := ParseNumber(text, want.decimal)
		if !ok {
			v = math.NaN()
			if kind := (fault{"number", j}); !missing && !t.faults.repeats(kind, line) {
				t.faults.once(kind, line, at(j), "column %q: %s; correct it, leave the column out (drop: [%s]), "+
					"or if it holds categories set categorical: one_hot", t.names[j], notNumber(text, want.decimal),
					t.names[j])
			}
		}
		t.numbers.Set(n, t.place[j], v)
	}
	if !complete && want.missing == "drop" {
		t.dropped++
		return false
	}
	t.rows, t.lines = append(t.rows, row), append(t.lines, line)
	return true
}

// folded is the text that is kept for a column.
func (want request) folded(r role, text string) string {
	if want.fold && (r == level || r == category || r == target) {
		return strings.ToLower(text)
	}
	return text
}

// end cuts the columns to the cases read.
func (t *table) end() {
	for j := range t.texts {
		t.texts[j] = t.texts[j][:min(len(t.rows), len(t.texts[j]))]
	}
	t.known = nil
}

// fits refuses a file too large to be held as a dense matrix.
func (t *table) fits(n, columns int) bool {
	if columns > maxColumns || n > maxCells/max(1, columns) {
		t.faults.add(0, 0, "%d rows of %d columns are more than can be held (%d columns, %d values); take a part of "+
			"the file", n, columns, maxColumns, maxCells)
		return false
	}
	return true
}

// passes tells whether the case is left out because of its label.
func (t *table) passes(want request, label string) bool {
	if want.keep == nil || Missing(label) || slices.Contains(want.tokens, label) || want.keep(Canonical(label)) {
		return false
	}
	t.passed[Canonical(label)] = true
	return true
}

// missing records that column j has no value, where that is a fault.
func (t *table) missing(want request, r role, line, column, j int) {
	kind := fault{"missing", j}
	switch {
	case want.missing == "drop" || r == target && want.loose:
	case r == target:
		t.faults.once(kind, line, column, "the label (column %q) is missing; write it, or set unlabelled: drop, "+
			"or missing: drop", t.names[j])
	case r == needed:
		t.faults.once(kind, line, column, "the group (column %q) is missing; write it, or set missing: drop",
			t.names[j])
	case want.missing == "" || want.missing == "error":
		t.faults.once(kind, line, column, "column %q has no value; write it, or set missing: drop, mean or median",
			t.names[j])
	}
}

// leftOut explains where the cases of t went.
func (t *table) leftOut() string {
	var why []string
	if t.dropped > 0 {
		why = append(why, fmt.Sprintf("%d dropped for missing values", t.dropped))
	}
	if len(t.passed) > 0 {
		why = append(why, "classes passed over: "+list(slices.Sorted(maps.Keys(t.passed))))
	}
	if why == nil {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

// index has the place of every column by its name.
func (t *table) index() map[string]int {
	index := make(map[string]int, len(t.names))
	for j, name := range t.names {
		index[name] = j
	}
	return index
}

// list writes the first few of names.
func list(names []string) string {
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + ", … (" + strconv.Itoa(len(names)) + " in all)"
	}
	return strings.Join(names, ", ")
}

// positional are the names of n columns that have none in their file.
func positional(n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = "x" + strconv.Itoa(j+1)
	}
	return names
}
