package reports_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Platt's calibration is advised where it was tried and helps, but not for predictions that know
// nothing: those of constants follow the class frequencies of folds alone. Predictions that are
// nearly as sure as they are right are no reason to doubt, and equal scores have no margin.
func TestCalibrationIsAdvisedForSkill(t *testing.T) {
	const cases = 240
	bits := func(p float64) float64 { return math.Log2(2 * p) }
	sure := func(i int) float64 { // of the class of 4 in 5 cases
		if i%5 == 0 {
			return bits(0.001)
		}
		return bits(0.999)
	}
	constant := func(i int) float64 { // in a fold
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
			advised = advised || strings.Contains(reason.Remedy, "platt")
			doubted = doubted || strings.Contains(reason.Text, "probabilities")
		}
		if a.Skill.Known != c.known || advised != c.advised || doubted != c.doubted ||
			a.Recalibrated != nil && !c.advised {
			t.Errorf("%s: skill %v, advised %v, recalibrated %v, trust %v", c.name, a.Skill.Known, advised, a.Recalibrated,
				a.Trust)
		}
		if !a.Rivals[0].None {
			t.Errorf("%s: equal scores have a margin", c.name)
		}
	}
}
