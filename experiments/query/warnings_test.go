package query

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
)

// told reports whether a warning starts like this.
func told(warnings []string, start string) bool {
	return slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, start) })
}

// A quantity that a method does not have is a warning only if it was requested.
func TestWhatMethodsLack(t *testing.T) {
	file := written(t, "x,y\n1,a\n2,b\n3,a\n4,b\n5,b\n6,a\n")
	for _, c := range []struct {
		inference        string
		gradient, loo    bool
		corrected, error string
	}{
		{"ep", true, true, "", ""},
		{"laplace", true, true, "no corrected log evidence: the inference has none; use ep", ""},
		{"{sampling: {chains: 4, temperatures: 50}}", false, false, "no corrected log evidence: ", ""},
	} {
		q := Query{Data: file, Mean: "zero", Kernel: "se", Likelihood: "probit", Inference: c.inference, Classes: "joint"}
		for _, asked := range []bool{false, true} {
			q.LeaveOneOut, q.Corrected = asked, asked
			a, err := q.Evaluate(t.Context())
			if err != nil {
				t.Fatal(c.inference, err)
			}
			if (a.Gradient != nil) != c.gradient || told(a.Warnings, "no gradient: ") == c.gradient {
				t.Errorf("%s: gradient %v, %q", c.inference, a.Gradient, a.Warnings)
			}
			if (a.LeaveOneOut != nil) != (asked && c.loo) || told(a.Warnings, "no leave-one-out ") != (asked && !c.loo) {
				t.Errorf("%s: leave-one-out %v, %q", c.inference, a.LeaveOneOut, a.Warnings)
			}
			none := asked && c.corrected != ""
			if (a.Corrected != nil) != (asked && !none) || none && !told(a.Warnings, c.corrected) ||
				!none && told(a.Warnings, "no corrected ") {
				t.Errorf("%s: corrected %v, %q", c.inference, a.Corrected, a.Warnings)
			}
		}
	}
}

// A fit without convergence has no log evidence, and says how far it came.
func TestFitsThatFail(t *testing.T) {
	file := written(t, "x,y\n1,a\n2,b\n3,a\n4,b\n5,b\n6,a\n")
	q := Query{Data: file, Mean: "zero", Kernel: "se", Likelihood: "probit", Classes: "joint",
		Inference: "{ep: {max_iterations: 1, tolerance: 1.0e-12}}", Theta: map[string]string{"log_amplitude": "4"}}
	a, err := q.Evaluate(t.Context())
	if !errors.Is(err, job.ErrNoFit) || a == nil || !math.IsNaN(float64(a.LogEvidence)) || a.Converged || a.Iterations < 1 ||
		len(a.Warnings) == 0 || !strings.Contains(err.Error(), a.Warnings[len(a.Warnings)-1]) {
		t.Errorf("%+v, %v", a, err)
	}
}

// The data and the model must fit each other.
func TestModelsOfOtherData(t *testing.T) {
	file := written(t, "x,y\n1,a\n2,b\n3,a\n4,b\n5,b\n6,a\n")
	base := Query{Data: file, Mean: "zero", Kernel: "se", Likelihood: "probit", Inference: "laplace", Classes: "joint"}
	for want, change := range map[string]func(q *Query){
		"dims":                               func(q *Query) { q.Kernel = "{active: {dims: [2], kernel: se}}" },
		"--inference: ":                      func(q *Query) { q.Inference = "base_rate" },
		"comparator":                         func(q *Query) { q.Inference = "base_rate" },
		`--data: unknown dataset "nothing"`:  func(q *Query) { q.Data = "nothing" },
		"the order of the classes":           func(q *Query) { q.Likelihood, q.Data = "ordinal", "iris" },
		"--preprocess: unknown":              func(q *Query) { q.Preprocess = "squeeze" },
		"--theta: log_amplitude=1e999: ":     func(q *Query) { q.Theta = map[string]string{"log_amplitude": "1e999"} },
		"--theta: log_amplitude=NaN: ":       func(q *Query) { q.Theta = map[string]string{"log_amplitude": "NaN"} },
		`--theta: log_amplitude=: "" is not`: func(q *Query) { q.Theta = map[string]string{"log_amplitude": ""} },
	} {
		q := base
		change(&q)
		if _, err := q.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, job.ErrNoFit) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// A draw names the flag that it cannot be made with, and a covariance that is singular in double
// precision.
func TestDrawsThatFail(t *testing.T) {
	base := Sampling{Query: Query{Kernel: "se", Mean: "zero", Likelihood: "probit"}, Grid: "0:1:5", Count: 1, Seed: 1}
	for want, change := range map[string]func(s *Sampling){
		"--kernel: ":             func(s *Sampling) { s.Kernel = "{active: {dims: [2], kernel: se}}" },
		"--kernel: active: ":     func(s *Sampling) { s.Grid, s.Data, s.Kernel = "", "crabs", "{active: {dims: [7], kernel: se}}" },
		"--class-names: softmax": func(s *Sampling) { s.Likelihood = "softmax" },
		"--class-names: names":   func(s *Sampling) { s.Names = []string{"a", "b"} },
		"--theta: ":              func(s *Sampling) { s.Kernel = "{product: [" + strings.Repeat("{se: {amplitude: 1e+40}}, ", 4) + "]}" },
		"--draws: -1 draws":      func(s *Sampling) { s.Count = -1 },
	} {
		bad := base
		change(&bad)
		if _, err := bad.Draw(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	d, err := base.Draw(t.Context())
	if err != nil || len(d.Columns) != 3 || len(d.Warnings) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	base.Theta = map[string]string{"log_length_scale": "12"}
	if d, err = base.Draw(t.Context()); err != nil || !told(d.Warnings, "the covariance matrix is numerically singular: ") {
		t.Errorf("%+v, %v", d, err)
	}
	base.Likelihood, base.Names, base.Theta = "softmax", []string{"a", "b", "c"}, nil
	if d, err = base.Draw(t.Context()); err != nil || !slices.Equal(d.Columns,
		[]string{"x", "f1[a]", "f1[b]", "f1[c]", "p1[a]", "p1[b]", "p1[c]"}) {
		t.Errorf("%+v, %v", d, err)
	}
	for i, row := range d.Rows {
		sum := math.Exp(float64(row[1])) + math.Exp(float64(row[2])) + math.Exp(float64(row[3]))
		for c := range 3 {
			if math.Abs(float64(row[4+c])-math.Exp(float64(row[1+c]))/sum) > 1e-12 {
				t.Errorf("row %d: %v", i, row)
			}
		}
	}
}

// A test case whose own class has probability 0 gives a warning. Far from all data the latent
// function is its prior, of mean 100, and the probability of the first class Φ(-100/√2) < 1e-1000.
func TestCasesWithoutProbability(t *testing.T) {
	file := written(t, "x,y\n1,a\n2,b\n3,b\n")
	q := Query{Data: file, Mean: "{constant: 100}", Kernel: "se", Likelihood: "probit", Inference: "laplace",
		Classes: "joint"}
	for label, want := range map[string]bool{"a": true, "b": false} {
		q.Test = written(t, "x,y\n1000,"+label+"\n")
		a, err := q.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if told(a.Warnings, "1 of 1 cases had a probability below ") != want {
			t.Errorf("%s: %q", label, a.Warnings)
		}
	}
}

// A leave-one-out log probability that rounding hides is absent, with a warning that says why: cases
// of both classes at one place, with a prior variance of e^40.
func TestLeaveOneOutThatIsHidden(t *testing.T) {
	q := Query{Data: written(t, "x,y\n"+strings.Repeat("1,a\n1,b\n", 3)), Mean: "zero", Kernel: "se",
		Likelihood: "probit", Inference: "laplace", Classes: "joint", LeaveOneOut: true,
		Theta: map[string]string{"log_amplitude": "20"}}
	a, err := q.Evaluate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.LeaveOneOut != nil || !told(a.Warnings,
		"no leave-one-out log probability: not converged: leave-one-out needs what the other cases leave of a ") {
		t.Errorf("%v, %q", a.LeaveOneOut, a.Warnings)
	}
}

// Missing values are counted, whatever replaces them.
func TestMissingValuesAreCounted(t *testing.T) {
	d, err := Describe(written(t, "x,z,y\n"+strings.Repeat("1,2.5,a\n,3,b\n4,5.5,a\n", 20)), "y")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Missing, []data.Gap{{Input: "x", N: 20}}) {
		t.Errorf("missing: %+v", d.Missing)
	}
	// a bundled set; 16 of its cases have no V6
	if d, err = Describe("breast_cancer", ""); err != nil || !slices.Equal(d.Missing, []data.Gap{{Input: "V6", N: 16}}) {
		t.Errorf("missing: %+v, %v", d.Missing, err)
	}
}
