package cv

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

const conformalCases, conformalFolds = 45, 5

// fold of a case in a repeat, and its probabilities, as in testdata/conformal.py
func conformalFold(i, repeat int) int { return (i + repeat*(i/5)) % conformalFolds }

func conformalProba(i, repeat int) []float64 {
	row, sum := make([]float64, 3), 0.0
	for k := range row {
		row[k] = float64((i*7919+k*104729+repeat*31+12345)%1009%97 + 1)
		sum += row[k]
	}
	for k := range row {
		row[k] /= sum
	}
	return row
}

// conformalParts are the predictions of the folds of all repeats.
func conformalParts(repeats int, weighted bool) (parts []Predictions) {
	for r := range repeats {
		for k := range conformalFolds {
			var p Predictions
			var proba []float64
			for i := range conformalCases {
				if conformalFold(i, r) != k {
					continue
				}
				p.Cases, p.Labels = append(p.Cases, i), append(p.Labels, (i*i+i/3)%3)
				if proba = append(proba, conformalProba(i, r)...); weighted {
					p.Weight = append(p.Weight, float64(1+i%4)/2)
				}
			}
			p.Proba = mat.NewDense(len(p.Cases), 3, proba)
			parts = append(parts, p)
		}
	}
	return parts
}

// The sets are those that testdata/conformal.py makes with exact fractions, with ties, weights and
// repeated folds. p values that equal α leave the class out.
func TestConformalSetsAgainstFractions(t *testing.T) {
	lines := strings.Fields(`
737777777677377777777737777737573777737757677
717777757677377777577737576737573757637757677
513633456632346333456633432633433453632556633
717737757637376777577737476737573757637757637
717677557677377777577737576737473757637757677776773777775767374767576775576773777775767775
`)
	for n, c := range []struct {
		coverage float64
		repeats  int
		weighted bool
	}{{0.9, 1, false}, {0.8, 1, false}, {0.5, 1, false}, {0.8, 1, true}, {0.8, 2, false}} {
		parts := conformalParts(c.repeats, c.weighted)
		all := NewConformal(Pool(parts...), c.coverage)
		got := []byte(strings.Repeat(" ", conformalCases*c.repeats))
		for k, p := range parts {
			for row, set := range all.Without(p.Cases).Sets(p) {
				bits := byte('0')
				for class, in := range set {
					if in {
						bits += 1 << class
					}
				}
				got[k/conformalFolds*conformalCases+p.Cases[row]] = bits
			}
		}
		if string(got) != lines[n] {
			t.Errorf("%+v:\n%s, want\n%s", c, got, lines[n])
		}
	}
}

// Nine cases can leave a class out at 90 %, eight cannot: then a warning names the class.
func TestTooFewCasesForACoverage(t *testing.T) {
	p := Predictions{Proba: mat.NewDense(17, 2, nil)}
	for i := range 17 {
		label := 0
		if i < 8 {
			label = 1
		}
		p.Cases, p.Labels = append(p.Cases, i), append(p.Labels, label)
		p.Proba.SetRow(i, []float64{0.5, 0.5})
	}
	c := NewConformal(p, 0.9)
	if got := c.set([]float64{0.1, 0.1}); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("%v", got)
	}
	if got := c.set([]float64{0.5, 0.5}); !slices.Equal(got, []bool{true, true}) {
		t.Errorf("equal probabilities: %v", got)
	}
	const want = `class "b" has 8 held-out cases, and a coverage of 0.9 needs 9: it is in every set`
	if got := c.Warnings([]string{"a", "b"}); len(got) != 1 || got[0].Text != want || got[0].Kind != cause.FewHeldOut {
		t.Errorf("%v", got)
	}
	if c.Coverage = 0.85; len(c.Warnings([]string{"a", "b"})) != 0 {
		t.Errorf("8 cases are enough for 85 %%")
	}
}

// Coverage and mean size of four sets by hand; a set can be empty. Without sets neither score is
// defined.
func TestScoresOfSets(t *testing.T) {
	p := Predictions{Cases: []int{0, 1, 2, 3}, Labels: []int{0, 1, 1, 0}, Proba: mat.NewDense(4, 2, []float64{1, 0, 1, 0, 0, 1, 1, 0})}
	value := func(name string) (Estimate, bool) {
		s, err := ScoreNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		e, ok, err := s.Of(p)
		if err != nil {
			t.Error(err)
		}
		return e, ok
	}
	for _, name := range []string{"coverage", "set_size"} {
		if e, ok := value(name); ok {
			t.Errorf("%s without sets is %v", name, e)
		}
	}
	p.Sets = [][]bool{{true, false}, {true, true}, {true, false}, {false, false}}
	if e, _ := value("coverage"); e.Value != 0.5 || !(e.Lo < 0.5 && e.Hi > 0.5) {
		t.Errorf("%v, want 2 of 4", e)
	}
	if e, _ := value("set_size"); e.Value != 1 {
		t.Errorf("%v, want 4/4", e)
	}
	p.Weight = []float64{5, 1, 1, 1}
	if e, _ := value("coverage"); e.Value != 0.75 {
		t.Errorf("%v, want 6/8", e)
	}
	if e, _ := value("set_size"); math.Abs(e.Value-1) > 1e-15 {
		t.Errorf("%v, want (5+2+1+0)/8", e)
	}
	if got := p.rows([]int{1, 3}).Sets; !slices.Equal(got[0], p.Sets[1]) || !slices.Equal(got[1], p.Sets[3]) {
		t.Errorf("%v", got)
	}
	if Pool(p, Predictions{Cases: []int{4}, Labels: []int{0}, Proba: mat.NewDense(1, 2, nil)}).Sets != nil {
		t.Error("sets of some parts only")
	}
}
