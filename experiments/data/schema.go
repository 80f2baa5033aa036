package data

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Schema says how the columns of a training file became inputs and labels, so that other files are read in the same way:
// the test file, and later the cases to predict.
type Schema struct {
	Sparse  bool     `json:"svmlight,omitempty"`
	Header  bool     `json:"header"` // columns are found by name; without, by place
	Width   int      `json:"width"`  // columns of the file
	Inputs  []Column `json:"inputs"`
	Label   Column   `json:"label"`
	ID      []Column `json:"id,omitempty"`
	Classes []string `json:"classes,omitempty"` // in order; none for numeric labels
	Only    bool     `json:"only,omitempty"`    // cases of other classes are passed over
	Above   *float64 `json:"above,omitempty"`
	Missing string   `json:"missing,omitempty"`
}

// Column is one column of a file.
type Column struct {
	Name   string   `json:"name"`
	Index  int      `json:"index"`            // from 0
	Levels []string `json:"levels,omitempty"` // of a categorical input: one indicator column each
}

// maxClasses is the number of classes, and of levels of a categorical input, beyond which a column is not believed to be
// one.
const maxClasses = 100

// ColumnNames lists the columns of the input matrix; a level of a categorical input is "colour=red".
func (s *Schema) ColumnNames() []string {
	var names []string
	for _, c := range s.Inputs {
		for _, l := range c.Levels {
			names = append(names, c.Name+"="+l)
		}
		if c.Levels == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// Check says what is wrong with a schema that comes from outside the program.
func (s *Schema) Check() error {
	taken, names := map[int]string{}, map[string]bool{}
	for _, c := range slices.Concat(s.Inputs, s.ID, []Column{s.Label}) {
		switch other, twice := taken[c.Index]; {
		case c.Name == "":
			return fmt.Errorf("column %d has no name", c.Index)
		case c.Index < 0 || c.Index >= s.Width:
			return fmt.Errorf("column %q has index %d, want one from 0 to %d", c.Name, c.Index, s.Width-1)
		case twice || names[c.Name]:
			return fmt.Errorf("column %q and column %q are the same", c.Name, cmp.Or(other, c.Name))
		case c.Levels != nil && (len(c.Levels) == 0 || len(c.Levels) > maxClasses || !ascending(c.Levels)):
			return fmt.Errorf("the levels of column %q must be 1 to %d texts in ascending order", c.Name, maxClasses)
		}
		taken[c.Index], names[c.Name] = c.Name, true
	}
	classes := slices.Sorted(slices.Values(s.Classes))
	switch {
	case len(s.Inputs) == 0:
		return errors.New("there are no inputs")
	case len(classes) == 1 || !ascending(classes):
		return fmt.Errorf("the classes %q must be none, or two and more, all different", s.Classes)
	case s.Above != nil && len(classes) != 2:
		return fmt.Errorf("above makes two classes, and there are %d", len(classes))
	case s.Missing != "" && !slices.Contains(missingModes, s.Missing):
		return fmt.Errorf("unknown missing %q%s", s.Missing, registry.Suggest(s.Missing, missingModes))
	}
	return nil
}

// ascending says whether every text is before the next.
func ascending(texts []string) bool {
	for i := range texts[:max(0, len(texts)-1)] {
		if texts[i] >= texts[i+1] {
			return false
		}
	}
	return true
}

// Imputes says whether missing inputs are replaced.
func (s *Schema) Imputes() bool { return s.Missing == "mean" || s.Missing == "median" }

// layout resolves the columns that the specification names in the file t and gives them their roles.
func (s Spec) layout(t *table) (schema *Schema, group int, err error) {
	index := make(map[string]int, len(t.names))
	for j, name := range t.names {
		index[name] = j
	}
	var p Problems
	absent := 0
	resolve := func(key string, n Name) int {
		name := strings.TrimSpace(string(n))
		if j, is := index[name]; is {
			return j
		}
		if j, err := strconv.Atoi(name); err == nil && j >= 1 && j <= len(t.names) {
			return j - 1
		}
		if absent++; absent >= maxFaults { // these are counted below
			return -1
		}
		near, _, _ := strings.Cut(registry.Suggest(name, t.names), " (have ")
		kind := "the file has no header; its columns are named"
		if t.header {
			kind = "the file's columns are"
		}
		p.add(key, "no column %q%s (%s %s, or their numbers)", name, near, kind, list(t.names))
		return -1
	}

	schema = &Schema{Sparse: t.sparse, Header: t.header, Width: len(t.names), Only: len(s.Classes) > 0, Above: s.Above, Missing: s.Missing}
	t.roles, group = make([]role, len(t.names)), -1
	if s.Label != "" {
		t.label = resolve("label", s.Label)
	}
	for _, n := range s.ID {
		if j := resolve("id", n); j >= 0 {
			t.roles[j] = carried
			schema.ID = append(schema.ID, Column{Name: t.names[j], Index: j})
		}
	}
	if s.Group != "" {
		if group = resolve("group", s.Group); group >= 0 {
			t.roles[group] = needed
		}
	}
	inputs := make([]int, 0, len(t.names))
	for _, n := range s.Columns {
		if j := resolve("columns", n); j >= 0 {
			inputs = append(inputs, j)
		}
	}
	dropped := make([]bool, len(t.names))
	for _, n := range s.Drop {
		if j := resolve("drop", n); j >= 0 {
			dropped[j] = true
		}
	}
	if absent >= maxFaults {
		p.add("columns", "and %d more columns that the file does not have", absent-maxFaults+1)
	}
	if len(p) > 0 {
		return nil, -1, p
	}

	if t.sparse {
		for _, u := range s.uses(func(n Name) string { return t.names[resolve("", n)] }) {
			switch {
			case u.key == "label" && u.column != "label":
				p.add("label", "an svmlight file has its label first; remove the key")
			case u.key == "columns" && u.column == "qid", (u.key == "id" || u.key == "group") && u.column != "qid":
				p.add(u.key, "in an svmlight file only qid can be id or group, and only the features inputs; remove %q", u.column)
			}
		}
	}
	if len(p) > 0 {
		return nil, -1, p
	}
	t.roles[t.label] = target
	schema.Label = Column{Name: t.names[t.label], Index: t.label}
	s.Label = Name(schema.Label.Name)
	p = overlaps(s.uses(func(n Name) string { return t.names[resolve("", n)] }))
	if len(s.Columns) == 0 {
		for j, r := range t.roles {
			if r == ignored && !dropped[j] && !(t.sparse && t.names[j] == "qid") {
				inputs = append(inputs, j)
			}
		}
	}
	if len(inputs) == 0 && len(p) == 0 {
		p.add("columns", "no input column is left; the file has %s", list(t.names))
	}
	if len(p) > 0 {
		return nil, -1, p
	}
	for _, j := range inputs {
		t.roles[j] = number
		if s.Categorical == "one_hot" && !t.sparse {
			t.roles[j] = level
		}
		schema.Inputs = append(schema.Inputs, Column{Name: t.names[j], Index: j})
	}
	return schema, group, nil
}

// categories turns the columns read as text (one_hot) into numbers if they hold nothing else, and else finds their levels.
func (s *Schema) categories(t *table) {
	for k := range s.Inputs {
		c := &s.Inputs[k]
		if t.roles[c.Index] != level {
			continue
		}
		texts := t.texts[c.Index]
		values := make([]float64, len(texts))
		text := slices.IndexFunc(texts, func(f string) bool { _, ok := parseNumber(f); return !ok && f != "" })
		if text < 0 {
			for i, f := range texts {
				values[i] = math.NaN()
				if v, ok := parseNumber(f); ok {
					values[i] = v
				}
			}
			t.numbers[c.Index], t.roles[c.Index] = values, number
			continue
		}
		seen := map[string]bool{}
		for _, f := range texts {
			seen[f] = true
		}
		delete(seen, "")
		if len(seen) > maxClasses {
			t.faults.add(t.lines[text], 0, "column %q has %d different texts (%q here), too many for categories (%d); correct it, or name it under drop or id", c.Name, len(seen), texts[text], maxClasses)
		}
		c.Levels = slices.Sorted(maps.Keys(seen))
	}
}

// locate finds the columns of the training file in another file t, gives them their roles, and returns a copy of s with
// the indices of t (-1: an svmlight index that t does not reach, or no label).
func (s *Schema) locate(t *table, labels bool) (*Schema, error) {
	at := *s
	at.Inputs, at.ID = slices.Clone(s.Inputs), nil
	t.roles = make([]role, len(t.names))
	if t.sparse != s.Sparse {
		t.faults.add(0, 0, "is in another form (%s) than the training file; one of the two must be converted", t.form)
		return nil, t.faults
	}
	named := s.Sparse || s.Header && t.header
	unlabelled := !named && !labels && len(t.names) == s.Width-1
	if !named && len(t.names) != s.Width && !unlabelled {
		t.faults.add(0, 0, "has %d columns, the training file %d; columns are matched by place, because not both files have a header", len(t.names), s.Width)
		return nil, t.faults
	}
	if s.Header != t.header {
		t.warnings = append(t.warnings, "only one of this file and the training file has a header; columns are matched by place")
	}
	index := make(map[string]int, len(t.names))
	for j, name := range t.names {
		index[name] = j
	}
	find := func(c *Column) bool {
		j, is := c.Index, true
		if named {
			j, is = index[c.Name]
		} else if unlabelled && j > s.Label.Index {
			j--
		}
		if !is {
			j = -1
		}
		c.Index = j
		return is
	}

	var absent []string
	for k := range at.Inputs {
		c := &at.Inputs[k]
		switch {
		case !find(c) && !s.Sparse:
			absent = append(absent, c.Name)
		case c.Index < 0:
		case c.Levels != nil:
			t.roles[c.Index] = level
		default:
			t.roles[c.Index] = number
		}
	}
	for _, c := range s.ID {
		switch {
		case find(&c):
			t.roles[c.Index] = carried
			at.ID = append(at.ID, c)
		case labels:
			absent = append(absent, c.Name)
		default:
			t.warnings = append(t.warnings, fmt.Sprintf("there is no id column %q, so that none is carried through", c.Name))
		}
	}
	if unlabelled || !find(&at.Label) {
		if at.Label.Index = -1; labels {
			absent = append(absent, at.Label.Name)
		}
	} else {
		t.roles[at.Label.Index] = target
	}
	t.label = at.Label.Index
	if len(absent) > 0 {
		t.faults.add(1, 0, "has no column %s, which the training file has; add it, or rename what stands for it", list(absent))
		return nil, t.faults
	}
	if named && len(t.names) > s.Width {
		t.warnings = append(t.warnings, fmt.Sprintf("%d columns more than in the training file, not used", len(t.names)-s.Width))
	}
	return &at, nil
}

// Read reads the cases of another file with the same columns: cases to predict. The label may be absent; where it is, or
// is no class of the training data, Labels is -1 (Targets is NaN). Where there is no file of that name, path may name a
// bundled set, and means its test file if it has one. An id column may be absent too, with a warning.
func (s *Schema) Read(path string) (*Data, error) {
	src, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		set, unknown := Lookup(path)
		if unknown != nil {
			return nil, fmt.Errorf("%w; %w", err, unknown)
		}
		src, err = set.openTest()
	}
	if err != nil {
		return nil, err
	}
	return s.read(src, false)
}

// read reads another file; labels says whether every case needs the label of a known class.
func (s *Schema) read(src source, labels bool) (*Data, error) {
	want := request{missing: s.Missing, loose: !labels}
	if s.Header {
		for _, c := range slices.Concat(s.Inputs, s.ID, []Column{s.Label}) {
			want.named = append(want.named, c.Name)
		}
		want.named = texts(want.named)
	}
	if s.Only && labels {
		want.keep = func(label string) bool { return slices.Contains(s.Classes, label) }
	}
	var at *Schema
	want.plan = func(t *table) (err error) {
		at, err = s.locate(t, labels)
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

// texts leaves out what is a number, which does not show that a line is a header.
func texts(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { _, is := parseNumber(n); return is })
}

// data makes the cases of t, whose columns s describes.
func (s *Schema) data(t *table, labels bool) (*Data, error) {
	n, columns := len(t.rows), 0
	for _, c := range s.Inputs {
		columns += max(1, len(c.Levels))
	}
	if n == 0 {
		t.faults.add(0, 0, "holds no case%s; give it some", t.leftOut())
		return nil, t.faults
	}
	if !t.fits(n, columns) {
		return nil, t.faults
	}
	names := s.ColumnNames()
	d := &Data{Form: t.form, X: mat.NewDense(n, len(names), nil), ColumnNames: names, Classes: s.Classes, Rows: t.rows, Schema: s, Warnings: t.warnings}
	if t.dropped > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d cases with missing values were dropped", t.dropped))
	}
	for _, c := range s.ID {
		d.IDs = append(d.IDs, IDColumn{c.Name, t.texts[c.Index]})
	}
	column := 0
	for _, c := range s.Inputs {
		switch {
		case c.Levels != nil:
			if unseen := d.indicate(column, t.texts[c.Index], c.Levels); unseen > 0 {
				d.Warnings = append(d.Warnings, fmt.Sprintf("%d cases have a value of %q that the training file has not; all its indicators are 0", unseen, c.Name))
			}
			column += len(c.Levels)
		case c.Index < 0:
			column++
		default:
			for i, v := range t.numbers[c.Index] {
				d.X.Set(i, column, v)
			}
			column++
		}
	}
	if s.Label.Index >= 0 {
		s.label(d, t, labels)
	}
	return d, t.faults.err()
}

// leftOut explains where the cases of t went.
func (t *table) leftOut() string {
	var why []string
	if t.dropped > 0 {
		why = append(why, fmt.Sprintf("%d dropped for missing values", t.dropped))
	}
	if len(t.passed) > 0 {
		why = append(why, "classes passed over: "+list(slices.Sorted(maps.Keys(t.passed))))
	}
	if why == nil {
		return ""
	}
	return " (" + strings.Join(why, "; ") + ")"
}

// indicate sets the indicator columns of a categorical input, NaN where it is missing, and counts unknown levels.
func (d *Data) indicate(column int, values, levels []string) (unseen int) {
	for i, v := range values {
		k, known := slices.BinarySearch(levels, v)
		switch {
		case known:
			d.X.Set(i, column+k, 1)
		case v == "":
			for k := range levels {
				d.X.Set(i, column+k, math.NaN())
			}
		default:
			unseen++
		}
	}
	return unseen
}

// label sets Labels or Targets of d. What is not known is a fault if labels are needed.
func (s *Schema) label(d *Data, t *table, labels bool) {
	fault := func(i int, format string, args ...any) {
		if labels {
			t.faults.add(t.lines[i], 0, format, args...)
		}
	}
	index := make(map[string]int, len(s.Classes))
	for k, c := range s.Classes {
		index[c] = k
	}
	unknown := 0
	for i, text := range t.texts[s.Label.Index] {
		if s.Classes == nil || s.Above != nil {
			v, ok := parseNumber(text)
			if !ok {
				v = math.NaN()
				fault(i, "label %s; correct it, or take a likelihood of classes, without above", notNumber(text))
			}
			if s.Classes == nil {
				d.Targets = append(d.Targets, v)
				continue
			}
			if ok {
				text = aboveClass(*s.Above, v > *s.Above)
			}
		}
		k, is := index[canonical(text)]
		if !is {
			k = -1
			unknown++
			fault(i, "class %q does not occur in the training data (%s); correct it, leave the case out, or name the classes to keep (classes: […])", text, list(s.Classes))
		}
		d.Labels = append(d.Labels, k)
	}
	if unknown > 0 && !labels {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d cases have no label of the training data's classes", unknown))
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
