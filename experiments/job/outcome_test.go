package job

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// The average of outcomes has the means of their probabilities, the moments of the mixture, and the
// largest error.
func TestOutcomesAreAveraged(t *testing.T) {
	var o Outcome
	for n, q := range []struct{ p, mean, variance, failure float64 }{{0.5, 1, 4, 0.1}, {0.75, 3, 1, 0.3}, {0.125, 8, 1, 0.2}} {
		o.Average(Outcome{Predictions: cv.Predictions{Proba: mat.NewDense(1, 2, []float64{1 - q.p, q.p})},
			Means: [][]float64{{q.mean}}, Variances: [][]float64{{q.variance}}, plugged: []float64{q.p / 2},
			AverageError: q.failure}, n+1)
	}
	p := (0.5 + 0.75 + 0.125) / 3
	// E[f] = 4, E[f²] = (5 + 10 + 65)/3
	got := []float64{o.Proba.At(0, 1), o.Proba.At(0, 0), o.plugged[0], o.Means[0][0], o.Variances[0][0], o.AverageError}
	for i, want := range []float64{p, 1 - p, p / 2, 4, 80./3 - 16, 0.3} {
		if math.Abs(got[i]-want) > 1e-13 {
			t.Errorf("%d: %v, want %v", i, got[i], want)
		}
	}
}

// Averages are warned of from the digits on that reports show, and noted from those intended on.
func TestAverageWarnings(t *testing.T) {
	for deviation, want := range map[float64]cause.Kind{0: "", 1e-5: "", 1.1e-5: cause.AveragesNoted, 0.99e-4: cause.AveragesNoted,
		1e-4: cause.Averages, 1: cause.Averages} {
		w := AverageWarnings(deviation)
		if (len(w) == 0) != (want == "") || len(w) > 0 && w[0].Kind != want {
			t.Errorf("%v: %v", deviation, w)
		}
	}
}

// Points have different encodings if a bit of them or the division into points differs.
func TestBitsOf(t *testing.T) {
	met := map[string]int{}
	for i, points := range [][][]float64{nil, {nil}, {{}, {}}, {{1}}, {{1, 2}}, {{1}, {2}}, {{2}, {1}}, {{0}},
		{{math.Copysign(0, -1)}}, {{math.NaN()}}, {{1}, nil}, {nil, {1}}, {{1 + 0x1p-52}}} {
		if before, is := met[bitsOf(points...)]; is {
			t.Errorf("%d is encoded as %d", i, before)
		}
		met[bitsOf(points...)] = i
	}
	var kept sharedResults[int]
	kept.keep("a", 3)
	for k, want := range []bool{true, false} {
		if v, found := kept.take("a"); found != want || want && v != 3 {
			t.Errorf("taken %d times: %v, %v", k, v, found)
		}
	}
}

// The value of a program is in the last line that is not blank, alone or in a field of an object.
func TestOutputOfPrograms(t *testing.T) {
	for _, c := range []struct {
		field, out string
		want       float64
		fails      string
	}{
		{"", "1\n 2.5 \n\n", 2.5, ""}, {"", "-3e2", -300, ""}, {"", "1e-400", 0, ""}, {"", "1e400", 0, "+Inf"},
		{"", "NaN", 0, "NaN"}, {"", "-inf", 0, "-Inf"}, {"", "", 0, `the last line of its output is no number: ""`},
		{"", "2\nx", 0, `is no number: "x"`}, {"loss", "3\n{\"loss\": 4.5}\n", 4.5, ""}, {"loss", `{"loss": "7"}`, 7, ""},
		{"loss", "4", 0, "is no JSON object"}, {"loss", `{"los": 4}`, 0, `the last line of its output has no field "loss": "{\"los\": 4}"`},
		{"loss", `{"loss": 4} 5`, 0, "is no JSON object"},
		{"loss", `{"loss": null}`, 0, `"loss" in the last line of its output is null`},
		{"loss", `{"a": 1, "loss": NaN}`, 0, `"loss" in the last line of its output is NaN`},
		{"loss", `{"loss":-Infinity,"a":NaN}`, 0, `"loss" in the last line of its output is -Inf`},
		{"loss", `{"a": "b: NaN, c", "loss": 2}`, 2, ""}, {"loss", `{"loss": 12345678901234567890}`, 12345678901234567890, ""},
	} {
		var out tail
		for _, b := range []byte(c.out) {
			_, _ = out.Write([]byte{b})
		}
		v, err := Command{Program: &spec.Program{Program: record.Program{Field: c.field}}}.read(out.last(),
			&schedule.Evaluation{}, nil)
		if c.fails == "" && (err != nil || v != c.want) || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || !math.IsNaN(v)) {
			t.Errorf("%q of %q: %v, %v, want %v, %s", c.field, c.out, v, err, c.want, c.fails)
		}
	}
	// Of a long output the end is kept, and not much more.
	var out tail
	for i := range 5 * mostKept {
		if n, err := out.Write([]byte{byte('0' + i%10)}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if n := len(out.kept); n > 2*mostKept || n < min(i+1, mostKept) {
			t.Fatalf("%d bytes are kept of %d", n, i+1)
		}
	}
	if text := out.last(); !strings.HasSuffix(text, "0123456789") {
		t.Errorf("%q", text[len(text)-20:])
	}
}

// A program gets its hyperparameters as one object of JSON: numbers in natural units, and choices
// as texts.
func TestObjectOfPrograms(t *testing.T) {
	c := Command{Program: &spec.Program{Space: []param.Spec{{Name: `a"b`, Map: param.Identity}, {Name: "n", Map: param.Identity}}}}
	if got := c.JSON([]float64{0.5, -3}); got != `{"a\"b": 0.5, "n": -3}` {
		t.Error(got)
	}
}

// toy is a training set of two inputs with weights, a test file and a true function.
func toy() *Set {
	of := func(n int) *data.Data {
		d := &data.Data{X: mat.NewDense(n, 2, nil), Classes: []string{"a", "b"}, ColumnNames: []string{"u", "v"},
			Schema: &data.Schema{Inputs: []data.Column{{Name: "u"}, {Name: "v"}}}}
		for i := range n {
			d.X.SetRow(i, []float64{float64(i), float64(i * i)})
			d.Rows, d.Labels = append(d.Rows, 10*i), append(d.Labels, i%2)
		}
		return d
	}
	d := of(6)
	d.Test = of(3)
	d.Truth = func(x []float64) []float64 { return []float64{1 - x[0], x[0]} }
	return WholeSet(d, data.Spec{Missing: "median"})
}

// A set describes its fits, the number of held-out cases, the imputation, and the true function at
// points.
func TestSetsDescribeThemselves(t *testing.T) {
	s := toy()
	j := Job{Set: s}
	for evaluation, want := range map[string]string{"train": "all training data", "training": "all training data",
		"test": "all training data", "kfold": "kfold repeat 2 fold 3"} {
		s.Evaluation, s.Repeat, s.Fold = evaluation, 2, 3
		if got := j.Where(); got != want {
			t.Errorf("%s: %s", evaluation, got)
		}
	}
	s.Evaluation, s.Test = "kfold", []int{1, 4}
	if s.Held() != 2 || Folded([]*Set{s, s}) != 16 {
		t.Errorf("%d cases are held out, %d in all folds", s.Held(), Folded([]*Set{s, s}))
	}
	if s.Evaluation = "test"; s.Held() != 3 {
		t.Errorf("%d cases of the test file", s.Held())
	}
	if s.Imputes() != "" {
		t.Error("nothing is missing")
	}
	s.Source.Test.X.Set(0, 0, math.NaN())
	if s.Imputes() != "median" {
		t.Error("a value of the test file is missing")
	}
	if got := s.truth(mat.NewDense(2, 2, []float64{0.25, 0, 0.75, 0})); len(got) != 1 || !slices.Equal(got[0], []float64{0.25, 0.75}) {
		t.Errorf("the true probabilities are %v", got)
	}
	s.Source.Truth = func(x []float64) []float64 { return []float64{x[0], x[1], 1} }
	if got := s.truth(mat.NewDense(1, 2, []float64{2, 3})); len(got) != 3 || got[0][0] != 2 || got[1][0] != 3 {
		t.Errorf("the true probabilities of three classes are %v", got)
	}
	s.Source.Truth = nil
	if s.truth(mat.NewDense(1, 2, nil)) != nil {
		t.Error("an unknown function is true")
	}
}

// A lattice of two inputs is listed in rows along the first, and covers the cases of a test file.
func TestPointsOfLattice(t *testing.T) {
	s := toy()
	s.Source.Test.X.Set(2, 1, -25)
	l := s.lattice()
	if len(l) != 2 || l.size() != 41*41 || l[0][0] != -0.5 || l[0][40] != 5.5 || l[1][0] != -30 || l[1][40] != 30 {
		t.Fatalf("%v", l)
	}
	for i, p := 0, l.points(); i < l.size(); i++ {
		if p.At(i, 0) != l[0][i%41] || p.At(i, 1) != l[1][i/41] {
			t.Fatalf("point %d is %v", i, p.RawRowView(i))
		}
	}
	for _, c := range []data.Column{{Levels: []string{"a"}}, {Date: &cells.Date{}}} {
		if s.Source.Schema.Inputs[1] = c; s.lattice() != nil {
			t.Errorf("%+v has a lattice", c)
		}
	}
}

// What is prepared is kept until the last study has finished.
func TestPreparedIsReleased(t *testing.T) {
	s := toy()
	s.Studies, s.Evaluation = 2, "test"
	first, err := s.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Prepare(); again != first || !slices.Equal(first.Rows, []int{0, 10, 20}) || !slices.Equal(first.counts, []int{3, 3}) {
		t.Errorf("prepared %+v, then %+v", first, again)
	}
	one, other := s.Use(), s.Use()
	one()
	if again, _ := s.Prepare(); again != first {
		t.Error("released with a job running")
	}
	other()
	fresh, _ := s.Prepare()
	if fresh == first || fresh.Data.X == first.Data.X || fresh.Held == first.Held || !mat.Equal(fresh.Data.X.X, first.Data.X.X) {
		t.Error("what jobs share is kept without a job")
	}
	for k, want := range []bool{true, false} {
		s.Release()
		if again, _ := s.Prepare(); (again == fresh) != want {
			t.Errorf("after %d studies: kept %v", k+1, !want)
		}
	}
}

// Chains that disagree get another warning than chains with few effective samples. Failed chains
// are left out.
func TestPosteriorOfChains(t *testing.T) {
	points := func(values ...float64) (t record.Trial) {
		for _, v := range values {
			t.Points = append(t.Points, record.Point{Theta: record.Numbers([]float64{v})})
		}
		return t
	}
	l := objective.Layout{Specs: []param.Spec{{Name: "a"}}, Free: []int{0}}
	wave := func(n int, from, step float64) (v []float64) {
		for i := range n {
			v = append(v, from+math.Sin(float64(i*i)*step))
		}
		return v
	}
	failed := points(1e9, -1e9)
	failed.Failure = cause.Failed(errors.New("lost"))
	for _, c := range []struct {
		trials []record.Trial
		want   []cause.Kind
	}{
		{[]record.Trial{points(wave(400, 0, 1)...), points(wave(400, 0, 2)...), failed}, nil},
		{[]record.Trial{points(wave(400, 0, 1)...), points(wave(400, 5, 2)...)}, []cause.Kind{cause.ChainsApart}},
		{[]record.Trial{points(wave(40, 0, 1)...), points(wave(40, 0, 2)...)}, []cause.Kind{cause.FewSamples}},
	} {
		var f record.Fit
		j := Job{Chain: &objective.Chain{}}
		chains := j.Posterior(c.trials, l, &f)
		var kinds []cause.Kind
		for _, w := range f.Warnings {
			kinds = append(kinds, w.Kind)
		}
		if !slices.Equal(kinds, c.want) || len(f.Posterior) != 1 || len(chains) != 2 || len(chains[0]) != len(c.trials[0].Points) {
			t.Errorf("%v, want %v: %+v", f.Warnings, c.want, f.Posterior)
		}
	}
	if (&Job{}).Posterior(nil, l, &record.Fit{}) != nil {
		t.Error("chains without chains")
	}
}

// Coefficients have the names of inputs, the bias last, and of the last classes where the first has
// none; whitening mixes the inputs.
func TestCoefficients(t *testing.T) {
	s := toy()
	one := comparator.Summary{Coefficients: [][]float64{{1, 2, 3}}, StandardErrors: [][]float64{{4, 5, 6}}}
	got := s.Coefficients(one)
	want := []record.Coefficient{{Class: "b", Input: "u", Value: 1, StandardError: 4}, {Class: "b", Input: "v", Value: 2, StandardError: 5},
		{Class: "b", Input: "bias", Value: 3, StandardError: 6}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	one.Coefficients, one.StandardErrors = slices.Repeat(one.Coefficients, 2), slices.Repeat(one.StandardErrors, 2)
	if got := s.Coefficients(one); len(got) != 6 || got[0].Class != "a" || got[3].Class != "b" {
		t.Errorf("%+v", got)
	}
	if s.How = (preprocess.Choice{How: "whiten"}); s.Coefficients(one) != nil {
		t.Error("whitened inputs have coefficients")
	}
}

// A program is found in the path, in its folder, or at an absolute place.
func TestCommandsAreChecked(t *testing.T) {
	for name, want := range map[string]bool{"sh": true, "no-such-program": false, "./outcome_test.go": true, "./none": false,
		"/bin/sh": true, "/bin/none": false} {
		if err := (Command{Program: &spec.Program{Program: record.Program{Command: []string{name}}}, Dir: "."}).Check(); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]bool{"./job/outcome_test.go": true, "./outcome_test.go": false} { // from the folder of the file
		if err := (Command{Program: &spec.Program{Program: record.Program{Command: []string{name}}}, Dir: ".."}).Check(); (err == nil) != want {
			t.Errorf("%s in the folder above: %v", name, err)
		}
	}
	var c Command
	c.Program = &spec.Program{Program: record.Program{Command: []string{"sh", "-c", "cat; pwd >&2; exit 3"}}}
	c.Input, c.Dir = "json", "/"
	if _, err := c.Value(context.Background(), nil); err == nil || err.Error() != "exit status 3: /" {
		t.Error(err)
	}
	// One that leaves a process that holds its output has ended well, and that process ends too.
	left := Command{Program: &spec.Program{Program: record.Program{Command: []string{"sh", "-c", "sleep 300 & echo $! >&2; echo $!"}}}, Dir: "/"}
	pid, err := left.Value(context.Background(), nil)
	if err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", int(pid)))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %v still runs", pid)
		}
	}
	c.Command[2] = "cat"
	c.Program.Field, c.Space = "a", []param.Spec{{Name: "a", Map: param.Identity}}
	if v, err := c.Value(context.Background(), []float64{2.5}); v != 2.5 || err != nil {
		t.Error(v, err)
	}
}

// What is learnt from predictions goes into a model file as it is in the record.
func TestAdjustmentsOfAFit(t *testing.T) {
	threshold := record.Number(0.3)
	f := &record.Fit{Calibration: record.Matrix{{1, 2}, {3, 4}}, Threshold: &threshold, ThresholdRange: record.Vector{0.1, 0.8}}
	var none *Adjust
	if name, parameters, at, among := none.Corrected(f); name != "" || parameters != nil || at != nil || among != nil {
		t.Errorf("%q, %v, %v, %v", name, parameters, at, among)
	}
	if name, parameters, at, among := (&Adjust{}).Corrected(f); name != "" || parameters != nil || !slices.Equal(at, []float64{0.3}) ||
		!slices.Equal(among, []float64{0.1, 0.8}) {
		t.Errorf("without calibration: %q, %v, %v, %v", name, parameters, at, among)
	}
	platt, err := cv.CalibrationNamed("platt")
	if err != nil {
		t.Fatal(err)
	}
	name, parameters, at, _ := (&Adjust{Calibration: &platt}).Corrected(f)
	if name != "platt" || len(parameters) != 2 || !slices.Equal(parameters[1], []float64{3, 4}) || !slices.Equal(at, []float64{0.3}) {
		t.Errorf("%q, %v, %v", name, parameters, at)
	}
	parameters[0][0] = 9
	if f.Threshold = nil; f.Calibration[0][0] != 1 {
		t.Error("the record has changed")
	}
	if _, _, at, among := (&Adjust{Calibration: &platt}).Corrected(f); at != nil || among != nil {
		t.Errorf("threshold %v among %v", at, among)
	}
}
