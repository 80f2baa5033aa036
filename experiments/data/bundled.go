package data

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
)

// bundled reads the training or the test cases of a bundled set.
func bundled(s sets.Set, test bool) (tables.Source, error) {
	name, text, err := s.File(test)
	if err != nil {
		return tables.Source{}, err
	}
	return tables.Decode(name, bytes.NewReader(text), tables.UTF8, tables.MaxText, 0)
}

// within returns a path that is relative to dir unless it is absolute.
func within(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// openTest opens a file of test cases or, if there is no such file, the test cases of a bundled
// set. A relative path starts in dir.
func openTest(dir, path string, how tables.Reading) (tables.Source, error) {
	src, err := tables.Open(within(dir, path), how)
	if errors.Is(err, fs.ErrNotExist) {
		set, unknown := sets.Lookup(path)
		if unknown == nil {
			return bundled(set, true)
		}
		err = fmt.Errorf("%w; %w", err, unknown)
	}
	return src, err
}

// truthOf returns Data.Truth for a generated set; nil if the inputs or labels of d are not the
// generated ones.
func truthOf(set sets.Set, d *Data) func(x []float64) []float64 {
	var places []int
	for _, class := range d.Classes {
		places = append(places, slices.IndexFunc(set.Classes, func(c Count) bool { return c.Class == class }))
	}
	if !slices.Equal(d.ColumnNames, cells.Positional(set.Features)) || d.Schema.Label.Name != "label" ||
		len(places) != len(set.Classes) || slices.Contains(places, -1) {
		return nil
	}
	return func(x []float64) []float64 {
		truth := set.Truth(x)
		switch len(places) {
		case 0:
			return truth
		case 2:
			truth = []float64{1 - truth[0], truth[0]}
		}
		return Pick(truth, places)
	}
}
