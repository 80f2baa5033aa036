package data

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Count is the number of cases of one class.
type Count = sets.Count

// Data is a set of cases, not yet split or preprocessed.
type Data struct {
	Name        string     // name of the bundled set or training file, without folder or extensions
	Form        string     // format of the file, for people
	X           *mat.Dense // n×d; NaN if a value is missing and will be imputed
	ColumnNames []string   // d
	Classes     []string   // in order; the second of two is coded +1. None for numeric labels
	Labels      []int      // n indices into Classes; none for numeric labels
	Targets     []float64  // n numeric labels; none for classes
	Weights     []float64  // n, above 0; none: 1 each
	Groups      []string   // n, or none; test data have groups only with counts
	// Trials has the failures and successes of each of n cases to predict, for data with counts.
	// Unknown numbers are NaN. It is empty if the file does not have them.
	Trials [][2]float64
	IDs    []IDColumn // columns that only identify cases
	Rows   []int      // n row numbers in the file, from 0, not counting header, comments and blank lines
	Test   *Data      // the test cases, with the same columns and classes; may be nil
	// Truth, known for generated sets, maps raw inputs to the true probabilities of the classes, or
	// to the true mean of a numeric label.
	Truth func(x []float64) []float64
	About string // one line: the label, the inputs, and left-out columns with reasons
	// Guessed is set if the specification names no label. Then the last column is the label.
	Guessed bool
	LeftOut []LeftOut // columns of the training file that are neither inputs nor the label
	// OtherClasses lists the classes that the specification leaves out, with their numbers of
	// cases.
	OtherClasses []Count
	Schema       *Schema // how to read more files with these columns
	// Hash is the SHA-256, in hexadecimal, of everything that results can depend on: values,
	// labels, names, groups and rows, of the training and of the test cases.
	Hash     string
	Citation string // citation of a bundled set
	Licence  string // licence of a bundled set
	Warnings []cause.Notice
	// Unread lists values of cases to predict that cannot be read. They are not among the warnings.
	Unread []Unread
}

// LeftOut is a column of the training file that is neither an input nor the label.
type LeftOut struct{ Column, Reason string }

// CheckOrder returns an error unless the classes have an order.
func (d *Data) CheckOrder() error {
	if d.Schema.Ordered || len(d.Classes) <= 2 || cells.AllNumbers(d.Classes) {
		return nil
	}
	return fmt.Errorf("the order of the classes is not known, for they are not numbers; write it, the lowest first, "+
		"as in data: {order: [%s]}", strings.Join(d.Classes, ", "))
}

// IDColumn is a column that only identifies cases.
type IDColumn struct {
	Name   string
	Values []string
}

// Schema records how the columns of a training file became inputs and labels, so that test files
// and cases to predict are read in the same way.
type Schema struct {
	Sparse  bool     `json:"svmlight,omitempty"`
	Header  bool     `json:"header"` // columns are found by name; false: by position
	Width   int      `json:"width"`  // columns of the file
	Inputs  []Column `json:"inputs"`
	Label   Column   `json:"label"`
	ID      []Column `json:"id,omitempty"`
	Weights *Column  `json:"weights,omitempty"` // column of case weights, if any
	Counts  bool     `json:"counts,omitempty"`  // the label is a number of successes
	Trials  *Column  `json:"trials,omitempty"`  // column of the numbers of trials; nil: 1 each
	Classes []string `json:"classes,omitempty"` // in order; none for numeric labels
	Ordered bool     `json:"ordered,omitempty"` // the order of the classes was given
	Only    bool     `json:"only,omitempty"`    // skip cases of other classes
	Above   *float64 `json:"above,omitempty"`
	Missing string   `json:"missing,omitempty"`
	// MissingValues are further texts for a missing value, Unlabelled is the treatment of cases
	// without a label, and Decimal the notation of numbers, all as in Spec.
	MissingValues []string `json:"missing_values,omitempty"`
	Unlabelled    string   `json:"unlabelled,omitempty"`
	Decimal       string   `json:"decimal,omitempty"`
	Encoding      string   `json:"encoding,omitempty"`
	Delimiter     string   `json:"delimiter,omitempty"` // delimiter of the training file
	// IgnoreCase is set in model files of earlier versions, and counts for every column.
	IgnoreCase bool `json:"ignore_case,omitempty"`
}

// Column is one column of a file.
type Column struct {
	Name   string   `json:"name"`
	Index  int      `json:"index"`            // from 0
	Levels []string `json:"levels,omitempty"` // levels of a category: one indicator column each
	// Gaps means that an indicator column follows, which is 1 if the value is missing.
	Gaps bool `json:"gaps,omitempty"`
	// Coded means that the input has one column, with the indices of its levels from 0 on. The next
	// index stands for missing values, and the one after for levels not in the training data.
	Coded bool `json:"coded,omitempty"`
	// Order lists all values of an ordinal input, the lowest first. The input is the rank of a
	// value, from 1.
	Order []string `json:"order,omitempty"`
	// Date describes how the texts are read as dates or times. The inputs are its Parts, and the
	// days from Since.
	Date *cells.Date `json:"date,omitempty"`
	// Unit, Limits and Duration are as in Meaning.
	Unit     string         `json:"unit,omitempty"`
	Limits   bool           `json:"limits,omitempty"`
	Duration cells.TimeUnit `json:"duration,omitempty"`
	Currency string         `json:"currency,omitempty"` // currency of the numbers of the training cases
	Percent  bool           `json:"percent,omitempty"`  // all numbers of the training cases but 0 have a percent sign
	// IgnoreCase treats texts that differ only in letter case as equal.
	IgnoreCase bool `json:"ignore_case,omitempty"`
}

// width returns the number of columns of the input matrix made from a column of the file.
func (c Column) width() int {
	w := max(1, len(c.Levels))
	switch {
	case c.Coded:
		return 1
	case c.Date != nil:
		w = c.Date.Width()
	case c.Limits:
		w = 2
	}
	if c.Gaps {
		w++
	}
	return w
}

// NewCategories returns the names of the columns whose category in a case is no level of the
// training cases. x has the inputs of the case before missing values are replaced. The indicators
// of a new category are all 0; the indicators of a missing one are NaN, or one of them is 1.
func (s *Schema) NewCategories(x []float64) (names []string) {
	for _, c := range s.Inputs {
		values := x[:c.width()]
		x = x[c.width():]
		if c.Levels == nil {
			continue
		}
		isNew := !slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) // NaN is not 0
		if c.Coded {
			isNew = values[0] > float64(len(c.Levels))
		}
		if isNew {
			names = append(names, c.Name)
		}
	}
	return names
}

// Counts is the number of cases of each class.
func (d *Data) Counts() []int {
	counts := make([]int, len(d.Classes))
	for _, k := range d.Labels {
		if k >= 0 {
			counts[k]++
		}
	}
	return counts
}

// subset returns the given cases of d, in their order, without Test and Hash. It shares no mutable
// memory with d.
func (d *Data) subset(cases []int) *Data {
	part := *d
	part.X = PickRows(d.X, cases)
	part.Labels, part.Targets = Pick(d.Labels, cases), Pick(d.Targets, cases)
	part.Groups, part.Rows, part.Weights = Pick(d.Groups, cases), Pick(d.Rows, cases), Pick(d.Weights, cases)
	part.Trials = Pick(d.Trials, cases)
	part.IDs = slices.Clone(d.IDs)
	for k := range part.IDs {
		part.IDs[k].Values = Pick(part.IDs[k].Values, cases)
	}
	part.Warnings = slices.Clone(d.Warnings)
	part.Test, part.Hash = nil, ""
	return &part
}

// Pick returns the elements of x with these indices; nil for nil.
func Pick[T any](x []T, index []int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(index))
	for i, k := range index {
		out[i] = x[k]
	}
	return out
}

// PickRows copies the given rows of x.
func PickRows(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		out.SetRow(i, x.RawRowView(row))
	}
	return out
}

// hash hashes everything that results can depend on. Every list is preceded by its length; numbers
// are hashed as their 64 bits, with one representation of zero and of NaN.
func (d *Data) hash() string {
	digest := sha256.New()
	w := bufio.NewWriter(digest)
	word := func(v uint64) { w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), v)) }
	float := func(v float64) {
		switch {
		case v == 0:
			v = 0 // replaces -0
		case math.IsNaN(v):
			v = math.NaN()
		}
		word(math.Float64bits(v))
	}
	texts := func(list ...string) {
		word(uint64(len(list)))
		for _, s := range list {
			word(uint64(len(s)))
			w.WriteString(s)
		}
	}
	n, columns := d.X.Dims()
	texts(d.ColumnNames...)
	texts(d.Classes...)
	texts(d.Groups...)
	word(uint64(n))
	word(uint64(columns))
	for i := range n {
		for _, v := range d.X.RawRowView(i) {
			float(v)
		}
		word(uint64(d.Rows[i]))
	}
	word(uint64(len(d.Labels)))
	for _, k := range d.Labels {
		word(uint64(k))
	}
	word(uint64(len(d.Targets)))
	for _, v := range d.Targets {
		float(v)
	}
	word(uint64(len(d.IDs)))
	for _, c := range d.IDs {
		texts(append([]string{c.Name}, c.Values...)...)
	}
	if d.Truth != nil {
		texts("the truth is known")
	}
	if d.Weights != nil {
		texts("weights")
		for _, v := range d.Weights {
			float(v)
		}
	}
	if d.Test != nil {
		texts(d.Test.Hash)
	}
	w.Flush()
	return hex.EncodeToString(digest.Sum(nil))
}
