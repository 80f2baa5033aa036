package data

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// role is what a column of a file is read for.
type role uint8

const (
	ignored role = iota
	number       // an input: a number or missing
	level        // an input that may turn out to be text (one_hot)
	target       // the label
	needed       // the group: text that must be there
	carried      // an id: text as it is
)

// request is what the caller of a reader wants of a file.
type request struct {
	missing string                  // mode
	named   []string                // column names that the caller knows: one that stands in the first line makes it a header
	plan    func(t *table) error    // sets t.roles and t.label once the columns are known
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

	numbers [][]float64 // of the number columns, one value a case; NaN is missing
	texts   [][]string  // of the level, target, needed and carried columns; missing levels and labels are ""
	rows    []int       // of each case, its 0-based row in the file, header, comments and blank lines not counted
	lines   []int       // of each case

	warnings []string
	dropped  int             // cases left out because something was missing
	passed   map[string]bool // labels of cases that keep passed over
	read     int             // rows so far
	faults   *FileError
}

// read reads src as the package comment describes.
func read(src source, want request) (*table, error) {
	t := &table{passed: map[string]bool{}, faults: &FileError{Path: src.path}}
	var err error
	if isSVMLight(src.text) {
		err = t.readSVMLight(src.text, want)
	} else {
		err = t.readDelimited(src.text, want)
	}
	if faults := t.faults.err(); faults != nil && !errors.Is(err, faults) {
		err = errors.Join(err, faults)
	}
	return t, err
}

// allocate makes room for the columns that have a role, n cases each.
func (t *table) allocate(n int) {
	t.numbers, t.texts = make([][]float64, len(t.roles)), make([][]string, len(t.roles))
	for j, r := range t.roles {
		switch r {
		case ignored:
		case number:
			t.numbers[j] = make([]float64, n)
		default:
			t.texts[j] = make([]string, n)
		}
	}
}

// fits refuses a file too large to be held as a dense matrix.
func (t *table) fits(n, columns int) bool {
	if columns > maxColumns || n > maxCells/max(1, columns) {
		t.faults.add(0, 0, "%d rows of %d columns are more than can be held (%d columns, %d values); take a part of the file", n, columns, maxColumns, maxCells)
		return false
	}
	return true
}

// passes tells whether the case is left out because of its label.
func (t *table) passes(want request, label string) bool {
	if want.keep == nil || isMissing(label) || want.keep(canonical(label)) {
		return false
	}
	t.passed[canonical(label)] = true
	return true
}

// missing records that column j has no value, where that is a fault.
func (t *table) missing(want request, r role, line, column, j int) {
	switch {
	case want.missing == "drop" || r == target && want.loose:
	case r == target:
		t.faults.add(line, column, "the label (column %q) is missing; write it, or set missing: drop", t.names[j])
	case r == needed:
		t.faults.add(line, column, "the group (column %q) is missing; write it, or set missing: drop", t.names[j])
	case want.missing == "" || want.missing == "error":
		t.faults.add(line, column, "column %q has no value; write it, or set missing: drop, mean or median", t.names[j])
	}
}

// isMissing tells whether a field is one of the tokens for a missing value.
func isMissing(s string) bool {
	return s == "" || s == "?" || strings.EqualFold(s, "NA") || strings.EqualFold(s, "NaN")
}

// maxMagnitude keeps squares and their sums over cases and columns finite.
const maxMagnitude = 1e100

// parseNumber reads a finite decimal number of magnitude up to maxMagnitude.
func parseNumber(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(math.Abs(v) <= maxMagnitude) || isHex(s) {
		return 0, false
	}
	return v, true
}

// isHex tells whether s has the prefix of a hexadecimal number, which strconv reads and data files do not have.
func isHex(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && (s[1] == 'x' || s[1] == 'X')
}

// notNumber says why parseNumber refused s.
func notNumber(s string) string {
	v, err := strconv.ParseFloat(s, 64)
	finite := isHex(s) || err != nil && !math.IsInf(v, 0)
	_, comma := parseNumber(strings.Replace(s, ",", ".", 1))
	if len(s) > 40 {
		s = strings.ToValidUTF8(s[:40], "") + "…"
	}
	switch {
	case !finite:
		return fmt.Sprintf("%q is not finite, or beyond %g", s, maxMagnitude)
	case comma:
		return fmt.Sprintf("%q has a decimal comma, where a point is wanted", s)
	}
	return fmt.Sprintf("%q is not a number", s)
}

// canonical is the text of a label: of a number, its shortest decimal form, so that 3, +3.0 and 3.0000 are equal.
func canonical(label string) string {
	v, ok := parseNumber(label)
	switch {
	case !ok:
		return label
	case v == 0:
		return "0"
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func canonicalNames(names []Name) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = canonical(strings.TrimSpace(string(n)))
	}
	return out
}
