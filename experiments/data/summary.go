package data

import (
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
)

// Summary describes a data set for `gpc-tune data`.
type Summary struct {
	Name     string   `json:"name"`
	Form     string   `json:"form"`
	Cases    int      `json:"cases"`
	Inputs   []string `json:"inputs"`
	Classes  []Count  `json:"classes,omitempty"` // in order; of two classes the second is coded +1
	Target   *Range   `json:"target,omitempty"`  // for numeric labels
	Missing  []Gap    `json:"missing,omitempty"` // inputs with missing values
	Groups   int      `json:"groups,omitempty"`  // number of distinct groups
	Hash     string   `json:"hash"`
	Citation string   `json:"citation,omitempty"`
	Licence  string   `json:"licence,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Test     *Summary `json:"test,omitempty"`
}

// Range describes a numeric label.
type Range struct {
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	Median float64 `json:"median"`
}

// Gap counts the missing values of an input.
type Gap struct {
	Input string `json:"input"`
	N     int    `json:"n"`
}

// Describe summarises d and its test data.
func Describe(d *Data) Summary {
	n, columns := d.X.Dims()
	s := Summary{Name: d.Name, Form: d.Form, Cases: n, Inputs: d.ColumnNames, Hash: d.Hash, Citation: d.Citation,
		Licence: d.Licence, Warnings: cause.Texts(d.Warnings)}
	for k, count := range d.Counts() {
		s.Classes = append(s.Classes, Count{Class: d.Classes[k], N: count})
	}
	if d.Targets != nil {
		s.Target = &Range{slices.Min(d.Targets), slices.Max(d.Targets), preprocess.Mean(d.Targets),
			preprocess.Median(d.Targets)}
	}
	for j := range columns {
		gap := Gap{Input: d.ColumnNames[j]}
		for i := range n {
			if math.IsNaN(d.X.At(i, j)) {
				gap.N++
			}
		}
		if gap.N > 0 {
			s.Missing = append(s.Missing, gap)
		}
	}
	s.Groups = len(slices.Compact(slices.Sorted(slices.Values(d.Groups))))
	if d.Test != nil {
		test := Describe(d.Test)
		s.Test = &test
	}
	return s
}

// Abridged lists names, with the middle of a long list left out.
func Abridged(names []string) string {
	const ends = 8
	if len(names) > 2*ends {
		names = slices.Concat(names[:ends], []string{"…"}, names[len(names)-ends:])
	}
	return strings.Join(names, ", ")
}
