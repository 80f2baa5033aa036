package data

import "errors"

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
// of its columns is named. A file that is not UTF-8 is read as windows-1252 if that is possible. So
// is each file of a folder. The error is ErrSparse or an error of Load.
func Scan(path string, begin func(Layout), row func(fields []string)) error {
	src, err := open(path, reading{guess: true})
	if err != nil {
		return err
	}
	encoding := ""
	if src.guessed {
		encoding = western
	}
	r := src.reader()
	if r.read != nil {
		return ErrSparse
	}
	t := &table{faults: &FileError{Path: path}}
	rows, n := r.open(t, src, &readOptions{words: true})
	if rows == nil {
		return t.faults.err()
	}
	if !t.fits(n, len(t.names)) {
		return t.faults
	}
	begin(Layout{t.form + src.written(), t.names, t.header, t.label, t.comma, encoding})
	fields := make([]string, len(t.names))
	for _, ok := rows.next(); ok; _, ok = rows.next() {
		for j := range fields {
			fields[j] = rows.cell(j).text
		}
		row(fields)
	}
	return t.faults.err()
}
