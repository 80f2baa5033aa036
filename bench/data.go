//go:build linux

package main

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// set is a two-class problem that all contenders know. theta is a point of interest: ln amplitude, ln length scale.
type set struct {
	name   string
	x, z   *mat.Dense
	y      approx.Targets
	labels []int // of z
	theta  [2]float64
}

// data is a training set with nothing remembered yet.
func (s set) data() objective.Data {
	return objective.Data{X: &kernel.Inputs{X: s.x}, Y: s.y}
}

// load reads the problems and hands them to the peers: the crabs, which come with gpc-tune, and the digits 3 and 5 of USPS,
// which may not be distributed with it.
func (b *bench) load(digits string) error {
	crabs, err := data.Load(data.Spec{Dataset: "crabs"}, ".", 1)
	if err != nil {
		return err
	}
	pre, _, err := data.Fit(crabs.X, "standardize", "error")
	if err != nil {
		return err
	}
	crabs.X = pre.Apply(crabs.X)
	crabs.Test = crabs
	if err := b.add("crabs", crabs, [2]float64{math.Log(3), 0}); err != nil {
		return err
	}
	train, test := filepath.Join(digits, "usps_3v5_train.csv.gz"), filepath.Join(digits, "usps_3v5_test.csv.gz")
	if _, err := os.Stat(train); err != nil {
		return nil
	}
	b.train, b.test, b.tenTrain = train, test, filepath.Join(digits, "usps_resampled_train.csv.gz")
	usps, err := data.Load(data.Spec{Train: train, Test: test}, ".", 1)
	if err != nil {
		return err
	}
	return b.add("usps_3v5", usps, [2]float64{2.35, 2.85})
}

func (b *bench) add(name string, d *data.Data, theta [2]float64) error {
	s := set{name: name, x: d.X, z: d.Test.X, y: approx.Targets{Classes: 2}, labels: d.Test.Labels, theta: theta}
	for _, l := range d.Labels {
		s.y.Value = append(s.y.Value, float64(2*l-1))
	}
	b.sets = append(b.sets, s)
	for _, p := range append([]*peer{b.r}, b.ways...) {
		if err := b.hand(p, s); err != nil {
			return err
		}
	}
	return nil
}

// hand gives a problem to a peer.
func (b *bench) hand(p *peer, s set) error {
	path, err := b.write(s.name, s.x.RawMatrix().Data, s.y.Value, s.z.RawMatrix().Data)
	if err != nil {
		return err
	}
	n, d := s.x.Dims()
	m, _ := s.z.Dims()
	_, err = p.do("load set=%s path=%s n=%d d=%d m=%d", s.name, path, n, d, m)
	return err
}

// write puts numbers into a file.
func (b *bench) write(name string, parts ...[]float64) (path string, err error) {
	var raw []byte
	for _, p := range parts {
		for _, v := range p {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		}
	}
	path = filepath.Join(b.dir, name)
	return path, os.WriteFile(path, raw, 0o600)
}

// digits is the larger problem, if it is there; else the page says so.
func (b *bench) digits() (set, bool) {
	if b.train == "" {
		b.printf("Left out: the USPS digits were not there (see `bench -help`).\n\n")
	}
	return b.sets[len(b.sets)-1], b.train != ""
}
