package data

import (
	"errors"
	"slices"
	"strings"
)

// ErrSparse is that a file has the svmlight form, whose columns are numbers and have no names.
var ErrSparse = errors.New("data: svmlight form")

// Layout is how the lines of a file of columns are read.
type Layout struct {
	Form      string // for people
	Names     []string
	Header    bool // the file holds the names
	Label     int  // the column of the label, unless something says otherwise
	Delimiter rune // a blank for any run of blanks
}

// Scan goes once through a file of columns: begin gets the layout, row the texts of one row after
// another, in a slice that it must not keep. The first line is a header where Load says so and also
// where it has no number and no empty field, and no column has the field of the first line again in
// the lines up to the thousandth, while in some column others come again: naming one of its columns
// has Load see the same. The error is ErrSparse or that of Load.
func Scan(path string, begin func(Layout), row func(fields []string)) error {
	src, err := open(path)
	if err != nil {
		return err
	}
	if isSVMLight(src.text) {
		return ErrSparse
	}
	t := &table{faults: &FileError{Path: path}}
	comma, name := delimiter(src.text)
	if comma == ' ' {
		src.text = strings.ReplaceAll(src.text, "\t", " ")
	}
	r := newRecords(src.text, comma, t.faults)
	if ok := t.describeColumns(r, src.text, name, wordsAbove(src.text, comma)); !ok {
		return t.faults.err()
	}
	if !t.fits(1+strings.Count(src.text, "\n"), len(t.names)) {
		return t.faults
	}
	begin(Layout{t.form, t.names, t.header, t.label, comma})
	for fields := r.next(); fields != nil; fields = r.next() {
		switch len(fields) {
		case len(t.names):
			row(fields)
		case 0: // a fault of its quotes
		default:
			line, _ := r.FieldPos(0)
			t.wrongWidth(line, len(fields))
		}
	}
	return t.faults.err()
}

// wordsAbove are the fields of the first line if they look like the names of columns of texts (see
// Scan).
func wordsAbove(text string, comma rune) []string {
	const lines = 1000
	r := newRecords(text, comma, &FileError{})
	first := slices.Clone(r.next())
	for j, f := range first {
		if _, number := ParseNumber(f, "comma"); number || isNumber(f) || Missing(f) ||
			slices.Contains(first[:j], f) {
			return nil
		}
	}
	seen, again := make([]map[string]bool, len(first)), false
	for range lines {
		fields := r.next()
		if fields == nil {
			break
		}
		for j, f := range fields[:min(len(fields), len(first))] {
			if f == first[j] {
				return nil
			}
			if seen[j] == nil {
				seen[j] = map[string]bool{}
			}
			again, seen[j][f] = again || seen[j][f], true
		}
	}
	if !again {
		return nil
	}
	return first
}
