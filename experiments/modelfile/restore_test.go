package modelfile

import (
	"errors"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective"
)

// A text of more than 1 MiB is read up to an eighth of the free memory, and to its end where that
// is unknown. For a shorter one nobody asks. The last byte of the texts is their mistake.
func TestTextsLongerThanTheMemory(t *testing.T) {
	const n = 1<<20 + 1000
	for _, c := range []struct {
		bytes int
		free  int64
		known bool
		want  string
	}{
		{n, 8 * n, true, "line 1, column 1049576: not a model file"},
		{n + 1, 8 * n, true, "not enough memory: it is longer than 1.0 MiB"},
		{n + 1, 8*n + 8, true, "line 1, column 1049577: not a model file"},
		{n, 0, true, "not enough memory: it is longer than 0 B"},
		{n, 0, false, "line 1, column 1049576: not a model file"},
		{1 << 20, 0, true, "line 1, column 1048576: not a model file"},
	} {
		asked := false
		_, err := read(strings.NewReader(strings.Repeat(" ", c.bytes-1)+"x"), func() (int64, bool) {
			asked = true
			return c.free, c.known
		})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || asked != (c.bytes > 1<<20) {
			t.Errorf("%+v: asked for the memory: %t, error %v", c, asked, err)
		}
	}
}

// A number alone, or one that is no version, does not make a file a model file.
func TestSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		"7":                `not a model file: its schema is "7"`,
		"gpc-tune/model/x": `not a model file: its schema is "gpc-tune/model/x"`,
		"gpc-tune/model/0": "not a model file", "gpc-tune/model/99999999999999999999": "not a model file",
		"gpc-tune/model/3": "a model file of version 3",
	} {
		if _, err := Read(strings.NewReader(`{"schema": "` + schema + `"}`)); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", schema, err, want)
		}
	}
}

// There must be memory for the posterior and for each of the samples, of a Gaussian process or of a
// comparator.
func TestMemoryOfPosteriors(t *testing.T) {
	process := declared.Texts{Kernel: "se", Mean: "zero", Likelihood: "probit", Inference: "laplace", Classes: "joint",
		Average: "averaged"}
	compared := declared.Texts{Kernel: "se", Mean: "none", Likelihood: "none", Inference: "svm", Classes: "joint",
		Average: "averaged"}
	for _, m := range []declared.Texts{process, compared} {
		f := withCases()
		f.Columns.Classes, f.Labels, f.Model = []string{"x", "y"}, []int{0, 1, 1, 0}, m
		if _, err := f.Restore("", 1<<40); !errors.Is(err, machine.ErrMemory) ||
			!strings.HasPrefix(err.Error(), "the posterior of its 4 cases: ") {
			t.Errorf("%s, 2^40 samples: %v", m.Inference, err)
		}
		// One posterior fits, and then the error is that the file has no state.
		if _, err := f.Restore("", 0); err == nil || errors.Is(err, machine.ErrMemory) {
			t.Errorf("%s, no samples: %v", m.Inference, err)
		}
	}
	f := withCases()
	f.Columns.Classes, f.Labels, f.Model = []string{"x", "y"}, []int{0, 1, 1, 0}, process
	f.Columns.Inputs[0].Coded = true
	if _, err := f.Restore("", 0); err == nil ||
		!strings.HasPrefix(err.Error(), "model.kernel: no kernel uses the categories") {
		t.Errorf("names with a kernel of numbers: %v", err)
	}
}

// Hyperparameters have the order of the layout, and a whole number is one within its bounds.
func TestThetaOfAFile(t *testing.T) {
	of := objective.Layout{Specs: []param.Spec{{Name: "degree", Map: param.Whole, Lo: 1, Hi: 3}, {Name: "amplitude",
		Map: param.Log, Lo: 0.1, Hi: 2}}}
	for _, c := range []struct {
		values map[string]float64
		want   string // part of the error
	}{
		{map[string]float64{"degree": 3, "log_amplitude": 5}, ""},
		{map[string]float64{"degree": 2.5, "log_amplitude": 0}, "degree = 2.5 must be a whole number"},
		{map[string]float64{"degree": 4, "log_amplitude": 0}, "degree = 4 is outside its bounds"},
		{map[string]float64{"degree": 2}, "no log_amplitude"},
		{map[string]float64{"degree": 2, "log_amplitude": 0, "log_amplitudes": 0},
			`unknown hyperparameter "log_amplitudes"`},
	} {
		theta, err := thetaOf(c.values, of)
		if c.want == "" && (err != nil || len(theta) != 2 || theta[0] != 3 || theta[1] != 5) {
			t.Errorf("%v: %v, %v", c.values, theta, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %s", c.values, err, c.want)
		}
	}
}
