package reports_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Platt's calibration is advised if it was tried and helps, but not for predictions without skill:
// constants only follow the class frequencies of the folds. Predictions that are nearly as sure as
// they are right are no reason to doubt, and equal scores have no margin.
func TestCalibrationIsAdvisedForSkill(t *testing.T) {
	const cases = 240
	bits := func(p float64) float64 { return math.Log2(2 * p) }
	sure := func(i int) float64 { // surely predicts the class of 4 in 5 cases
		if i%5 == 0 {
			return bits(0.001)
		}
		return bits(0.999)
	}
	constant := func(i int) float64 { // constant within a fold
		p := []float64{0.3, 0.7, 0.3}[i/(cases/3)]
		if i/2%2 == 1 {
			p = 1 - p
		}
		return bits(p)
	}
	nearly := func(int) float64 { return bits(0.995) }
	for _, c := range []struct {
		name                    string
		of                      func(int) float64
		known, advised, doubted bool
	}{
		{"too sure", sure, true, true, true}, {"constant", constant, false, false, true},
		{"right", nearly, true, false, false},
	} {
		m, lines := reporttest.Held(cases, c.of, c.of)
		a := reporttest.Build(t, m, lines).Answer
		advised, doubted := false, false
		for _, reason := range a.Trust {
			advised = advised || strings.Contains(reason.Remedy, "calibrate: ")
			doubted = doubted || strings.Contains(reason.Text, "probabilities")
		}
		if a.Skill.Known != c.known || advised != c.advised || doubted != c.doubted ||
			(a.Recalibrated != nil && a.Recalibrated.Helps) != c.advised {
			t.Errorf("%s: skill %v, advised %v, recalibrated %v, trust %v", c.name, a.Skill.Known, advised, a.Recalibrated,
				a.Trust)
		}
		if !a.Rivals[0].None {
			t.Errorf("%s: equal scores have a margin", c.name)
		}
	}
}

// A calibration is also tried without any wrong decision, and for a class of few cases: a
// temperature is advised where all labels have probabilities well below 1.
func TestTemperatureIsAdvisedWithoutErrors(t *testing.T) {
	flat := func(i int) float64 { return math.Log2(2 * (0.6 + 0.02*float64(i%5))) }
	m, lines := reporttest.Held(120, flat, flat)
	a := reporttest.Build(t, m, lines).Answer
	if a.Recalibrated == nil || a.Recalibrated.By != "temperature" || !a.Recalibrated.Helps || !(a.Recalibrated.Gain > 0.3) {
		t.Fatalf("recalibrated %+v", a.Recalibrated)
	}
	if len(a.Trust) != 1 || a.Trust[0].Kind != cause.Recalibrable || a.Trust[0].Remedy != "predict: {calibrate: temperature}" {
		t.Errorf("trust %+v", a.Trust)
	}
}

// Probabilities of Laplace's method are doubted where another average decides more than 1 % of the
// cases otherwise, or changes the log loss by more than 0.01.
func TestAveragesOfLaplaceAreDoubted(t *testing.T) {
	good := func(i int) float64 { return 0.6 + 0.3*float64(i%7)/7 }
	for _, c := range []struct {
		decided int
		change  float64
		doubted bool
	}{{0, 0.009, false}, {0, -0.009, false}, {2, 0, false}, {3, 0, true}, {0, 0.011, true}, {0, -0.011, true}} {
		m, lines := reporttest.Held(240, good, good)
		for _, l := range lines {
			if l.Fit != nil && len(l.Fit.Rows) > 0 {
				l.Fit.OtherAverage = &record.OtherAverage{Average: "map", LogLoss: record.Number(c.change)}
			}
		}
		for _, l := range lines {
			if l.Fit != nil && l.Fit.OtherAverage != nil && l.Fit.Configuration == 0 {
				l.Fit.OtherAverage.Decided = c.decided
				break
			}
		}
		doubted := false
		for _, reason := range reporttest.Build(t, m, lines).Answer.Trust {
			doubted = doubted || reason.Kind == cause.LaplaceAverages && strings.Contains(reason.Remedy, "inference: ep")
		}
		if doubted != c.doubted {
			t.Errorf("%d decided otherwise, log loss changed by %v: doubted %v", c.decided, c.change, doubted)
		}
	}
}

// Where the base rate competes, the difference from it is one number, in the line on skill and in
// the table; the base rate itself has no bound.
func TestSkillHasTheDifferenceOfTheTable(t *testing.T) {
	good := func(i int) float64 { return 0.2 + 0.5*float64(i%7)/7 }
	m, lines := reporttest.Held(120, good, func(int) float64 { return 0 }, func(i int) float64 { return good(i) - 0.3 })
	m.Configurations[1].Inference = reporttest.Declared("base_rate")
	a := reporttest.Build(t, m, lines).Answer
	found := false
	for _, rival := range a.Rivals {
		if rival.Configuration == 1 {
			found = true
			if s := a.Skill; s.Difference != -rival.Difference || !(s.AtLeast > 0 && s.AtLeast < s.Difference) {
				t.Errorf("%v, at least %v, in the table %v", s.Difference, s.AtLeast, rival.Difference)
			}
		}
	}
	if !found {
		t.Error("the base rate did not compete")
	}
	bad := func(i int) float64 { return -good(i) }
	m, lines = reporttest.Held(120, bad, func(int) float64 { return 0 })
	m.Configurations[1].Inference = reporttest.Declared("base_rate")
	if a := reporttest.Build(t, m, lines).Answer; a.Configuration != 1 || !a.Skill.AtLeast.None() || a.Skill.Difference != 0 {
		t.Errorf("#%d, skill %+v", a.Configuration, a.Skill)
	}
}

// The conclusion begins with the doubt where an input gives the label away.
func TestConclusionOfALeak(t *testing.T) {
	m, lines := reporttest.Held(120, func(i int) float64 { return 0.3 + 0.1*float64(i%5) })
	m.Warnings = []cause.Notice{cause.Leak.New("input %q alone predicts the class", "paid").In(m.Configurations[0].Dataset)}
	r := reporttest.Build(t, m, lines)
	for _, f := range table.Answered(r, 12) {
		if f.Name == "conclusion" && (!f.Doubts() || !strings.HasPrefix(f.Text, "perhaps a leak: ")) {
			t.Errorf("%q", f.Text)
		}
	}
	if !r.Answer.Leak() {
		t.Error("no leak")
	}
}

// A class of too few cases is a reason to doubt the answer on its data set alone.
func TestRareClassesAreDoubted(t *testing.T) {
	m, lines := reporttest.Held(240, func(int) float64 { return math.Log2(2 * 0.995) })
	rare := cause.Rare.New("classes with too few cases: %q (%d)", "C", 4)
	m.Warnings = []cause.Notice{rare.In(m.Configurations[0].Dataset), rare.In("another")}
	trust := reporttest.Build(t, m, lines).Answer.Trust
	if len(trust) != 1 || trust[0].Kind != cause.Rare || trust[0].Text != rare.Text || trust[0].Remedy == "" {
		t.Errorf("%+v", trust)
	}
}

// Classes that no input gives away may be told apart without a wrong decision. That alone is no
// reason to doubt: only the tests of single inputs find leaks.
func TestNoWrongDecisionIsNoAlarm(t *testing.T) {
	m, lines := reporttest.Held(240, func(int) float64 { return math.Log2(2 * 0.995) })
	r := reporttest.Build(t, m, lines)
	if a := r.Answer; len(a.Trust) > 0 || a.Leak() {
		t.Errorf("reasons to doubt %+v", a.Trust)
	}
	for _, f := range table.Answered(r, 12) {
		if f.Doubts() || f.Hedged() {
			t.Errorf("%+v", f)
		}
	}
}

// The bound of skill is what docs/mathematics.md says: 120 held-out cases in three folds of 80
// training cases have the factor 1 + 120/80 for the squared standard error, and t of 119 degrees of
// freedom is 3.37417 at 99.95 %, where the normal quantile is 3.29053.
func TestBoundOfSkill(t *testing.T) {
	const n = 120
	bits := func(i int) float64 { return 0.02 + 0.9*math.Sin(float64(i)) }
	other := func(i int) float64 { return 0.02 + 0.9*math.Cos(float64(i)) }
	for _, all := range [][]func(int) float64{{bits}, {bits, other}} {
		m, lines := reporttest.Held(n, all...)
		a := reporttest.Build(t, m, lines).Answer
		mean, squares := 0.0, 0.0
		for i := range n {
			mean += all[a.Configuration](i) / n
		}
		for i := range n {
			d := all[a.Configuration](i) - mean
			squares += d * d
		}
		score := mean
		if len(all) > 1 {
			score = min(score, float64(a.Corrected))
		}
		se := math.Sqrt(squares / (n - 1) / n)
		want := score - 1.6448536*math.Sqrt(1+120.0/80)*3.37417/3.29053*se
		if math.Abs(float64(a.Skill.AtLeast)-want) > 2e-6 {
			t.Errorf("%d configurations: at least %v, want %v", len(all), a.Skill.AtLeast, want)
		}
		if a.Skill.Better != (a.Skill.Known && mean > 0) || a.Skill.AtLeast >= 0 {
			t.Errorf("mean %v, skill %+v", mean, a.Skill)
		}
	}
}
