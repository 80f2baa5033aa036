package data

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// readers are tried in this order. The last accepts every text.
var readers = []reader{
	{magic: parquetMagic, open: openParquet},
	{is: isJSON, open: openJSON},
	{is: isSVMLight, lines: true, read: readSVMLight},
	{is: func(string) bool { return true }, lines: true, open: openDelimited},
}

// reader returns the reader of a file.
func (s source) reader() *reader {
	return &readers[slices.IndexFunc(readers, func(r reader) bool {
		return r.magic == s.binary && (r.is == nil || r.is(s.text))
	})]
}

// read reads src as the package comment describes.
func read(src source, want request) (t *table, err error) {
	t = &table{passed: map[string]bool{}, faults: &FileError{Path: src.path}}
	if want.as != nil {
		t.layout = *want.as
		defer func() { *want.as = t.layout }()
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
	if doubt := src.doubtful(); doubt != "" {
		t.warnings = append(t.warnings, cause.Coding.New("%s %s", filepath.Base(src.path), doubt))
	}
	t.end()
	if faults := t.faults.err(); faults != nil && !errors.Is(err, faults) {
		err = errors.Join(err, faults)
	}
	return t, err
}
