package check

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/reports"
)

// checked is a subject with two free hyperparameters, whose log evidence along each is L + g·t.
func checked(t *testing.T, value float64, gradient ...float64) *subject {
	t.Helper()
	m := objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}}
	o, err := objective.New(m, objective.LogEvidence{}, objective.Data{
		X: &kernel.Inputs{X: mat.NewDense(3, 1, []float64{1, 2, 3})}, Y: approx.Targets{Classes: 2, Value: []float64{1, -1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{objective: o, at: evaluated{value: value, gradient: gradient}}
	s.at.diagnostics.Converged = true
	for _, g := range gradient {
		var around [len(stencil)]evaluated
		for k, node := range stencil {
			around[k].value = value + g*node.at*checkStep
		}
		s.around = append(s.around, around)
	}
	nan := reports.Number(math.NaN())
	s.row = reports.CheckRow{GradientError: nan, Difference: nan, InStandardErrors: nan}
	return s
}

// The error of a gradient is relative to the largest of 1, |g| and |L|, and at most 1e-6.
func TestErrorsOfGradients(t *testing.T) {
	for _, c := range []struct{ value, first, off, want float64 }{
		{0.5, 0.1, 0.8e-6, 0.8e-6}, {0.5, 0.1, 1.5e-6, 1.5e-6}, {-10, 0.1, 9e-6, 0.9e-6}, {-10, 0.1, -1.3e-5, 1.3e-6},
		{3, 50, 4e-5, 0.8e-6}, {3, -50, 6e-5, 1.2e-6},
	} {
		s := checked(t, c.value, c.first, 0.2)
		s.at.gradient[1] += c.off
		s.conclude()
		// the rounding of the differences is 1500 times the rounding of the log evidence
		if got := float64(s.row.GradientError); math.Abs(got-c.want) > 0.02*c.want {
			t.Errorf("%+v: error %v", c, got)
		}
		named := len(s.row.Failures) == 1 && strings.Contains(s.row.Failures[0], "with respect to log_length_scale is 0.")
		if named != (c.want > 1e-6) || !named && len(s.row.Failures) > 0 {
			t.Errorf("%+v: %q", c, s.row.Failures)
		}
	}
}

// A gradient that cannot be compared is a failure, or a note where the method has none.
func TestGradientsWithoutDifferences(t *testing.T) {
	broken := errors.New("broken")
	for want, change := range map[string]func(s *subject){
		"failure: no difference by log_length_scale: broken": func(s *subject) { s.around[1][2].err = broken },
		"failure: no difference by log_amplitude: broken":    func(s *subject) { s.around[0][3].unconverged = broken },
		"failure: broken":              func(s *subject) { s.at.noGradient = broken },
		"note: none: " + "no gradient": func(s *subject) { s.at.noGradient = fmt.Errorf("none: %w", approx.ErrNoGradient) },
		"failure: broken at all":       func(s *subject) { s.at.err = errors.New("broken at all") },
		"failure: not there":           func(s *subject) { s.at.unconverged = errors.New("not there") },
		"note: floored":                func(s *subject) { s.at.diagnostics.Warnings = []cause.Notice{{Text: "floored"}} },
	} {
		s := checked(t, -3, 1, 2)
		change(s)
		s.conclude()
		kind, text, _ := strings.Cut(want, ": ")
		said, other := s.row.Failures, s.row.Notes
		if kind == "note" {
			said, other = other, said
		}
		if len(said) != 1 || len(other) != 0 || !strings.HasPrefix(said[0], strings.TrimSuffix(text, "no gradient")) {
			t.Errorf("want %s: failures %q, notes %q", want, s.row.Failures, s.row.Notes)
		}
	}
}

// A lower bound may exceed the sampled value by two standard errors and by rounding.
func TestLowerBounds(t *testing.T) {
	for _, c := range []struct {
		value, above, own, sampled float64
		bound, fails               bool
	}{
		{-0.5, 0.8e-9, 0, 0, true, false}, {-0.5, 1.6e-9, 0, 0, true, true}, {-0.5, 1.6e-9, 0, 0, false, false},
		{-1000, 0.8e-6, 0, 0, true, false}, {-1000, 1.6e-6, 0, 0, true, true}, {-3, -1, 0, 0, true, false},
		{-3, 0.99, 0.3, 0.4, true, false}, {-3, 1.01, 0.3, 0.4, true, true}, {-3, 0.81, 0, 0.4, true, true},
	} {
		s, reference := checked(t, c.value, 1, 2), checked(t, c.value-c.above, 1, 2)
		s.reference, s.row.LowerBound = reference, c.bound
		s.at.diagnostics.StandardError, reference.at.diagnostics.StandardError = c.own, c.sampled
		s.conclude()
		if fails := len(s.row.Failures) > 0; fails != c.fails || math.Abs(float64(s.row.Difference)-c.above) > 1e-12*1000 {
			t.Errorf("%+v: %q, difference %v", c, s.row.Failures, s.row.Difference)
		}
		ratio, error := float64(s.row.InStandardErrors), math.Hypot(c.own, c.sampled)
		if error == 0 != math.IsNaN(ratio) || error > 0 && math.Abs(ratio-c.above/error) > 1e-9 {
			t.Errorf("%+v: %v standard errors", c, ratio)
		}
		reference.at.err = errors.New("broken")
		s.row.Difference = reports.Number(math.NaN())
		if s.conclude(); !math.IsNaN(float64(s.row.Difference)) {
			t.Errorf("compared with what failed: %v", s.row.Difference)
		}
	}
}
