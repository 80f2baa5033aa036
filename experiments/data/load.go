package data

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Load reads what s asks for. Relative paths are relative to dir; seed draws the subsample. A fault
// of s is a Problems error, one of a file a *FileError; several come joined.
//
// The classes are those of the training data, in natural order, and are numbered in it; of two, the
// second is the one coded +1, which positive can choose. In classification a label with more than
// 100 different values, or with numbers that are not whole, is taken for a numeric one and refused,
// unless above makes two classes of it. A class of the test data that the training data lack is an
// error. The levels of categorical columns come from the whole training file; a level that only the
// test file has is all zeros, with a warning; a missing one is missing in all of its indicators.
func Load(s Spec, dir string, seed uint64) (*Data, error) {
	if p := s.Check(); len(p) > 0 {
		return nil, p
	}
	train, test, err := s.open(dir)
	if err != nil {
		return nil, err
	}
	set, _ := Lookup(s.Dataset) // the zero value where files are read
	if set.toy != nil {
		s.ID = slices.Concat(s.ID, unnamedTruth(s, set.toy))
	}
	d, err := s.readTrain(train)
	if err != nil {
		return nil, err
	}
	d.Name, d.Citation, d.Licence = set.Name, set.Citation, set.Licence
	if s.Dataset == "" {
		d.Name, _, _ = strings.Cut(filepath.Base(s.Train), ".")
	}
	if set.toy != nil {
		d.Truth = set.toy.known(set, d)
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
	if s.Train == "" {
		train, err = set.source(false)
	} else if train, err = open(within(dir, s.Train), s.Encoding); err != nil {
		err = unreadable("train", s.Train, dir, err)
	}
	if s.Test == "" && set.TestRows == 0 {
		return train, nil, err
	}
	test = new(source)
	var fault error
	if s.Test == "" {
		*test, fault = set.source(true)
	} else if *test, fault = openTest(dir, s.Test, s.Encoding); fault != nil {
		fault = unreadable("test", s.Test, dir, fault)
	}
	return train, test, errors.Join(err, fault)
}

// unreadable makes the error of a file that is not there one of the key that names it.
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

// Files are the paths of what it reads and does not come along, relative ones being in dir.
func (s Spec) Files(dir string) (files []string) {
	for _, path := range []string{s.Train, s.Test} {
		if path == "" {
			continue
		}
		path = within(dir, path)
		if info, err := os.Stat(path); err == nil && !info.IsDir() { // else it names a bundled set
			files = append(files, path)
		}
	}
	return files
}

// unnamedTruth are the columns of what is true of a drawn set that s gives no other role.
func unnamedTruth(s Spec, t *toy) (names []Name) {
	uses := s.uses()
	for _, name := range t.truth {
		if !slices.ContainsFunc(uses, func(u use) bool { return u.column == name }) {
			names = append(names, Name(name))
		}
	}
	return names
}

// subsample keeps n cases in the order of the file, drawn within each class; every class keeps its
// share of n, rounded down or up (by largest remainder, classes with a share below 1 first).
func (d *Data) subsample(n int, seed uint64) (*Data, error) {
	total := len(d.Rows)
	if n >= total {
		d.Warnings = append(d.Warnings, fmt.Sprintf("subsample: %d of %d keeps all cases", n, total))
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
