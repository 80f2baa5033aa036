package query

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
)

// Source interprets a name as a bundled data set if there is one, else as a file.
func Source(name string) (data.Spec, error) {
	_, unknown := sets.Lookup(name)
	if unknown == nil {
		return data.Spec{Dataset: name}, nil
	}
	file, _ := tables.Located(name)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return data.Spec{}, fmt.Errorf("%w, and there is no file of that name", unknown)
	}
	return data.Spec{Train: name}, nil
}

// Described describes a data set and, for a file of columns, its columns.
type Described struct {
	data.Summary
	Table *columns.Table // nil: a bundled set, or a file of another format
}

// Describe summarises a bundled data set, or a file of cases with its columns classified as by
// gpc-tune init. label is the label's column, or empty. Labels that cannot be classes are read as
// numbers. Missing values are counted.
func Describe(name, label string) (out Described, err error) {
	from, err := Source(name)
	if err != nil {
		return out, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	var d *data.Data
	var t *columns.Table
	if from.Dataset == "" {
		t, err = columns.Read(from.Train, label)
	}
	switch {
	case from.Dataset != "" || errors.Is(err, tables.ErrSparse):
		from.Label = cells.Name(label)
		d, err = ReadAny(&from)
	case err == nil:
		out.Table = t
		if t.Inputs() == 0 { // no data set: the reasons of the columns say why
			out.Summary = data.Summary{Name: filepath.Base(name), Form: t.Form, Cases: t.Rows, Classes: t.Classes}
			return out, nil
		}
		d, err = data.Load(t.Spec, ".", 0)
	}
	if err != nil {
		return out, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	out.Summary = data.Describe(d)
	return out, nil
}

// ReadAny reads data whose labels are classes or, if that is impossible, numbers, and sets from
// accordingly. If both fail, the error is the one for classes.
func ReadAny(from *data.Spec) (*data.Data, error) {
	from.Missing = "mean"
	d, err := data.Load(*from, ".", 0)
	if err != nil {
		from.Regression = true
		var asNumbers error
		if d, asNumbers = data.Load(*from, ".", 0); asNumbers != nil {
			from.Regression = false
			return nil, err
		}
	}
	return d, nil
}

// RepartitionUSPS writes the files of data.RepartitionUSPS to dir, compressed by gzip, and returns
// their names.
func RepartitionUSPS(train, test, dir string) (names []string, err error) {
	files, err := data.RepartitionUSPS(train, test)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	return write(files, dir)
}

// Waves writes the files of data.Waves to dir, compressed by gzip, and returns their names.
func Waves(n, inputs int, dir string) (names []string, err error) {
	files, err := data.Waves(n, inputs)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	return write(files, dir)
}

func write(files []data.File, dir string) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name+".gz")
		err := atomicfile.Write(name, func(w io.Writer) error {
			z := gzip.NewWriter(w)
			_, err := z.Write(f.Text)
			return errors.Join(err, z.Close())
		})
		if err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}
