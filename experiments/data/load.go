package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Data is a set of cases ready to be split and preprocessed.
type Data struct {
	Name        string     // of the bundled set, or of the training file without folder and extensions
	Form        string     // how the file was read, for people
	X           *mat.Dense // n×d; NaN where a value is missing and the specification imputes it
	ColumnNames []string   // d
	Classes     []string   // in order; of two classes the second is +1. None for numeric labels
	Labels      []int      // n indices into Classes; none for numeric labels
	Targets     []float64  // n numeric labels; none for classes
	Groups      []string   // n, or none; of the training data only
	IDs         []IDColumn // columns carried through
	Rows        []int      // n 0-based rows of the file, header, comments and blank lines not counted
	Test        *Data      // the test file's cases, with the same columns and classes; may be nil
	// Truth is what is true at raw inputs where that is known, which it is of sets that are drawn: the probabilities of the classes,
	// or the mean of a numeric label.
	Truth    func(x []float64) []float64
	Schema   *Schema // how to read more files of this kind
	Hash     string  // SHA-256 of everything that results can depend on (values, labels, names, groups, rows), Test included, in hexadecimal
	Citation string  // of a bundled set
	Licence  string  // of a bundled set
	Warnings []string
}

// IDColumn is a column that only identifies cases.
type IDColumn struct {
	Name   string
	Values []string
}

// Load reads what s asks for. Relative paths are relative to dir; seed draws the subsample. A fault of s is a Problems
// error, one of a file a *FileError; several come joined.
//
// The classes are those of the training data, in natural order, and are numbered in it; of two, the second is the one
// coded +1, which positive can choose. In classification a label with more than 100 different values, or with numbers
// that are not whole, is taken for a numeric one and refused, unless above makes two classes of it. A class of the test
// data that the training data lack is an error. The levels of categorical columns come from the whole training file; a
// level that only the test file has is all zeros, with a warning; a missing one is missing in all of its indicators.
func Load(s Spec, dir string, seed uint64) (*Data, error) {
	if p := s.Check(); len(p) > 0 {
		return nil, p
	}
	train, test, err := s.open(dir)
	if err != nil {
		return nil, err
	}
	if set, err := Lookup(s.Dataset); err == nil && set.toy != nil {
		s.ID = slices.Concat(s.ID, set.toy.unnamed(s))
	}
	d, err := s.readTrain(train)
	if err != nil {
		return nil, err
	}
	d.Name = s.Dataset
	if set, err := Lookup(s.Dataset); err == nil {
		d.Citation, d.Licence = set.Citation, set.Licence
		if set.toy != nil {
			d.Truth = set.toy.known(set, d)
		}
	} else {
		d.Name, _, _ = strings.Cut(filepath.Base(s.Train), ".")
	}
	if s.Subsample > 0 {
		if d, err = d.subsample(s.Subsample, seed); err != nil {
			return nil, err
		}
	}
	if test != nil {
		if d.Test, err = d.Schema.read(*test, true); err != nil {
			return nil, err
		}
		d.Test.Name, d.Test.Citation, d.Test.Licence = d.Name, d.Citation, d.Licence
	}
	d.Hash = d.hash()
	return d, nil
}

// open finds the training and the test file. Test is nil if there is none.
func (s Spec) open(dir string) (train source, test *source, err error) {
	set, _ := Lookup(s.Dataset)
	var faults error
	file := func(key, path string, bundled func() (source, error)) source {
		src, err, whole, start := source{}, error(nil), path, ""
		if path != "" && !filepath.IsAbs(path) {
			whole = filepath.Join(dir, path)
			if from, err := filepath.Abs(dir); err == nil {
				start = "; relative paths begin at " + from
			}
		}
		if path == "" {
			src, err = bundled()
		} else {
			src, err = open(whole)
		}
		var absent *fs.PathError
		if errors.As(err, &absent) {
			err = Problems{{key, fmt.Sprintf("cannot read %s (%v)%s", path, absent.Err, start)}}
		}
		faults = errors.Join(faults, err)
		return src
	}
	train = file("train", s.Train, set.openTrain)
	path, bundled := s.Test, set.openTest
	given := path != "" || set.hasTest()
	if other, err := Lookup(path); err == nil {
		if _, err := os.Stat(filepath.Join(dir, path)); errors.Is(err, fs.ErrNotExist) {
			path, bundled = "", other.openTest
		}
	}
	if given {
		src := file("test", path, bundled)
		test = &src
	}
	return train, test, faults
}

// Files are the paths of what it reads and does not come along, relative ones being in dir.
func (s Spec) Files(dir string) (files []string) {
	for _, path := range []string{s.Train, s.Test} {
		if path != "" && !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() { // else it names a bundled set
			files = append(files, path)
		}
	}
	return files
}

// hasTest says whether there are test cases.
func (s Set) hasTest() bool { return s.TestRows > 0 }

// openTrain reads the training cases.
func (s Set) openTrain() (source, error) {
	if s.toy == nil {
		return openBundled(s.Train)
	}
	train, _ := s.toy.files()
	return source{s.Name, train}, nil
}

// openTest reads the test cases, which are the training cases where there are no others.
func (s Set) openTest() (source, error) {
	switch {
	case !s.hasTest():
		return s.openTrain()
	case s.toy == nil:
		return openBundled(s.Test)
	}
	_, test := s.toy.files()
	return source{s.Name + " (test)", test}, nil
}

func openBundled(file string) (source, error) {
	f, err := sets.Open("sets/" + file)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	return decode(file, f, maxText)
}

// readTrain reads the training data.
func (s Spec) readTrain(src source) (*Data, error) {
	var schema *Schema
	var group int
	want := request{missing: s.Missing}
	for _, u := range s.uses(func(n Name) string { return strings.TrimSpace(string(n)) }) {
		want.named = append(want.named, u.column)
	}
	want.named = texts(want.named)
	kept := canonicalNames(s.Classes)
	if len(kept) > 0 {
		want.keep = func(label string) bool { return slices.Contains(kept, label) }
	}
	want.plan = func(t *table) (err error) {
		schema, group, err = s.layout(t)
		return err
	}
	t, err := read(src, want)
	if err != nil {
		return nil, err
	}
	schema.categories(t)
	if err := t.faults.err(); err != nil {
		return nil, err
	}
	labels := t.texts[schema.Label.Index]
	if !s.Regression {
		if schema.Classes, err = s.classes(t, labels, kept); err != nil {
			return nil, err
		}
	}
	d, err := schema.data(t, true)
	if err != nil {
		return nil, err
	}
	if len(t.rows) < 2 {
		t.faults.add(t.lines[0], 0, "is the only case; at least two are needed to train on")
		return nil, t.faults
	}
	if group >= 0 {
		d.Groups = t.texts[group]
	}
	for k, n := range d.Counts() {
		switch {
		case n == 1:
			d.Warnings = append(d.Warnings, fmt.Sprintf("class %q has a single case", d.Classes[k]))
		case n == len(d.Labels):
			t.faults.add(0, 0, "has only cases of class %q%s; at least two classes are needed", d.Classes[k], t.leftOut())
		}
	}
	return d, t.faults.err()
}

// classes finds the classes of the training labels in their order.
func (s Spec) classes(t *table, labels, kept []string) ([]string, error) {
	if s.Above != nil {
		return s.orderClasses([]string{aboveClass(*s.Above, false), aboveClass(*s.Above, true)})
	}
	seen := map[string]bool{}
	for _, l := range labels {
		seen[canonical(l)] = true
	}
	classes := slices.Collect(maps.Keys(seen))
	value := func(c string) float64 { v, _ := parseNumber(c); return v }
	numeric := !slices.ContainsFunc(classes, func(c string) bool { _, ok := parseNumber(c); return !ok })
	slices.SortFunc(classes, func(a, b string) int {
		if numeric && value(a) != value(b) {
			if value(a) < value(b) {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})

	fraction := slices.IndexFunc(classes, func(c string) bool { return value(c) != math.Trunc(value(c)) })
	const wayOut = "above: 25, say, makes two classes of it; likelihood: gaussian takes it as it is; label: names another column"
	name := t.names[t.label]
	switch {
	case numeric && fraction >= 0:
		return nil, Problems{{"label", fmt.Sprintf("column %q is a numeric label (%s, for one), not a class; %s", name, classes[fraction], wayOut)}}
	case len(classes) > maxClasses && numeric:
		return nil, Problems{{"label", fmt.Sprintf("column %q has %d different values, too many for classes (%d); %s", name, len(classes), maxClasses, wayOut)}}
	case len(classes) > maxClasses:
		return nil, Problems{{"label", fmt.Sprintf("column %q has %d different values, too many for classes (%d); name the column that holds the label", name, len(classes), maxClasses)}}
	}
	var p Problems
	for _, k := range kept {
		if !seen[k] {
			p.add("classes", "no case has the label %q%s", k, registry.Suggest(k, slices.Concat(classes, slices.Sorted(maps.Keys(t.passed)))))
		}
	}
	if len(p) > 0 {
		return nil, p
	}
	return s.orderClasses(classes)
}

// orderClasses puts the positive class last.
func (s Spec) orderClasses(classes []string) ([]string, error) {
	if s.Positive == "" {
		return classes, nil
	}
	positive := canonical(strings.TrimSpace(string(s.Positive)))
	switch k := slices.Index(classes, positive); {
	case k < 0:
		return nil, Problems{{"positive", fmt.Sprintf("no class %q%s", positive, registry.Suggest(positive, classes))}}
	case len(classes) > 2:
		return nil, Problems{{"positive", fmt.Sprintf("only two classes have a positive one, and there are %d (%s); remove positive, or keep two by classes", len(classes), list(classes))}}
	default:
		return append(slices.Delete(classes, k, k+1), positive), nil
	}
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

// Subset is the part of d with the given cases, in their order, without Test and Hash. It shares no memory with d that
// either might change.
func (d *Data) Subset(cases []int) *Data {
	part := *d
	_, columns := d.X.Dims()
	part.X = mat.NewDense(len(cases), columns, nil)
	for i, c := range cases {
		part.X.SetRow(i, d.X.RawRowView(c))
	}
	part.Labels, part.Targets = pick(d.Labels, cases), pick(d.Targets, cases)
	part.Groups, part.Rows = pick(d.Groups, cases), pick(d.Rows, cases)
	part.IDs = slices.Clone(d.IDs)
	for k := range part.IDs {
		part.IDs[k].Values = pick(part.IDs[k].Values, cases)
	}
	part.Warnings = slices.Clone(d.Warnings)
	part.Test, part.Hash = nil, ""
	return &part
}

// pick returns the given elements of x; nil of nil.
func pick[T any](x []T, index []int) []T {
	if x == nil {
		return nil
	}
	out := make([]T, len(index))
	for i, k := range index {
		out[i] = x[k]
	}
	return out
}

// subsample keeps n cases in the order of the file, drawn within each class; every class keeps its share of n, rounded
// down or up (by largest remainder, classes with a share below 1 first).
func (d *Data) subsample(n int, seed uint64) (*Data, error) {
	total := len(d.Rows)
	if n >= total {
		d.Warnings = append(d.Warnings, fmt.Sprintf("subsample: %d of %d cases is all of them", n, total))
		return d, nil
	}
	cases := make([][]int, max(1, len(d.Classes)))
	for i := range total {
		k := 0
		if d.Labels != nil {
			k = d.Labels[i]
		}
		cases[k] = append(cases[k], i)
	}
	take, order, left := make([]int, len(cases)), make([]int, len(cases)), n
	for k, of := range cases {
		take[k] = n * len(of) / total
		order[k] = k
		left -= take[k]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		none := func(k int) int { return min(take[k], 1) }
		remainder := func(k int) int { return n * len(cases[k]) % total }
		if none(a) != none(b) {
			return none(a) - none(b)
		}
		return remainder(b) - remainder(a)
	})
	for _, k := range order[:left] {
		take[k]++
	}
	r := rand.New(rand.NewPCG(seed, 0))
	var kept []int
	for k, of := range cases {
		if take[k] == 0 {
			return nil, Problems{{"subsample", fmt.Sprintf("%d of %d cases leave none of class %q; take more", n, total, d.Classes[k])}}
		}
		for _, i := range r.Perm(len(of))[:take[k]] {
			kept = append(kept, of[i])
		}
	}
	slices.Sort(kept)
	return d.Subset(kept), nil
}

// hash digests what results can depend on. Every list is preceded by its length; numbers are their 64 bits, with one
// zero and one NaN.
func (d *Data) hash() string {
	h := sha256.New()
	var buffer []byte
	flush := func() { h.Write(buffer); buffer = buffer[:0] }
	integer := func(v int) { buffer = binary.LittleEndian.AppendUint64(buffer, uint64(v)) }
	float := func(v float64) {
		switch {
		case v == 0:
			v = 0
		case math.IsNaN(v):
			v = math.NaN()
		}
		buffer = binary.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
	}
	write := func(texts []string) {
		integer(len(texts))
		for _, s := range texts {
			integer(len(s))
			buffer = append(buffer, s...)
		}
		flush()
	}
	n, columns := d.X.Dims()
	write(d.ColumnNames)
	write(d.Classes)
	write(d.Groups)
	integer(n)
	integer(columns)
	for i := range n {
		for _, v := range d.X.RawRowView(i) {
			float(v)
		}
		integer(d.Rows[i])
		flush()
	}
	integer(len(d.Labels))
	for _, k := range d.Labels {
		integer(k)
	}
	integer(len(d.Targets))
	for _, v := range d.Targets {
		float(v)
	}
	integer(len(d.IDs))
	for _, c := range d.IDs {
		write(append([]string{c.Name}, c.Values...))
	}
	if d.Truth != nil {
		write([]string{"the truth is known"})
	}
	if d.Test != nil {
		write([]string{d.Test.Hash})
	}
	flush()
	return hex.EncodeToString(h.Sum(nil))
}
