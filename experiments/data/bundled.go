package data

import (
	"bytes"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
)

// bundled reads the training or the test cases of a bundled set.
func bundled(s sets.Set, test bool) (source, error) {
	name, text, err := s.File(test)
	if err != nil || s.Generated() {
		return source{path: name, text: string(text)}, err
	}
	return decode(name, bytes.NewReader(text), utf8Name, maxText, 0)
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
