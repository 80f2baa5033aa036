package reports

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
)

// Hyperparameters that exist once per input are named by the inputs; the shortest length scale
// comes first where readers want to see which input matters.
func TestNamed(t *testing.T) {
	c := Configuration{Hyperparameters: Values{{Name: "amplitude", Value: 2}, {Name: "length_scale[1]", Value: 5},
		{Name: "length_scale[2]", Value: 3}}}
	c.Record.Hyperparameters = []record.Hyperparameter{{Name: "amplitude"}, {Name: "length_scale[1]", Column: "age"},
		{Name: "length_scale[2]", Column: "dose"}}
	for _, of := range []struct {
		got  Values
		want string
	}{
		{c.Named(c.Hyperparameters), "amplitude=2 length_scale[age]=5 length_scale[dose]=3"},
		{c.ByInput(c.Hyperparameters), "amplitude=2 length_scale[dose]=3 length_scale[age]=5"},
		{c.Named(c.Hyperparameters[:1]), "amplitude=2"},
	} {
		if got := Assignments(of.got, Exact); got != of.want {
			t.Errorf("%s, want %s", got, of.want)
		}
	}
}

// Brackets with a class, of kernels for each class, are not taken for the number of an input.
// Values that do not matter are left out.
func TestNamedByClass(t *testing.T) {
	var c Configuration
	for _, class := range []string{"a", "b"} {
		choice := "class[" + class + "].choice"
		c.Record.Hyperparameters = append(c.Record.Hyperparameters, record.Hyperparameter{Name: choice, Theta: choice, Choices: []string{"1.linear", "2.se"}})
		for i, h := range []record.Hyperparameter{{Name: "1.linear.amplitude"}, {Name: "2.se.length_scale[1]", Column: "age"}, {Name: "2.se.length_scale[2]", Column: "dose"}} {
			h.Name = "class[" + class + "]." + h.Name
			h.When = &param.Condition{Name: choice, Values: []float64{float64(min(i, 1))}}
			c.Record.Hyperparameters = append(c.Record.Hyperparameters, h)
		}
	}
	got := Assignments(c.ByInput(natural(c.Record, []record.Number{0, 7, 1, 1, 1, 1, 3, 2})), Exact)
	if want := "class[a].choice=1.linear class[a].1.linear.amplitude=7 class[b].choice=2.se class[b].2.se.length_scale[dose]=2 class[b].2.se.length_scale[age]=3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A fold is named with its repeat, unless that is the first.
func TestFolded(t *testing.T) {
	for _, of := range []struct {
		evaluation   string
		repeat, fold int
		want         string
	}{{"kfold", 1, 2, "kfold repeat 1 fold 2"}, {"kfold", 0, 2, "kfold fold 2"}, {"test", 1, 2, "test"}} {
		if got := Folded(of.evaluation, of.repeat, of.fold); got != of.want {
			t.Errorf("%q, want %q", got, of.want)
		}
	}
}

// A positive surplus is overconfidence: of probabilities that are too large, or of variances that
// are too small.
func TestMiscalibration(t *testing.T) {
	classes := Configuration{Classes: []string{"F", "M"}}
	for _, of := range []struct {
		of      Configuration
		surplus float64
		want    string
	}{
		{classes, 0.25, "it is overconfident: of 100 decisions 25 fewer are right than its probabilities say"},
		{classes, -0.25, "it is underconfident: of 100 decisions 25 more are right than its probabilities say"},
		{Configuration{}, 0.25, "predicted variances are too small: squared errors are on average 1.25 times as large"},
		{Configuration{}, -0.25, "predicted variances are too large: squared errors are on average 0.75 times as large"},
	} {
		if got := miscalibration(of.of, of.surplus); got != of.want {
			t.Errorf("%q, want %q", got, of.want)
		}
	}
}

// Of 200 intervals 24 miss their target by far, the others are wide enough to make the mean of the squared errors right;
// 14 of 200 can be chance.
func TestNarrowIntervals(t *testing.T) {
	for _, of := range []struct {
		beyond int
		rest   float64
		narrow bool
	}{{24, 0.54, true}, {14, 0.78, false}, {0, 1, false}} {
		p := cv.Predictions{Cases: make([]int, 200), Targets: make([]float64, 200), Mean: make([]float64, 200),
			Variance: make([]float64, 200)}
		for i := range 200 {
			p.Cases[i], p.Mean[i], p.Variance[i], p.Targets[i] = i, 3, 4, 3+2*of.rest
			if i < of.beyond {
				p.Targets[i] = 3 - 2*2.5
			}
		}
		fraction, narrow := outside(p)
		if math.Abs(fraction-float64(of.beyond)/200) > 1e-12 || narrow != of.narrow {
			t.Errorf("%d of 200: %v, %v", of.beyond, fraction, narrow)
		}
	}
	if _, narrow := outside(cv.Predictions{}); narrow {
		t.Error("probabilities have no intervals")
	}
}
