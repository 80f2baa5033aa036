package data

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
)

// Spec is the data section of an experiment. The zero value of a key means its default.
type Spec struct {
	Dataset string `yaml:"dataset"` // a bundled set
	Train   string `yaml:"train"`   // or a file
	// Test is a file or, if no such file exists, a bundled set, whose test cases are used if it has
	// any.
	Test     string       `yaml:"test"`
	Label    cells.Name   `yaml:"label"`    // default: the last column (zip.train, svmlight: the first)
	Columns  Columns      `yaml:"columns"`  // the inputs, in this order; default: all columns without another role
	Drop     []cells.Name `yaml:"drop"`     // columns to leave out
	ID       []cells.Name `yaml:"id"`       // columns that only identify cases
	Group    cells.Name   `yaml:"group"`    // cases of equal group are never in both parts of a split
	Weights  cells.Name   `yaml:"weights"`  // column of case weights; weight 0 leaves a case out
	Counts   Counts       `yaml:"counts"`   // makes the label of the successes in trials
	Classes  []cells.Name `yaml:"classes"`  // keep only cases with these labels
	Positive cells.Name   `yaml:"positive"` // of two classes the one coded +1; default: the last in natural order
	Order    []cells.Name `yaml:"order"`    // all classes, the lowest first; default: natural order
	Above    *float64     `yaml:"above"`    // makes two classes from a numeric label: "not above 25", "above 25"
	Missing  string       `yaml:"missing"`  // error (default), drop (the case), mean, median
	// Categorical is error (default), one_hot, or kernel: one column per category, for kernel
	// hamming.
	Categorical string `yaml:"categorical"`
	// MissingValues are further texts that stand for a missing value, exactly as written in the
	// data.
	MissingValues []cells.Name `yaml:"missing_values"`
	// MissingIndicators adds, for each input with missing values and with mean or median, an input
	// "NAME is missing" that is 1 if the value is missing and else 0.
	MissingIndicators bool   `yaml:"missing_indicators"`
	Unlabelled        string `yaml:"unlabelled"` // cases without a label: error (default), drop
	// IgnoreCase lists the columns in which texts that differ only in letter case are equal.
	IgnoreCase IgnoreCase `yaml:"ignore_case"`
	// Duplicates is independent (default), or together: cases with equal inputs form a group,
	// whatever their labels.
	Duplicates string `yaml:"duplicates"`
	// Categories lists inputs whose values are names even if they are numbers. categorical
	// determines their treatment, here one_hot by default.
	Categories []cells.Name `yaml:"categories"`
	Decimal    string       `yaml:"decimal"` // point or comma: numbers as in 1,234.5 or 1.234,5 (see ParseNumber)
	// Encoding is the encoding of the files train and test: utf-8 (default), windows-1252 and
	// others. A byte-order mark overrides it.
	Encoding string `yaml:"encoding"`
	// Subsample keeps this many training cases, stratified, drawn with the seed.
	Subsample int `yaml:"subsample" within:"[2,inf]"`
	// Preprocess is none (default), standardize or whiten, and may give the cases to fit it on.
	Preprocess preprocess.Choice `yaml:"preprocess"`

	// Regression requests numeric labels instead of classes. The likelihood of an experiment sets
	// it.
	Regression bool `yaml:"-"`
}

// Columns lists the names of the inputs, or gives the meaning of some inputs by their names.
type Columns struct {
	Chosen    []cells.Name       // inputs in this order; none: all columns without another role
	Described map[string]Meaning // meanings of inputs
}

// List and Map return pointers to the fields for a list and a mapping.
func (c *Columns) List() any { return &c.Chosen }
func (c *Columns) Map() any  { return &c.Described }

// described lists the names of the inputs with a meaning, in order.
func (c Columns) described() (names []cells.Name) {
	for _, name := range slices.Sorted(maps.Keys(c.Described)) {
		names = append(names, cells.Name(name))
	}
	return names
}

// Counts names the columns of rows that each stand for several trials with the same inputs, as in
// the binomial distribution. A row with s successes in t trials is two cases: one of class
// "success" and weight s, one of class "failure" and weight t - s. The log likelihood of both is
// the log likelihood of the row less log (t choose s), which does not depend on hyperparameters.
// Cases of weight 0 are left out. The cases of a row are a group, which no split divides, and have
// the numbers 2r and 2r + 1 for row r.
type Counts struct {
	Successes cells.Name `yaml:"successes"` // numbers from 0 to the trials, whole or not
	// Trials is a column of numbers of 0 or more; none: 1 each, and successes are probabilities.
	Trials cells.Name `yaml:"trials"`
}

// Problem is a mistake in one key of the data section, with its remedy.
type Problem struct{ Key, Message string }

// Problems is an error that lists all mistakes, one per line.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, q := range p {
		lines[i] = "data." + q.Key + ": " + q.Message
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) add(key, format string, args ...any) {
	*p = append(*p, Problem{key, fmt.Sprintf(format, args...)})
}

// problem is the error for a single problem.
func problem(key, format string, args ...any) error {
	return Problems{{key, fmt.Sprintf(format, args...)}}
}

// MaxClasses is also the maximum number of levels of a categorical input; a column with more is
// treated as a mistake.
const MaxClasses = 100

// Values of missing and categorical; the first is the default.
var (
	missingModes     = []string{"error", "drop", "mean", "median"}
	categoricalModes = []string{"error", "one_hot", "kernel"}
	unlabelledModes  = []string{"error", "drop"}
	duplicateModes   = []string{"independent", "together"}
)

// Choices returns the values of keys with few possible values; the first is the default.
func Choices() map[string][]string {
	return map[string][]string{
		"missing": missingModes, "categorical": categoricalModes, "preprocess": preprocess.Table.Names(),
		"unlabelled": unlabelledModes, "decimal": cells.DecimalModes, "duplicates": duplicateModes,
		"encoding": tables.Encodings(),
	}
}

// Check finds the mistakes that are visible without reading a file.
func (s Spec) Check() Problems {
	var p Problems
	switch {
	case s.Dataset != "" && s.Train != "":
		p.add("train", "dataset and train are both given; keep one")
	case s.Dataset == "" && s.Train == "":
		p.add("dataset", "neither dataset nor train is given; name a bundled set or a file")
	case s.Dataset != "":
		if _, err := sets.Lookup(s.Dataset); err != nil {
			p.add("dataset", "%v; a file goes under train", err)
		}
	}
	if len(s.Categories) > 0 && s.Categorical == "error" {
		p.add("categories", "categorical: error refuses categories; remove it, or set categorical: one_hot")
	}
	if len(s.Columns.Chosen) > 0 && len(s.Drop) > 0 {
		p.add("drop", "columns and drop are both given; keep columns, which excludes all others")
	}
	p = append(p, overlaps(s.uses())...)
	for _, of := range []struct{ key, value string }{{"missing", s.Missing}, {"categorical", s.Categorical},
		{"unlabelled", s.Unlabelled}, {"decimal", s.Decimal}, {"duplicates", s.Duplicates},
		{"encoding", s.Encoding}} {
		if choices := Choices()[of.key]; of.value != "" && !slices.Contains(choices, of.value) {
			p.add(of.key, "unknown value %q%s", of.value, registry.Suggest(of.value, choices))
		}
	}
	if s.Group != "" && s.Duplicates == "together" {
		p.add("duplicates", "together makes groups of equal inputs, and group names groups; keep one of the two")
	}
	if s.MissingIndicators && s.Missing != "mean" && s.Missing != "median" {
		p.add("missing_indicators", "needs missing: mean or median")
	}
	if err := s.Preprocess.Check(); err != nil {
		p.add("preprocess", "%v", err)
	}
	p = append(append(p, s.checkMeanings()...), s.checkCounts()...)
	if s.Subsample < 0 || s.Subsample == 1 {
		p.add("subsample", "%d is too few; take at least 2 cases, or leave the key out to use all", s.Subsample)
	}
	if s.Categorical == "kernel" && s.Preprocess.Method() == "whiten" {
		p.add("preprocess", "whiten would mix categories with numbers; with categorical: kernel take standardize, or "+
			"set categorical: one_hot")
	}
	return append(append(p, s.checkClasses()...), s.checkThreshold()...)
}

// checkMeanings checks the meanings of inputs.
func (s Spec) checkMeanings() (p Problems) {
	dates := map[cells.Name]*cells.Date{}
	for name, of := range s.Columns.Described {
		dates[cells.Name(name)] = of.Date
	}
	for _, name := range s.Columns.described() {
		of := s.Columns.Described[string(name)]
		switch {
		case name == "":
			p.add("columns", "a column has no name; write it, or its number from 1")
		case of.check() != nil:
			p.add("columns", "%q: %v", name, of.check())
		case of.Date != nil:
			if err := of.Date.CheckSince(name, dates); err != nil {
				p.add("columns", "the date %q: %v", name, err)
			}
		case of.Ordered != nil:
			p = append(p, checkOrder(name, texts(of.Ordered))...)
		}
	}
	return p
}

// checkOrder checks the order of an input.
func checkOrder(name cells.Name, of []string) (p Problems) {
	if len(of) < 2 {
		p.add("columns", "the order of %q has %s; write all values, the lowest first, as in {%s: {ordered: "+
			"[never, sometimes, often]}}", name, cells.Several(len(of), "value"), name)
	}
	for i, text := range of {
		if slices.Contains(of[:i], text) {
			p.add("columns", "%q occurs twice in the order of %q; remove one", text, name)
		}
	}
	return p
}

// texts converts names to strings for comparison.
func texts(names []cells.Name) (out []string) {
	for _, n := range names {
		out = append(out, strings.TrimSpace(string(n)))
	}
	return out
}

// label returns the column of the label, as far as it is known without the file.
func (s Spec) label() Column {
	return Column{Name: string(s.Label), IgnoreCase: s.IgnoreCase.All || slices.Contains(s.IgnoreCase.Columns, s.Label)}
}

// checkCounts checks counts, and keys that they exclude.
func (s Spec) checkCounts() (p Problems) {
	if s.Counts == (Counts{}) {
		return nil
	}
	if s.Counts.Successes == "" {
		p.add("counts", "names no column of successes; write {successes: COLUMN, trials: COLUMN}, or {successes: "+
			"COLUMN} for probabilities")
	}
	for _, c := range []struct {
		key   string
		given bool
	}{{"label", s.Label != ""}, {"above", s.Above != nil}, {"classes", len(s.Classes) > 0},
		{"positive", s.Positive != ""}, {"order", len(s.Order) > 0}, {"unlabelled", s.Unlabelled != ""}} {
		if c.given {
			p.add(c.key, "counts are the label, with the classes failure and success; remove one of the two")
		}
	}
	if s.Subsample > 0 {
		p.add("subsample", "would separate the successes of a row from its failures; take a part of the file instead")
	}
	return p
}

// checkClasses checks classes, order and positive.
func (s Spec) checkClasses() (p Problems) {
	kept := s.canonicalNames(s.Classes...)
	switch {
	case len(kept) == 1 && slices.Contains([]string{"one_vs_rest", "joint"}, kept[0]):
		p.add("classes", "names the classes to keep; the models of several classes are a key of "+
			"model: {classes: %s}", kept[0])
	case len(kept) == 1:
		p.add("classes", "keeps %q alone; name at least two classes", kept[0])
	}
	if len(kept) > MaxClasses {
		p.add("classes", "keeps %d classes; the limit is %d", len(kept), MaxClasses)
		kept = kept[:MaxClasses]
	}
	for key, names := range map[string][]string{"classes": kept, "order": s.canonicalNames(s.Order...)} {
		for i, c := range names {
			if s.label().place(names[:i])(c) >= 0 {
				p.add(key, "%q occurs twice; remove one", c)
			}
		}
	}
	if len(s.Order) > 0 && s.Positive != "" {
		p.add("positive", "order says which of the classes is the last; remove one of the two")
	}
	positive := s.canonicalNames(s.Positive)[0]
	switch {
	case positive == "" || len(kept) == 0:
	case s.label().place(kept)(positive) < 0:
		p.add("positive", "%q is not among classes%s", positive, registry.Suggest(positive, kept))
	case len(kept) > 2:
		p.add("positive", "only two classes have a positive one, and classes keeps %d; remove positive", len(kept))
	}
	return p
}

// checkThreshold checks above, and keys that exclude numeric labels.
func (s Spec) checkThreshold() (p Problems) {
	if s.Above != nil && (math.IsNaN(*s.Above) || math.IsInf(*s.Above, 0)) {
		p.add("above", "%v is not a threshold; write a finite number", *s.Above)
	}
	if s.Above != nil && len(s.Classes) > 0 {
		p.add("classes", "above makes the classes; remove one of the two")
	}
	if s.Above != nil && len(s.Order) > 0 {
		p.add("order", "above makes the classes, and their order; remove one of the two")
	}
	if !s.Regression {
		return p
	}
	for _, c := range []struct {
		key   string
		given bool
	}{{"above", s.Above != nil}, {"classes", len(s.Classes) > 0}, {"positive", s.Positive != ""},
		{"order", len(s.Order) > 0}, {"counts", s.Counts != Counts{}}} {
		if c.given {
			p.add(c.key, "this likelihood takes numeric labels, which have no classes; "+
				"remove the key, or take a likelihood of classes")
		}
	}
	return p
}

// categorical returns the treatment of categories.
func (s Spec) categorical() string {
	if s.Categorical == "" && len(s.Categories) > 0 {
		return "one_hot"
	}
	return s.Categorical
}

// use is a column named by a key.
type use struct{ key, column string }

// described is the key of inputs whose meaning is given.
const described = "columns (a mapping)"

// uses lists the columns named by keys, in the order of the keys.
func (s Spec) uses() (all []use) {
	for _, k := range []struct {
		key   string
		names []cells.Name
	}{{"label", []cells.Name{s.Label}}, {"columns", s.Columns.Chosen}, {"drop", s.Drop}, {"id", s.ID},
		{"group", []cells.Name{s.Group}}, {"weights", []cells.Name{s.Weights}},
		{"counts", []cells.Name{s.Counts.Successes, s.Counts.Trials}}, {"categories", s.Categories},
		{described, s.Columns.described()}, {"ignore_case", s.IgnoreCase.Columns}} {
		for _, n := range k.names {
			if n != "" {
				all = append(all, use{k.key, strings.TrimSpace(string(n))})
			}
		}
	}
	return all
}

// overlaps finds columns that are named twice. Only an id may also be the group, and an input also
// one of the categories.
func overlaps(uses []use) (p Problems) {
	first := map[string]string{}
	for _, u := range uses {
		switch key, seen := first[u.column]; {
		case !seen:
			first[u.column] = u.key
		case key == u.key:
			p.add(u.key, "column %q occurs twice; remove one", u.column)
		case u.key == "ignore_case": // of a column with another role
		case key == "columns" && (u.key == "categories" || u.key == described): // inputs with more information
		case key != "id" || u.key != "group":
			p.add(u.key, "column %q is already used as %s; keep one", u.column, key)
		}
	}
	return p
}

// canonicalNames returns labels in canonical form.
func (s Spec) canonicalNames(names ...cells.Name) []string {
	out := texts(names)
	for i, text := range out {
		out[i] = cells.Canonical(text, s.Decimal)
	}
	return out
}
