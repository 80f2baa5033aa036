package data

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// names returns names of columns of the input matrix: the ones made from a column of the file.
// Examples are "colour=red" for a level of a categorical input and "visit year" for a part of a
// date. origins has the name of the input for each of them: the column, a part of a date, or an
// indicator of missing values.
func (c Column) names() (names, origins []string) {
	switch {
	case c.Date != nil:
		names, origins = c.Date.InputNames(c.Name)
	case c.Limits:
		names = []string{c.Name, c.Name + " beyond limit"}
		origins = names
	case c.Levels == nil || c.Coded:
		names, origins = []string{c.Name}, []string{c.Name}
	default:
		for _, l := range c.Levels {
			names, origins = append(names, c.Name+"="+l), append(origins, c.Name)
		}
	}
	if c.Gaps {
		name := c.Name + " is missing"
		if names = append(slices.Clone(names), name); c.Levels != nil { // missing is one more level
			name = c.Name
		}
		origins = append(origins, name)
	}
	return names, origins
}

// ColumnNames lists the columns of the input matrix.
func (s *Schema) ColumnNames() (all []string) {
	for _, c := range s.Inputs {
		names, _ := c.names()
		all = append(all, names...)
	}
	return all
}

// Origins returns, for every column of the input matrix, the name of its input.
func (s *Schema) Origins() (all []string) {
	for _, c := range s.Inputs {
		_, origins := c.names()
		all = append(all, origins...)
	}
	return all
}

// From returns, for every column of the input matrix, the column of a file that it is made from, or
// its own name if it is made from two dates.
func (s *Schema) From() (all []string) {
	for _, c := range s.Inputs {
		names, _ := c.names()
		names = slices.Clone(names)
		for k := range names {
			if c.Date == nil || c.Date.Since == "" || k != c.Date.Width()-1 {
				names[k] = c.Name
			}
		}
		all = append(all, names...)
	}
	return all
}

// Sources returns, for every column of the input matrix, a number that is equal for columns made
// from the same category: the indicators of its levels and of missing values; and for sine and
// cosine of one part of a date. coded marks columns that are categories themselves.
func (s *Schema) Sources() (of []int, coded []bool) {
	for _, c := range s.Inputs {
		first := len(of)
		for range c.width() {
			of, coded = append(of, len(of)), append(coded, c.Coded)
		}
		if c.Date != nil {
			for i, k := range c.Date.Sources() {
				of[first+i] = first + k
			}
		}
		if c.Levels != nil { // all have the number of the first
			own := of[len(of)-c.width():]
			for i := range own {
				own[i] = own[0]
			}
		}
	}
	return of, coded
}

// Check validates a schema that comes from outside the program.
func (s *Schema) Check() error {
	taken, names := map[int]string{}, map[string]bool{}
	all := slices.Concat(s.Inputs, s.ID, []Column{s.Label})
	for _, c := range []*Column{s.Weights, s.Trials} {
		if c != nil {
			all = append(all, *c)
		}
	}
	for _, c := range all {
		switch other, twice := taken[c.Index]; {
		case c.Name == "":
			return fmt.Errorf("column %d has no name", c.Index)
		case c.Index < 0 || c.Index >= s.Width:
			return fmt.Errorf("column %q has index %d, want one from 0 to %d", c.Name, c.Index, s.Width-1)
		case twice || names[c.Name]:
			return fmt.Errorf("column %q and column %q are the same", c.Name, cmp.Or(other, c.Name))
		case c.Levels != nil && (len(c.Levels) == 0 || len(c.Levels) > MaxClasses || !ascending(c.Levels)):
			return fmt.Errorf("the levels of column %q must be 1 to %d texts in ascending order", c.Name, MaxClasses)
		case c.Coded && c.Levels == nil:
			return fmt.Errorf("column %q is coded and has no levels", c.Name)
		case c.Order != nil && (len(c.Order) < 2 || c.Levels != nil || !allDifferent(c.Order)):
			return fmt.Errorf("the order of column %q must be two texts or more, all different, and no levels", c.Name)
		}
		if err := s.checkMeaning(c); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		taken[c.Index], names[c.Name] = c.Name, true
	}
	classes := slices.Sorted(slices.Values(s.Classes))
	switch {
	case len(s.Inputs) == 0:
		return errors.New("there are no inputs")
	case len(classes) == 1 || !ascending(classes):
		return fmt.Errorf("the classes %q must be none, or two and more, all different", s.Classes)
	case (s.Counts || s.Trials != nil) && !slices.Equal(s.Classes, classesOfCounts):
		return fmt.Errorf("counts make the classes %q, and there are %q", classesOfCounts, s.Classes)
	case s.Above != nil && len(classes) != 2:
		return fmt.Errorf("above makes two classes, and there are %d", len(classes))
	}
	for _, mode := range []struct {
		what, is string
		have     []string
	}{
		{"missing", s.Missing, missingModes}, {"decimal", s.Decimal, cells.DecimalModes},
		{"encoding", s.Encoding, tables.Encodings()}, {"unlabelled", s.Unlabelled, unlabelledModes},
	} {
		if mode.is != "" {
			if err := registry.Known(mode.what, mode.is, mode.have); err != nil {
				return err
			}
		}
	}
	return nil
}

// allDifferent reports whether no text occurs twice.
func allDifferent(texts []string) bool { return ascending(slices.Sorted(slices.Values(texts))) }

// ascending reports whether the texts are strictly ascending.
func ascending(texts []string) bool {
	return slices.IsSorted(texts) && len(slices.Compact(slices.Clone(texts))) == len(texts)
}

// Imputes reports whether missing inputs are replaced.
func (s *Schema) Imputes() bool { return s.Missing == "mean" || s.Missing == "median" }

// locate finds the columns of the training file in another file t, sets their roles, and returns a
// copy of s with the indices in t. An index is -1 if t has no label, or no svmlight index as large.
func (s *Schema) locate(t *table, labels bool) (*Schema, error) {
	at := *s
	at.Inputs, at.ID, at.Label.IgnoreCase = slices.Clone(s.Inputs), nil, s.IgnoreCase || s.Label.IgnoreCase
	t.roles = make([]role, len(t.Names))
	find, err := s.finder(t, labels)
	if err != nil {
		return nil, err
	}
	var absent []string
	for k := range at.Inputs {
		c := &at.Inputs[k]
		c.IgnoreCase = c.IgnoreCase || s.IgnoreCase
		switch find(c); {
		case c.Index < 0 && !s.Sparse:
			absent = append(absent, c.Name)
		case c.Index < 0:
		case c.Levels != nil:
			t.roles[c.Index] = category
		default:
			t.roles[c.Index] = number
			t.trained(*c)
		}
		t.inputs = append(t.inputs, c.Index)
	}
	for _, c := range s.ID {
		switch find(&c); {
		case c.Index >= 0:
			t.roles[c.Index] = carried
			at.ID = append(at.ID, c)
		case labels:
			absent = append(absent, c.Name)
		default:
			t.Warnings = append(t.Warnings, cause.Columns.New("there is no id column %q, so that none is carried "+
				"through", c.Name))
		}
	}
	for _, of := range []struct {
		column *Column
		role
	}{{s.Weights, weighing}, {s.Trials, trying}} {
		if of.column == nil || !labels && of.role == weighing {
			continue
		}
		c := *of.column
		switch find(&c); {
		case c.Index < 0 && labels:
			absent = append(absent, c.Name)
		case c.Index < 0: // successes need trials
			at.Label.Name = ""
		default:
			t.roles[c.Index] = of.role
		}
	}
	if at.Label.Name == "" {
		at.Label.Index = -1
	} else {
		find(&at.Label)
	}
	switch {
	case at.Label.Index >= 0 && s.Counts:
		t.roles[at.Label.Index], t.counted = succeeding, labels
	case at.Label.Index >= 0:
		t.roles[at.Label.Index] = target
	case labels:
		absent = append(absent, at.Label.Name)
	}
	t.label = at.Label.Index
	if len(absent) > 0 {
		t.Faults.Add(1, 0, "has no column %s, which the training file has; add it, or rename the column that has it",
			cells.List(absent))
		return nil, t.Faults
	}
	return &at, nil
}

// finder returns a function that sets the index of a column of the training file to its position in
// t, or to -1. Columns are found by name if both files have names, else by position, where the
// label may be absent unless it is needed.
func (s *Schema) finder(t *table, labels bool) (find func(c *Column), err error) {
	if t.Sparse != s.Sparse {
		return nil, t.Faults.Refuse("has another format (%s) than the training file; convert one of them", t.Form)
	}
	if s.Header != t.Header {
		t.Warnings = append(t.Warnings,
			cause.Columns.New("only one of this file and the training file has a header; columns are matched "+
				"by position"))
	}
	if s.Sparse || s.Header && t.Header {
		if more := len(t.Names) - s.Width; more > 0 {
			t.Warnings = append(t.Warnings, cause.Columns.New("columns that the training file does not have are "+
				"ignored (%d)", more))
		}
		index := t.index()
		return func(c *Column) {
			j, is := index[c.Name]
			if !is {
				j = -1
			}
			c.Index = j
		}, nil
	}
	label := s.Label.Index
	switch unlabelled := !labels && len(t.Names) == s.Width-1; {
	case unlabelled:
		return func(c *Column) {
			if c.Index == label {
				c.Index = -1
			} else if c.Index > label {
				c.Index--
			}
		}, nil
	case len(t.Names) != s.Width:
		return nil, t.Faults.Refuse("has %s, the training file %d; columns are matched by position, "+
			"because not both files have a header", cells.Several(len(t.Names), "column"), s.Width)
	}
	return func(*Column) {}, nil
}

// Read reads the cases of another file with the same columns: cases to predict. The label may be
// absent; if it is, or is not a class of the training data, Labels is -1 (Targets is NaN). If no
// such file exists, path may name a bundled set; its test cases are read if it has any. An id
// column may be absent too, with a warning.
func (s *Schema) Read(path string) (*Data, error) {
	src, err := openTest("", path, s.reading())
	if err != nil {
		return nil, err
	}
	return s.toPredict(src, nil)
}

// toPredict reads cases to predict: a file, or a part of it after others.
func (s *Schema) toPredict(src tables.Source, as *earlierParts) (*Data, error) {
	d, err := s.read(src, as, false)
	if err == nil && src.Guessed {
		d.Warnings = append(d.Warnings, readAsWestern)
	}
	return d, err
}

// readAsWestern is the warning for cases to predict that are not UTF-8, where the experiment names
// no encoding.
var readAsWestern = cause.Coding.New("the cases are not UTF-8 text, and are read as %s", tables.Western)

// reading returns the options for opening files of cases to predict.
func (s *Schema) reading() tables.Reading {
	return tables.Reading{Encoding: cmp.Or(s.Encoding, tables.UTF8), Guess: s.Encoding == "", Pipe: true}
}

// request returns the request for reading further cases, with labels or to be predicted. No case to
// be predicted is dropped. Its missing inputs are NaN, unless the experiment says error.
func (s *Schema) request(labels bool) readOptions {
	want := readOptions{missing: s.Missing, drop: labels && s.Unlabelled == "drop"}
	want.Decimal, want.Delimiter, want.Predicting = s.Decimal, s.Delimiter, !labels
	want.SetMissing(s.MissingValues)
	if want.Predicting && (want.missing == "" || want.missing == "drop") {
		want.missing = "median"
	}
	want.Unparsed = want.Predicting && want.missing != "error"
	return want
}

// read reads another file, or a part of it after others with the same layout; labels means that
// every case needs a label of a known class.
func (s *Schema) read(src tables.Source, as *earlierParts, labels bool) (*Data, error) {
	want := s.request(labels)
	want.previous = as
	if s.Header {
		for _, c := range slices.Concat(s.Inputs, s.ID, []Column{s.Label}) {
			want.Names = append(want.Names, c.Name)
		}
	}
	var at *Schema
	var place func(class string) int
	if s.Only && labels {
		want.keep = func(class string) bool { return place(class) >= 0 }
	}
	want.plan = func(t *table) (err error) {
		if at, err = s.locate(t, labels); err == nil {
			place = at.Label.place(s.Classes)
		}
		return err
	}
	t, err := read(src, want)
	if err != nil {
		return nil, err
	}
	d, err := at.data(t, labels)
	if err != nil {
		return nil, err
	}
	d.Schema, d.Hash = s, d.hash()
	return d, nil
}

// data converts the cases of t, whose columns s describes.
func (s *Schema) data(t *table, labels bool) (*Data, error) {
	n, columns := len(t.rows), 0
	for _, c := range s.Inputs {
		columns += c.width()
	}
	if n == 0 {
		return nil, t.Faults.Refuse("has no cases%s; add some", t.leftOut())
	}
	if !t.Faults.Fits(n, columns) {
		return nil, t.Faults
	}
	d := &Data{
		Form: t.Form, X: t.numbers.Slice(0, n, 0, len(s.Inputs)).(*mat.Dense), ColumnNames: s.ColumnNames(),
		Classes: s.Classes, Rows: t.rows, Schema: s, Warnings: t.Warnings,
	}
	if t.dropped > 0 {
		d.Warnings = append(d.Warnings, cause.Dropped.Of(t.dropped, "values are missing, and the cases dropped"))
	}
	for _, c := range s.ID {
		d.IDs = append(d.IDs, IDColumn{c.Name, t.texts[c.Index]})
	}
	if d.Weights = t.weights; t.counted {
		for _, row := range t.rows {
			d.Groups = append(d.Groups, fmt.Sprint("row ", row/2+1))
		}
	}
	if t.weightless > 0 {
		d.Warnings = append(d.Warnings, cause.LeftOut.Of(t.weightless, "weights are 0, and the cases left out"))
	}
	if t.unlabelled > 0 {
		d.Warnings = append(d.Warnings, cause.LeftOut.Of(t.unlabelled, "labels are missing, and the cases dropped"))
	}
	if slices.ContainsFunc(s.Inputs, func(c Column) bool {
		return c.Levels != nil || c.Gaps || c.Date != nil || c.Limits
	}) {
		s.indicate(d, t, columns)
	}
	if d.Unread = s.unreadValues(t); labels { // a test file
		for _, u := range d.Unread {
			d.Warnings = append(d.Warnings, u.Notice())
		}
		d.Unread = nil
	}
	switch {
	case s.Counts && !labels:
		d.Trials = t.trials
	case s.Label.Index >= 0:
		s.label(d, t, labels)
	}
	return d, t.Faults.Err()
}

// since returns the times of the column Date.Since, from which days are counted; nil if there is no
// such column.
func (s *Schema) since(c Column, numbers *mat.Dense) []float64 {
	k := slices.IndexFunc(s.Inputs, func(other Column) bool { return other.Name == string(c.Date.Since) })
	if k < 0 {
		return nil
	}
	return mat.Col(nil, k, numbers)
}

// checkMeaning checks the meaning of the values of an input.
func (s *Schema) checkMeaning(c Column) error {
	if c.meaning("") == nil {
		return nil
	}
	of := Meaning{Date: c.Date, Unit: cells.Name(c.Unit), Limits: c.Limits, Duration: c.Duration}
	for _, text := range c.Order {
		of.Ordered = append(of.Ordered, cells.Name(text))
	}
	if err := of.check(); err != nil {
		return err
	}
	switch {
	case c.Levels != nil || s.Sparse:
		return errors.New("its values have a meaning, and it has levels or is of an svmlight file")
	case c.Date == nil:
		return nil
	}
	dates := map[cells.Name]*cells.Date{}
	for _, other := range s.Inputs {
		dates[cells.Name(other.Name)] = other.Date
	}
	return c.Date.CheckSince(cells.Name(c.Name), dates)
}

// indicate adds to d the columns of categorical inputs, of dates and of missing values.
func (s *Schema) indicate(d *Data, t *table, columns int) {
	n, numbers, column := len(t.rows), d.X, 0
	d.X = mat.NewDense(n, columns, nil)
	for k, c := range s.Inputs {
		switch {
		case c.Date != nil:
			c.Date.FillColumns(d.X, column, mat.Col(nil, k, numbers), s.since(c, numbers), t.texts[max(0, c.Index)])
		case c.Limits:
			values := mat.Col(nil, k, numbers)
			d.X.SetCol(column, values)
			d.limits(column+1, values, t.texts[c.Index])
		case c.Levels == nil:
			d.X.SetCol(column, mat.Col(nil, k, numbers))
		case c.Coded:
			d.codes(column, t.texts[c.Index], c)
			t.unknownLevels(c, "the kernel treats them as different from all training cases")
		default:
			d.indicators(column, t.texts[c.Index], c)
			t.unknownLevels(c, "all their indicators are 0")
		}
		if c.Gaps && !c.Coded {
			d.gaps(column, c, t.given(k, c))
		}
		column += c.width()
	}
}

// given returns the numbers of input k. A number is NaN if the value is missing, or if the hour of
// a date is an input and its time is missing.
func (t *table) given(k int, c Column) []float64 {
	values := mat.Col(nil, k, t.numbers.Slice(0, len(t.rows), 0, k+1))
	if c.Date != nil && c.Index >= 0 {
		for i := range values {
			if t.marked[c.Index] && t.texts[c.Index][i] == cells.WithoutTime {
				values[i] = math.NaN()
			}
		}
	}
	return values
}

// gaps sets the indicator after the columns of c to 1 where the value is missing. column is the
// first column of c. For a category, missing is then one more level, and its other indicators
// become 0.
func (d *Data) gaps(column int, c Column, numbers []float64) {
	for i, v := range numbers {
		row := d.X.RawRowView(i)[column : column+c.width()]
		if c.Levels != nil {
			v = row[0]
		}
		if !math.IsNaN(v) {
			continue
		}
		row[len(row)-1] = 1
		if len(c.Levels) > 1 {
			clear(row[:len(row)-1])
		}
	}
}

// unknownLevels notes values of a categorical input that are not among its levels.
func (t *table) unknownLevels(c Column, as string) {
	place := c.place(c.Levels)
	for i, text := range t.texts[c.Index] {
		if text != "" && place(text) < 0 {
			t.unreadCell(c.Index, t.rows[i], t.lines[i], 0, text, "do not occur in the training file: "+as)
		}
	}
}

// codes sets the column of a categorical input to the indices of the levels.
func (d *Data) codes(column int, values []string, c Column) {
	place := c.place(c.Levels)
	for i, v := range values {
		k := place(v)
		switch {
		case k >= 0:
		case v == "":
			k = len(c.Levels)
		default:
			k = len(c.Levels) + 1
		}
		d.X.Set(i, column, float64(k))
	}
}

// indicators sets the columns of a categorical input, NaN where it is missing.
func (d *Data) indicators(column int, values []string, c Column) {
	place := c.place(c.Levels)
	for i, v := range values {
		switch k := place(v); {
		case k >= 0:
			d.X.Set(i, column+k, 1)
		case v == "":
			for k := range c.Levels {
				d.X.Set(i, column+k, math.NaN())
			}
		}
	}
}

// label sets Labels or Targets of d. An unknown label is a fault if labels are needed.
func (s *Schema) label(d *Data, t *table, labels bool) {
	wrong := func(what string, i int, format string, args ...any) {
		if labels {
			t.Faults.Once(fault{what, s.Label.Index}, t.lines[i], 0, format, args...)
		}
	}
	place := s.Label.place(s.Classes)
	unknown, forms := 0, make([][]string, len(s.Classes))
	for i, text := range t.texts[s.Label.Index] {
		if s.Classes == nil || s.Above != nil {
			v, ok := cells.ParseNumber(text, s.Decimal)
			if !ok {
				v = math.NaN()
				wrong("number", i, "label %s; correct it, or take a likelihood of classes, without above",
					cells.WhyNoNumber(text, s.Decimal))
			}
			if s.Classes == nil {
				d.Targets = append(d.Targets, v)
				continue
			}
			if ok {
				text = aboveClass(*s.Above, v > *s.Above)
			}
		}
		k := place(cells.Canonical(text, s.Decimal))
		switch form := s.Label.spelling(text); {
		case k >= 0 && len(forms[k]) < maxAlso && !slices.Contains(forms[k], form):
			forms[k] = append(forms[k], form)
		case k < 0:
			if text != "" {
				unknown++
			}
			wrong("class "+text, i, "class %q does not occur in the training data (%s); correct it, leave the case "+
				"out, or name the classes to keep (classes: […])", text, cells.List(s.Classes))
		}
		d.Labels = append(d.Labels, k)
	}
	for k, written := range forms {
		if len(written) > 1 {
			d.Warnings = append(d.Warnings, cause.Labels.New("class %q is written in several ways, which are one "+
				"class: %s", s.Classes[k], cells.List(written)))
		}
	}
	if unknown > 0 && !labels {
		d.Warnings = append(d.Warnings, cause.Unknown.Of(unknown, "labels are not classes of the training data"))
	}
}

// aboveClass names the two classes of a numeric label.
func aboveClass(threshold float64, above bool) string {
	name := "above " + strconv.FormatFloat(threshold, 'g', -1, 64)
	if !above {
		name = "not " + name
	}
	return name
}

// unreadValues returns the unreadable values, in the order of the inputs.
func (s *Schema) unreadValues(t *table) (all []Unread) {
	for _, c := range s.Inputs {
		if u := t.unread[c.Index]; u != nil && c.Index >= 0 {
			all = append(all, *u)
		}
	}
	return all
}
