package data

import (
	"errors"
	"slices"
	"strings"
)

// ErrSparse is the error for a file in svmlight format, whose columns are numbers without names.
var ErrSparse = errors.New("data: svmlight form")

// Layout describes how the lines of a file of columns are read.
type Layout struct {
	Form      string // format, for people
	Names     []string
	Header    bool   // the file has column names
	Label     int    // the column of the label, unless specified otherwise
	Delimiter rune   // a blank stands for any sequence of blanks
	Encoding  string // the value of the key encoding that Load needs to read the file
}

// Scan reads a file of columns once: begin receives the layout, row the texts of one row after
// another, in a slice that it must not keep. The first line is a header if it is one for Load. It
// also is one if it has no number and no empty field, and if within the first thousand lines no
// column repeats its field of the first line while some column repeats others; Load agrees once one
// of its columns is named. A file that is not UTF-8 is read as windows-1252 if that is possible.
// The error is ErrSparse or that of Load.
func Scan(path string, begin func(Layout), row func(fields []string)) error {
	src, err := open(path, "")
	encoding := ""
	if faults := (*FileError)(nil); errors.As(err, &faults) && faults.foreign {
		if other, wrong := open(path, western); wrong == nil {
			src, err, encoding = other, nil, western
		}
	}
	if err != nil {
		return err
	}
	if isSVMLight(src.text) {
		return ErrSparse
	}
	t := &table{faults: &FileError{Path: path}}
	comma, name := (&request{}).delimiter(src.text)
	if comma == ' ' {
		src.text = strings.ReplaceAll(src.text, "\t", " ")
	}
	r := newRecords(src.text, comma, t.faults)
	if ok := t.describeColumns(r, src.text, name, &request{named: wordsAbove(src.text, comma)}); !ok {
		return t.faults.err()
	}
	if !t.fits(1+strings.Count(src.text, "\n"), len(t.names)) {
		return t.faults
	}
	begin(Layout{t.form + src.written(), t.names, t.header, t.label, comma, encoding})
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

// wordsAbove returns the fields of the first line if they look like the names of text columns (see
// Scan).
func wordsAbove(text string, comma rune) []string {
	const lines = 1000
	r := newRecords(text, comma, &FileError{})
	first, met := slices.Clone(r.next()), map[string]bool{}
	for _, f := range first {
		if _, number := ParseNumber(f, "comma"); number || isNumber(f) || Missing(f) || met[f] {
			return nil
		}
		met[f] = true
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
