package tables

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// readers are tried in this order. The last accepts every text.
var readers = []reader{
	{magic: parquetMagic, open: openParquet},
	{magic: zipMagic, open: openXLSX},
	{is: isJSON, open: openJSON},
	{is: isSVMLight, lines: true, sparse: true, open: openSVMLight},
	{is: func(string) bool { return true }, lines: true, open: openDelimited},
}

// reader returns the reader of a file.
func (s Source) reader() *reader {
	if s.files != nil {
		return &reader{open: openFolder}
	}
	return &readers[slices.IndexFunc(readers, func(r reader) bool {
		return r.magic == s.binary && (r.is == nil || r.is(s.text))
	})]
}

// Read finds the columns of a file. Its rows are read from Table.Rows afterwards, and End is called
// after the last one.
func (s Source) Read(o Options) *Table {
	t := &Table{Faults: &FileError{Path: s.path}, source: s, later: o.Layout != nil && o.Layout.Names != nil}
	if t.later {
		t.Layout = *o.Layout
	} else {
		t.reader = s.reader()
	}
	t.Rows, t.Most = t.reader.open(t, s, &o)
	if s.Guessed {
		t.Encoding = Western
	}
	return t
}

// End completes Form by the encoding of the file, and adds a warning for each file that seems to
// have another encoding.
func (t *Table) End() {
	if !t.later {
		t.Form += t.source.written()
	}
	for _, file := range append(t.source.files, t.source) {
		if doubt := file.doubtful(); doubt != "" {
			t.Warnings = append(t.Warnings, cause.Coding.New("%s %s", filepath.Base(file.path), doubt))
		}
	}
}

// ErrSparse is the error for a file in svmlight format, whose columns are numbers without names.
var ErrSparse = errors.New("data: svmlight form")

// Scan reads a file of columns once: begin receives the layout, row the texts of one row after
// another, in a slice that it must not keep. The first line is a header if it is one for Read. It
// also is one if it has no number and no empty field, and if within the first thousand lines no
// column repeats its field of the first line while some column repeats others; Read agrees once one
// of its columns is named. A file that is not UTF-8 is read as windows-1252 if that is possible. So
// is each file of a folder. The error is ErrSparse or an error of Open or Read.
func Scan(path string, begin func(Layout), row func(fields []string)) error {
	src, err := Open(path, Reading{Guess: true})
	if err != nil {
		return err
	}
	if src.reader().sparse {
		return ErrSparse
	}
	t := src.Read(Options{Words: true})
	if t.Rows == nil {
		return t.Faults.Err()
	}
	if !t.Faults.Fits(t.Most, len(t.Names)) {
		return t.Faults
	}
	layout := t.Layout
	layout.Form += src.written()
	begin(layout)
	fields := make([]string, len(t.Names))
	for _, ok := t.Rows.Next(); ok; _, ok = t.Rows.Next() {
		for j := range fields {
			fields[j] = t.Rows.Cell(j).Text
		}
		row(fields)
	}
	return t.Faults.Err()
}

// folder reads the rows of the files of a folder, one file after another.
type folder struct {
	table *Table
	parts []*Table
	rows  []Rows // rows of each part
	part  int
	of    int // number of parts
}

// openFolder opens files with the same columns, in one format each.
func openFolder(t *Table, src Source, want *Options) (Rows, int) {
	f, all, asked := &folder{table: t, of: len(src.files)}, 0, *want
	forms := map[string][]string{} // the names of the files of each form
	t.Faults.place = func(line, column int) string {
		faults := f.parts[(line-1)%len(src.files)].Faults
		return filepath.Base(faults.Path) + faults.at((line-1)/len(src.files), column)
	}
	for k, file := range src.files {
		part := &Table{Faults: &FileError{Path: file.path}}
		f.parts = append(f.parts, part)
		r := file.reader()
		if r.sparse {
			part.Faults.Add(0, 0, "is a svmlight file, of which a table cannot have several; join them to one")
			return f.refused(k)
		}
		rows, n := r.open(part, file, &asked)
		if rows == nil {
			return f.refused(k)
		}
		if k == 0 {
			t.Layout = part.Layout
			t.Form, t.Warnings = part.Form, part.Warnings
			asked.Words = false
			if part.Header {
				asked.Names = slices.Concat(asked.Names, part.Names)
			}
		}
		switch {
		case part.Header != t.Header:
			has := map[bool]string{true: "a header", false: "no header"}
			part.Faults.Add(1, 0, "has %s, and the first file of the folder %s; a table in parts has one in all or in "+
				"none", has[part.Header], has[t.Header])
			return f.refused(k)
		case !slices.Equal(part.Names, t.Names):
			part.Faults.Add(1, 0, "has the columns %s, and the first file of the folder %s; a table in parts has the "+
				"same columns in all, in one order", cells.List(part.Names), cells.List(t.Names))
			return f.refused(k)
		}
		for _, w := range part.Warnings {
			if k > 0 && w.Kind == cause.Comments {
				t.Warnings = append(t.Warnings, w)
			}
		}
		forms[part.Form] = append(forms[part.Form], filepath.Base(file.path))
		f.rows, all = append(f.rows, rows), all+n
	}
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		if form != t.Form {
			t.Warnings = append(t.Warnings, cause.Columns.New("%s: %s, and the first file of the folder: %s; each is "+
				"read as what it is", cells.List(forms[form]), form, t.Form))
		}
	}
	t.Form = cells.Several(len(src.files), "file") + ", " + t.Form
	t.encodings(src.files)
	return f, all
}

// encodings reports the encodings of the files of a folder. A file in ASCII is the same in all.
func (t *Table) encodings(files []Source) {
	names, other := map[string][]string{}, false
	for _, file := range files {
		if !file.ascii() && file.binary == "" {
			is := cmp.Or(file.encoding, UTF8)
			names[is] = append(names[is], filepath.Base(file.path))
			other = other || file.other
		}
	}
	var all []string
	for _, encoding := range slices.Sorted(maps.Keys(names)) {
		all = append(all, fmt.Sprintf("%s (%s)", encoding, cells.List(names[encoding])))
	}
	if len(all) > 1 || other {
		t.Warnings = append(t.Warnings, cause.Coding.New("each file of the folder is read in its own encoding: %s",
			strings.Join(all, ", ")))
	}
	if len(all) > 1 || len(names[UTF8]) == 0 && len(all) > 0 {
		t.Form += ", " + strings.Join(all, ", ")
	}
}

// refused reports the faults of a part.
func (f *folder) refused(part int) (Rows, int) {
	for _, fault := range f.parts[part].Faults.Faults {
		fault.Line = f.line(part, fault.Line)
		for i, line := range fault.lines {
			fault.lines[i] = f.line(part, line)
		}
		f.table.Faults.Faults = append(f.table.Faults.Faults, fault)
	}
	return nil, 0
}

// line encodes the line of a part as a line of the table: 1 + number of parts × line + part.
func (f *folder) line(part, line int) int { return 1 + line*f.of + part }

func (f *folder) Next() (line int, ok bool) {
	for ; f.part < len(f.rows); f.part++ {
		if line, ok := f.rows[f.part].Next(); ok {
			return f.line(f.part, line), true
		}
		if len(f.parts[f.part].Faults.Faults) > 0 {
			f.refused(f.part)
			break
		}
	}
	return 0, false
}

func (f *folder) Cell(column int) Field { return f.rows[f.part].Cell(column) }

func (f *folder) At(column int) int { return f.rows[f.part].At(column) }
