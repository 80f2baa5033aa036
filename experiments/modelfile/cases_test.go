package modelfile

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
)

// ofTwo is a file of two inputs with classes, or with numbers if there are none.
func ofTwo(schema Form, classes ...string) *File {
	return &File{Schema: schema, Preprocess: &preprocess.Map{How: "none"},
		Columns: &data.Schema{Header: true, Width: 3, Classes: classes,
			Inputs: []data.Column{{Name: "a", Index: 0}, {Name: "b", Index: 1}}, Label: data.Column{Name: "y", Index: 2}}}
}

func withCases() *File {
	f := ofTwo(ofCases, "x", "y", "z")
	f.Labels, f.Inputs = []int{0, 2, 2, 1}, [][]float64{{1, 2}, {3, 4}, {5, 6}, {7, 8}}
	return f
}

func withNumbers() *File {
	f := ofTwo(ofCases)
	f.Targets, f.Inputs = []float64{1, 3, 5}, [][]float64{{1, 2}, {3, 4}, {5, 6}}
	return f
}

func withInducing() *File {
	f := ofTwo(condensed, "x", "y")
	f.Training, f.Inducing = &Training{Cases: 5, Counts: []int{2, 3}, Weights: []float64{0, 1.5}}, [][]float64{{1, 2}}
	return f
}

func withMoments() *File {
	f := ofTwo(condensed)
	f.Training, f.Inducing = &Training{Cases: 2, Moments: &record.Moments{Mean: 3, Variance: 0}}, [][]float64{{1, 2}, {3, 4}}
	return f
}

func ofComparator() *File {
	f := ofTwo(condensed, "x", "y")
	f.Training = &Training{Cases: 2, Counts: []int{2, 0}, Medians: []float64{1, 2}}
	return f
}

// Values at a limit are read. A file that gpc-tune cannot have written is refused, with the name of
// the part.
func TestCasesOfAFile(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, of := range []func() *File{withCases, withNumbers, withInducing, withMoments, ofComparator} {
		f := of()
		d, training, err := f.cases(f.Training != nil && f.Inducing == nil)
		if err != nil || d.Y.Classes != len(f.Columns.Classes) || training.Cases < 2 {
			t.Errorf("%+v: %+v, %v", f, training, err)
		}
	}
	for _, c := range []struct {
		of     func() *File
		want   string // the part; "": none
		change func(f *File)
	}{
		{withCases, "", func(f *File) { f.Weights = []float64{1, math.MaxFloat64, 1e-300, 2} }},
		{withCases, "weights", func(f *File) { f.Weights = []float64{1, 2, 3} }},
		{withCases, "weights", func(f *File) { f.Weights = []float64{1, 0, 3, 4} }},
		{withCases, "weights", func(f *File) { f.Weights = []float64{1, inf, 3, 4} }},
		{withCases, "weights", func(f *File) { f.Weights = []float64{1, nan, 3, 4} }},
		{withCases, "labels", func(f *File) { f.Labels[3] = 3 }}, {withCases, "labels", func(f *File) { f.Labels[3] = -1 }},
		{withCases, "targets", func(f *File) { f.Targets = []float64{1} }},
		{withCases, "inputs", func(f *File) { f.Labels = f.Labels[1:] }},
		{withCases, "inputs", func(f *File) { f.Inputs[1] = []float64{1} }},
		{withCases, "inputs", func(f *File) { f.Inputs[1] = []float64{1, 2, 3} }},
		{withCases, "", func(f *File) { f.Labels, f.Inputs = f.Labels[:2], f.Inputs[:2] }},
		{withCases, "inputs", func(f *File) { f.Labels, f.Inputs = f.Labels[:1], f.Inputs[:1] }},
		{withCases, "inducing", func(f *File) { f.Training = &Training{} }},
		{withCases, "inducing", func(f *File) { f.Inducing = [][]float64{{1, 2}} }},
		{withNumbers, "labels", func(f *File) { f.Labels = []int{0} }}, {withNumbers, "inputs", func(f *File) { f.Targets = f.Targets[1:] }},
		{withInducing, "", func(f *File) { f.Training.Weights = nil }},
		{withInducing, "schema", func(f *File) { f.Training = nil }}, {withInducing, "schema", func(f *File) { f.Inducing = nil }},
		{withInducing, "schema", func(f *File) { f.Labels = []int{1} }}, {withInducing, "schema", func(f *File) { f.Inputs = f.Inducing }},
		{withInducing, "inducing", func(f *File) { f.Inducing[0] = []float64{1} }},
		{withInducing, "training.counts", func(f *File) { f.Training.Counts = []int{5} }},
		{withInducing, "training.counts", func(f *File) { f.Training.Moments = &record.Moments{} }},
		{withInducing, "training.counts", func(f *File) { f.Training.Counts = []int{6, -1} }},
		{withInducing, "training.counts", func(f *File) { f.Training.Counts = []int{math.MaxInt, math.MaxInt} }},
		{withInducing, "training.cases", func(f *File) { f.Training.Cases = 6 }},
		{withInducing, "", func(f *File) { f.Training.Cases, f.Training.Counts = 2, []int{2, 0} }},
		{withInducing, "", func(f *File) { f.Training.Counts = []int{0, 5} }},
		{withInducing, "training.cases", func(f *File) { f.Training.Cases, f.Training.Counts = 1, []int{1, 0} }},
		{withInducing, "training.weights", func(f *File) { f.Training.Weights = []float64{1} }},
		{withInducing, "training.weights", func(f *File) { f.Training.Weights = []float64{1, -1} }},
		{withInducing, "training.weights", func(f *File) { f.Training.Weights = []float64{inf, 1} }},
		{withInducing, "training.weights", func(f *File) { f.Training.Weights = []float64{1, nan} }},
		{withMoments, "training", func(f *File) { f.Training.Moments = nil }},
		{withMoments, "training", func(f *File) { f.Training.Moments.Variance = -1 }},
		{withMoments, "training", func(f *File) { f.Training.Moments.Variance = record.Number(inf) }},
		{withMoments, "training", func(f *File) { f.Training.Moments.Mean = record.Number(nan) }},
		{withMoments, "training", func(f *File) { f.Training.Counts = []int{2} }},
		{withMoments, "training.cases", func(f *File) { f.Training.Cases = 1 }},
		{ofComparator, "training.medians", func(f *File) { f.Training.Medians = []float64{1} }},
		{ofComparator, "training.least", func(f *File) { f.Training.Least, f.Training.Largest = []float64{1}, []float64{2} }},
		{ofComparator, "training.least", func(f *File) { f.Training.Least = []float64{1, 2} }},
		{ofComparator, "training.least", func(f *File) { f.Training.Least, f.Training.Largest = []float64{1, 2}, []float64{1, 1} }},
		{ofComparator, "training.medians", func(f *File) { f.Inducing = [][]float64{{1, 2}} }},
		{ofComparator, "schema", func(f *File) { f.Training = nil }},
	} {
		f := c.of()
		compared := f.Training != nil && f.Inducing == nil
		c.change(f)
		_, _, err := f.cases(compared)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want+": ")) {
			t.Errorf("%+v, %+v: %v, want %q", *f, f.Training, err, c.want)
		}
	}
}

// The training cases are described by counts, sums of weights, or moments.
func TestDescriptionOfCases(t *testing.T) {
	got := TrainingOf([]int{1, 2, 0}, []int{1, 0, 1}, nil, []float64{0.5, 2, 4})
	if want := (Training{Cases: 3, Counts: []int{1, 2, 0}, Weights: []float64{2, 4.5, 0}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := TrainingOf([]int{1, 2}, []int{1, 0, 1}, nil, nil); got.Cases != 3 || got.Weights != nil || got.Moments != nil {
		t.Errorf("%+v", got)
	}
	got = TrainingOf(nil, nil, []float64{1, 3, 8}, nil)
	if got.Cases != 3 || got.Moments.Mean != 4 || math.Abs(float64(got.Moments.Variance)-26./3) > 1e-14 || got.Counts != nil {
		t.Errorf("%+v, %+v", got, got.Moments)
	}
	if got = TrainingOf(nil, nil, []float64{1, 3}, []float64{3, 1}); got.Moments.Mean != 1.5 || got.Moments.Variance != 0.75 {
		t.Errorf("%+v", got.Moments)
	}
}

// Values that stand in for missing ones are on the scale of the file's columns.
func TestSubstitutes(t *testing.T) {
	cases, inducing, compared := withCases(), withMoments(), ofComparator()
	for _, c := range []struct {
		f    *File
		how  preprocess.Map
		want []float64
	}{
		{cases, preprocess.Map{}, []float64{4, 5}}, {inducing, preprocess.Map{}, []float64{2, 3}}, {compared, preprocess.Map{}, []float64{1, 2}},
		{cases, preprocess.Map{Mean: []float64{10, 20}, Scale: []float64{2, 3}}, []float64{18, 35}},
		{compared, preprocess.Map{Mean: []float64{10, 20}, Scale: []float64{2, 3}}, []float64{12, 26}},
		{cases, preprocess.Map{Impute: []float64{8, 9}, Mean: []float64{1, 2}}, []float64{8, 9}},
		{cases, preprocess.Map{Mean: []float64{1, 2}, Root: []float64{1, 0, 0, 1}}, []float64{1, 2}},
	} {
		c.f.Preprocess = &c.how
		if got := c.f.Substitutes(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.how, got, c.want)
		}
	}
	if !slices.Equal(compared.Training.Medians, []float64{1, 2}) {
		t.Errorf("the medians of the file have changed: %v", compared.Training.Medians)
	}
}

// The state of a fit is kept with its cases, with inducing inputs, or with medians.
func TestKeep(t *testing.T) {
	x, z := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 8, 9}), mat.NewDense(1, 2, []float64{5, 6})
	of := Training{Cases: 3, Counts: []int{1, 2}}
	f := ofTwo("", "x", "y")
	f.Keep([]float64{7}, x, nil, of, []int{0, 1, 1}, nil, []float64{1, 2, 3})
	if f.Schema != ofCases || len(f.Inputs) != 3 || f.Inputs[2][1] != 9 || f.Training != nil || len(f.Labels) != 3 || len(f.Weights) != 3 || f.State[0] != 7 {
		t.Errorf("%+v", f)
	}
	f = ofTwo("", "x", "y")
	f.Keep([]float64{7}, x, z, of, []int{0, 1, 1}, nil, nil)
	if f.Schema != condensed || f.Inputs != nil || f.Labels != nil || len(f.Inducing) != 1 || f.Inducing[0][0] != 5 || f.Training.Medians != nil || f.Training.Cases != 3 {
		t.Errorf("%+v", f)
	}
	f = ofTwo("", "x", "y")
	f.Keep([]float64{7}, x, &mat.Dense{}, of, []int{0, 1, 1}, nil, nil)
	if f.Schema != condensed || f.Inducing != nil || !slices.Equal(f.Training.Medians, []float64{3, 4}) {
		t.Errorf("%+v, %+v", f, f.Training)
	}
}

// A log evidence agrees within 1e-4 of it, or of 1 nat.
func TestAgreement(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		told, found float64
		agrees      bool
	}{
		{-0.5, -0.50009, true}, {-0.5, -0.50011, false}, {-200, -200.019, true}, {-200, -199.981, true}, {-200, -200.021, false},
		{nan, nan, true}, {nan, 1, false}, {1, nan, false},
	} {
		f := ofTwo(ofCases)
		f.LogEvidence = record.Spelled(c.told)
		if err := f.agrees(c.found); (err == nil) != c.agrees {
			t.Errorf("%+v: %v", c, err)
		}
		f.Schema = condensed
		if err := f.agrees(c.found); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The columns and their preprocessing go together.
func TestColumnsOfAFile(t *testing.T) {
	good := withCases()
	if err := good.CheckColumns(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(f *File){
		"columns, preprocess: one of them is missing": func(f *File) { f.Columns = nil },
		"columns, preprocess: one of them is":         func(f *File) { f.Preprocess = nil },
		"preprocess: impute must be there":            func(f *File) { f.Preprocess = &preprocess.Map{How: "none", Impute: []float64{1, 2}} },
		"preprocess: ": func(f *File) {
			f.Preprocess = &preprocess.Map{How: "standardize", Mean: []float64{1}, Scale: []float64{1}}
		},
	} {
		f := withCases()
		change(f)
		if err := f.CheckColumns(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The place of an error counts lines and bytes from 1.
func TestPlaces(t *testing.T) {
	text := []byte("ab\nc\n\nd")
	for offset, want := range map[int64]string{0: "line 1, column 1", 1: "line 1, column 1", 3: "line 1, column 3", 4: "line 2, column 1",
		6: "line 3, column 1", 7: "line 4, column 1", 100: "line 4, column 2"} {
		if got := placeIn(text, offset); got != want {
			t.Errorf("%d: %s, want %s", offset, got, want)
		}
	}
}

// A file without cases has the ranges of the inputs, rounded outwards by at most a fifth of their
// width. An input of one value keeps it.
func TestRangesWithoutCases(t *testing.T) {
	f := ofTwo(condensed, "x", "y")
	f.Columns.Inputs = append(f.Columns.Inputs, data.Column{Name: "c", Index: 3})
	x := mat.NewDense(3, 3, []float64{0.123, -7.77, 5, 1.089, 3.21, 5, 0.5, 0, 5})
	f.Keep(nil, x, &mat.Dense{}, Training{Cases: 3, Counts: []int{1, 2}}, nil, nil, nil)
	least, largest := f.Ranges()
	for j, want := range [][2]float64{{0.1, 1.1}, {-8, 4}, {5, 5}} {
		if math.Abs(least[j]-want[0]) > 1e-12 || math.Abs(largest[j]-want[1]) > 1e-12 {
			t.Errorf("input %d: %v to %v, want %v", j, least[j], largest[j], want)
		}
	}
}
