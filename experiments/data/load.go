package data

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Load reads the data that s specifies. Relative paths start in dir; seed determines the subsample.
// A mistake in s is a Problems error, a problem of a file a *FileError; several errors are joined.
//
// The classes are the labels of the training data. They are numbered in natural order, or in the
// order of the key order. The second of two classes is coded +1, and the key positive can select
// it. For classification, a label with more than 100 distinct values, or with non-integer numbers,
// is considered numeric and refused, unless above makes two classes from it. A class that occurs
// only in the test data is an error. A categorical column has the levels of the whole training
// file. A level that occurs only in the test file becomes all zeros, with a warning; a missing
// value is missing in all indicators of the column.
func Load(s Spec, dir string, seed uint64) (*Data, error) {
	if p := s.Check(); len(p) > 0 {
		return nil, p
	}
	train, test, err := s.open(dir)
	if err != nil {
		return nil, err
	}
	set, _ := sets.Lookup(s.Dataset) // the zero value if files are read
	s.ID = slices.Concat(s.ID, unnamedTruth(s, set.TruthColumns()))
	d, err := s.readTrain(train)
	if err != nil {
		return nil, err
	}
	d.Name, d.Citation, d.Licence = set.Name, set.Citation, set.Licence
	if s.Dataset == "" {
		file, _ := tables.Located(within(dir, s.Train))
		d.Name, _, _ = strings.Cut(filepath.Base(file), ".")
	}
	if set.Generated() {
		d.Truth = truthOf(set, d)
	}
	if s.Subsample > 0 {
		if d, err = d.subsample(s.Subsample, seed); err != nil {
			return nil, err
		}
	}
	if test != nil {
		if d.Test, err = d.Schema.read(*test, nil, true); err != nil {
			return nil, err
		}
		d.Test.Name, d.Test.Citation, d.Test.Licence = d.Name, d.Citation, d.Licence
	}
	d.About = d.about(s)
	d.Hash = d.hash()
	return d, nil
}

// open opens the training and the test file. test is nil if there is none.
func (s Spec) open(dir string) (train tables.Source, test *tables.Source, err error) {
	set, _ := sets.Lookup(s.Dataset)
	if s.Train == "" {
		train, err = bundled(set, false)
	} else if train, err = tables.Open(within(dir, s.Train), tables.Reading{Encoding: s.Encoding}); err != nil {
		err = unreadable("train", s.Train, dir, err)
	}
	if s.Test == "" && set.TestRows == 0 {
		return train, nil, err
	}
	test = new(tables.Source)
	var fault error
	if s.Test == "" {
		*test, fault = bundled(set, true)
	} else if *test, fault = openTest(dir, s.Test, tables.Reading{Encoding: s.Encoding}); fault != nil {
		fault = unreadable("test", s.Test, dir, fault)
	}
	return train, test, errors.Join(err, fault)
}

// unreadable returns the error for a file that does not exist, reported at the key that names it.
func unreadable(key, path, dir string, err error) error {
	absent, start := (*fs.PathError)(nil), ""
	if !errors.As(err, &absent) {
		return err
	}
	if from, err := filepath.Abs(dir); err == nil && !filepath.IsAbs(path) {
		start = "; relative paths begin at " + from
	}
	return problem(key, "cannot read %s (%v)%s", path, absent.Err, start)
}

// Files returns the paths of the files that s reads, without bundled ones; relative paths start in
// dir.
func (s Spec) Files(dir string) (files []string) {
	for _, path := range []string{s.Train, s.Test} {
		if path == "" {
			continue
		}
		if of, err := tables.Files(within(dir, path)); err == nil { // else it names a bundled set
			files = append(files, of...)
		}
	}
	return files
}

// unnamedTruth lists the columns with the truth of a generated set to which s gives no other role.
func unnamedTruth(s Spec, truth []string) (names []cells.Name) {
	uses := s.uses()
	for _, name := range truth {
		if !slices.ContainsFunc(uses, func(u use) bool { return u.column == name }) {
			names = append(names, cells.Name(name))
		}
	}
	return names
}

// subsample keeps n cases, in the order of the file, drawn at random within each class. Every class
// keeps its proportion of n, rounded down or up (by largest remainder; classes with less than one
// case are rounded up first).
func (d *Data) subsample(n int, seed uint64) (*Data, error) {
	total := len(d.Rows)
	if n >= total {
		d.Warnings = append(d.Warnings, cause.NoEffect.New("subsample: %d of %d keeps all cases", n, total))
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
		remainder := func(k int) int { return n * len(cases[k]) % total }
		return cmp.Or(min(take[a], 1)-min(take[b], 1), remainder(b)-remainder(a))
	})
	for _, k := range order[:left] {
		take[k]++
	}
	r := rand.New(rand.NewPCG(seed, 0))
	var kept []int
	for k, of := range cases {
		if take[k] == 0 {
			return nil, problem("subsample", "%d of %d cases would leave none of class %q; keep "+
				"more", n, total, d.Classes[k])
		}
		for _, i := range r.Perm(len(of))[:take[k]] {
			kept = append(kept, of[i])
		}
	}
	slices.Sort(kept)
	return d.subset(kept), nil
}
