package data

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
	{is: isSVMLight, lines: true, read: readSVMLight},
	{is: func(string) bool { return true }, lines: true, open: openDelimited},
}

// reader returns the reader of a file.
func (s source) reader() *reader {
	if s.files != nil {
		return &reader{open: openFolder}
	}
	return &readers[slices.IndexFunc(readers, func(r reader) bool {
		return r.magic == s.binary && (r.is == nil || r.is(s.text))
	})]
}

// folder reads the rows of the files of a folder, one file after another.
type folder struct {
	table *table
	parts []*table
	rows  []contents // rows of each part
	part  int
	of    int // number of parts
}

// openFolder opens files with the same columns, in one format each.
func openFolder(t *table, src source, want *readOptions) (contents, int) {
	f, all, asked := &folder{table: t, of: len(src.files)}, 0, *want
	forms := map[string][]string{} // the names of the files of each form
	t.faults.place = func(line, column int) string {
		faults := f.parts[(line-1)%len(src.files)].faults
		return filepath.Base(faults.Path) + faults.at((line-1)/len(src.files), column)
	}
	for k, file := range src.files {
		part := &table{faults: &FileError{Path: file.path}}
		f.parts = append(f.parts, part)
		r := file.reader()
		if r.read != nil {
			part.faults.add(0, 0, "is a svmlight file, of which a table cannot have several; join them to one")
			return f.refused(k)
		}
		rows, n := r.open(part, file, &asked)
		if rows == nil {
			return f.refused(k)
		}
		if k == 0 {
			t.firstLines = part.firstLines
			t.form, t.warnings = part.form, part.warnings
			asked.words = false
			if part.header {
				asked.named = slices.Concat(asked.named, part.names)
			}
		}
		switch {
		case part.header != t.header:
			has := map[bool]string{true: "a header", false: "no header"}
			part.faults.add(1, 0, "has %s, and the first file of the folder %s; a table in parts has one in all or in "+
				"none", has[part.header], has[t.header])
			return f.refused(k)
		case !slices.Equal(part.names, t.names):
			part.faults.add(1, 0, "has the columns %s, and the first file of the folder %s; a table in parts has the "+
				"same columns in all, in one order", cells.List(part.names), cells.List(t.names))
			return f.refused(k)
		}
		for _, w := range part.warnings {
			if k > 0 && w.Kind == cause.Comments {
				t.warnings = append(t.warnings, w)
			}
		}
		forms[part.form] = append(forms[part.form], filepath.Base(file.path))
		f.rows, all = append(f.rows, rows), all+n
	}
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		if form != t.form {
			t.warnings = append(t.warnings, cause.Columns.New("%s: %s, and the first file of the folder: %s; each is "+
				"read as what it is", cells.List(forms[form]), form, t.form))
		}
	}
	t.form = cells.Several(len(src.files), "file") + ", " + t.form
	t.encodings(src.files)
	return f, all
}

// encodings reports the encodings of the files of a folder. A file in ASCII is the same in all.
func (t *table) encodings(files []source) {
	names, other := map[string][]string{}, false
	for _, file := range files {
		if !file.ascii() && file.binary == "" {
			is := cmp.Or(file.encoding, utf8Name)
			names[is] = append(names[is], filepath.Base(file.path))
			other = other || file.other
		}
	}
	var all []string
	for _, encoding := range slices.Sorted(maps.Keys(names)) {
		all = append(all, fmt.Sprintf("%s (%s)", encoding, cells.List(names[encoding])))
	}
	if len(all) > 1 || other {
		t.warnings = append(t.warnings, cause.Coding.New("each file of the folder is read in its own encoding: %s",
			strings.Join(all, ", ")))
	}
	if len(all) > 1 || len(names[utf8Name]) == 0 && len(all) > 0 {
		t.form += ", " + strings.Join(all, ", ")
	}
}

// refused reports the faults of a part.
func (f *folder) refused(part int) (contents, int) {
	for _, fault := range f.parts[part].faults.Faults {
		fault.Line = f.line(part, fault.Line)
		for i, line := range fault.lines {
			fault.lines[i] = f.line(part, line)
		}
		f.table.faults.Faults = append(f.table.faults.Faults, fault)
	}
	return nil, 0
}

// line encodes the line of a part as a line of the table: 1 + number of parts × line + part.
func (f *folder) line(part, line int) int { return 1 + line*f.of + part }

func (f *folder) next() (line int, ok bool) {
	for ; f.part < len(f.rows); f.part++ {
		if line, ok := f.rows[f.part].next(); ok {
			return f.line(f.part, line), true
		}
		if len(f.parts[f.part].faults.Faults) > 0 {
			f.refused(f.part)
			break
		}
	}
	return 0, false
}

func (f *folder) cell(column int) field { return f.rows[f.part].cell(column) }

func (f *folder) at(column int) int { return f.rows[f.part].at(column) }

// read reads src as the package comment describes.
func read(src source, want readOptions) (t *table, err error) {
	t = &table{skippedLabels: map[string]int{}, faults: &FileError{Path: src.path}}
	if want.previous != nil {
		t.firstLines = *want.previous
		defer func() { *want.previous = t.firstLines }()
	}
	if t.names == nil {
		t.reader = src.reader()
		defer func() { t.form += src.written() }()
	}
	if t.reader.read != nil {
		err = t.reader.read(t, src.text, want)
	} else if rows, n := t.reader.open(t, src, &want); rows != nil {
		err = t.fill(rows, n, want)
	}
	for _, file := range append(src.files, src) {
		if doubt := file.doubtful(); doubt != "" {
			t.warnings = append(t.warnings, cause.Coding.New("%s %s", filepath.Base(file.path), doubt))
		}
	}
	t.end()
	if faults := t.faults.err(); faults != nil && !errors.Is(err, faults) {
		err = errors.Join(err, faults)
	}
	return t, err
}
