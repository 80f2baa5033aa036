package data

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// reader reads one file format. It sets format, names and label of the table (and header and
// sparse), then calls begin, and add for every row.
type reader struct {
	is   func(text string) bool // reports whether the text has this format
	read func(t *table, text string, want request) error
}

// readers are tried in this order. The last accepts everything.
var readers = []reader{
	{isSVMLight, readSVMLight},
	{func(string) bool { return true }, readDelimited},
}

// read reads src as the package comment describes.
func read(src source, want request) (t *table, err error) {
	t = &table{passed: map[string]bool{}, faults: &FileError{Path: src.path}}
	if want.as != nil {
		t.layout = *want.as
		defer func() { *want.as = t.layout }()
	}
	if t.names == nil {
		known := slices.IndexFunc(readers, func(r reader) bool { return r.is(src.text) })
		t.reader = readers[known].read
		defer func() { t.form += src.written() }()
	}
	err = t.reader(t, src.text, want)
	if doubt := src.doubtful(); doubt != "" {
		t.warnings = append(t.warnings, cause.Coding.New("%s %s", filepath.Base(src.path), doubt))
	}
	t.end()
	if faults := t.faults.err(); faults != nil && !errors.Is(err, faults) {
		err = errors.Join(err, faults)
	}
	return t, err
}
