package query

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// written writes a file and returns its name.
func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// A grid has evenly spaced points, both ends included; anything else is no grid.
func TestGrids(t *testing.T) {
	for text, want := range map[string][]float64{"0:1:2": {0, 1}, "-1:1:5": {-1, -0.5, 0, 0.5, 1}, "1e2:300:3": {100, 200, 300},
		"-5e299:5e299:2": {-5e299, 5e299}} {
		if got, err := parseGrid(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, n := range map[string]int{"0:1:10000": 10000, "0:1:10001": 0, "0:1:1": 0, "1:1:3": 0, "2:1:3": 0, "0:1": 0, "0:1:2:3": 0,
		"": 0, "a:1:3": 0, "0:b:3": 0, "0:1:c": 0, "0:1:2.5": 0, "-6e299:6e299:3": 0, "NaN:1:3": 0, "0:NaN:3": 0, "0:Inf:3": 0, "-Inf:0:3": 0} {
		got, err := parseGrid(text)
		if len(got) != n || (err == nil) != (n > 0) {
			t.Errorf("%s: %d points, %v", text, len(got), err)
		}
	}
}

// A name means a bundled set, or else an existing file.
func TestSources(t *testing.T) {
	file := written(t, "x,y\n1,a\n2,b\n")
	if s, err := Source("crabs"); err != nil || s.Dataset != "crabs" || s.Train != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := Source(file); err != nil || s.Dataset != "" || s.Train != file {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := Source("crab"); err == nil || !strings.Contains(err.Error(), "no file of that name") || !strings.Contains(err.Error(), `"crabs"`) {
		t.Error(err)
	}
}

// Data sets are described whatever their labels are, and with missing values counted.
func TestDescribed(t *testing.T) {
	rows := "x,z,y\n" + strings.Repeat("1,2.5,a\n,3,b\n4,5.5,a\n", 20)
	d, err := Describe(written(t, rows), "")
	if err != nil || d.Cases != 60 || d.Table == nil || len(d.Classes) != 2 {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := Describe(written(t, rows), "z"); err != nil || d.Table.Names[d.Table.Label] != "z" {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := Describe("crabs", ""); err != nil || d.Table != nil || d.Cases == 0 {
		t.Errorf("%+v, %v", d, err)
	}
	// 35 of the 506 tracts of Boston are at the river
	river := []data.Count{{Class: "0", N: 471}, {Class: "1", N: 35}}
	if d, err := Describe("housing", "chas"); err != nil || !slices.Equal(d.Classes, river) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := Describe(written(t, rows), "q"); !errors.Is(err, spec.ErrInvalid) {
		t.Error(err)
	}
	if _, err := Describe("nothing", ""); !errors.Is(err, spec.ErrInvalid) {
		t.Error(err)
	}
	sparse := written(t, "1 1:2 3:1\n-1 2:5\n1 1:3\n-1 3:2\n")
	if d, err := Describe(sparse, ""); err != nil || d.Table != nil || d.Cases != 4 {
		t.Errorf("%+v, %v", d, err)
	}
	// a table with only the label says why it is no data set
	if d, err := Describe(written(t, "note,y\n"+strings.Repeat("n,a\nn,b\n", 15)), "y"); err != nil || d.Table.Inputs() != 0 || d.Cases != 30 || d.Name != "t.csv" {
		t.Errorf("%+v, %v", d, err)
	}
	for text, numeric := range map[string]bool{"x,y\n1,a\n2,b\n3,a\n": false, "x,y\n1,1.5\n2,2.5\n3,3.25\n": true} {
		from := data.Spec{Train: written(t, text)}
		if d, err := ReadAny(&from); err != nil || from.Regression != (d.Targets != nil) || numeric && len(d.Classes) == 0 != from.Regression {
			t.Errorf("%s: %+v, %v", text, from, err)
		}
	}
	from := data.Spec{Train: "nothing.csv"}
	if _, err := ReadAny(&from); err == nil || from.Regression {
		t.Errorf("%v, %+v", err, from)
	}
}

// The files of a generated set are complete and compressed.
func TestWavesAreWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	names, err := Waves(50, 3, dir)
	want, _ := data.Waves(50, 3)
	if err != nil || len(names) != len(want) {
		t.Fatal(names, err)
	}
	for i, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if f.Close(); err != nil || name != filepath.Join(dir, want[i].Name+".gz") || !bytes.Equal(text, want[i].Text) {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
	if _, err := Waves(0, 3, dir); !errors.Is(err, spec.ErrInvalid) {
		t.Error(err)
	}
	if _, err := Waves(50, 3, names[0]); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// Every requested quantity of a model is computed, or a warning says why not; the gradient equals
// differences of the log evidence.
func TestAnswers(t *testing.T) {
	file := written(t, "x,y\n1,a\n2,b\n3,a\n4,b\n5,b\n6,a\n")
	q := Query{Data: file, Test: file, Mean: "zero", Kernel: "se", Likelihood: "probit", Inference: "ep", Classes: "joint",
		LeaveOneOut: true, Corrected: true}
	at := func(theta string) *Answer {
		q.Theta = map[string]string{"log_amplitude": theta}
		a, err := q.Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a, up, down := at("0.5"), at("0.5001"), at("0.4999")
	slope := float64(up.LogEvidence-down.LogEvidence) / 2e-4
	if len(a.Gradient) != 2 || math.Abs(slope/float64(a.Gradient["log_amplitude"])-1) > 1e-6 || !a.Converged || a.Iterations < 1 {
		t.Errorf("%+v, slope %v", a, slope)
	}
	if a.LeaveOneOut == nil || a.Corrected == nil || len(a.Warnings) != 0 || a.Test == nil || a.Test.N != 6 || a.Test.Errors == nil || a.Test.LogLoss == nil ||
		a.Test.InformationBits == nil || a.Test.RMSE != nil || math.Abs(float64(*a.Test.ErrorRate)-float64(*a.Test.Errors)/6) > 1e-15 {
		t.Errorf("%+v, %+v", a, a.Test)
	}
	q.Inference, q.Test = "laplace", ""
	if a := at("0.5"); a.Corrected != nil || a.Test != nil || !slices.ContainsFunc(a.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "no corrected log evidence: ")
	}) {
		t.Errorf("%+v", a)
	}
	if q.LeaveOneOut = false; at("0.5").LeaveOneOut != nil {
		t.Error("not asked for")
	}
	q.Corrected, q.Likelihood, q.Inference, q.Data, q.Test = false, "gaussian", "exact", written(t, "x,y\n1,1.5\n2,2\n3,0.5\n"), ""
	q.Test = q.Data
	if a := at("0.5"); a.Test == nil || a.Test.RMSE == nil || a.Test.StandardizedLogLoss == nil || a.Test.Errors != nil || a.Test.N != 3 {
		t.Errorf("%+v", a)
	}
	for _, c := range []struct {
		change func(q *Query)
		want   string
	}{
		{func(q *Query) { q.Theta = map[string]string{"a": "1"} }, "--theta: a=1: unknown hyperparameter"},
		{func(q *Query) { q.Theta = map[string]string{"log_amplitude": "x"} }, `"x" is not a number`},
		{func(q *Query) { q.Theta = map[string]string{"log_amplitude": "1e999"} }, "must be finite"},
		{func(q *Query) { q.Data = "nothing" }, "--data: "},
		{func(q *Query) { q.Preprocess = "squeeze" }, "--preprocess"},
		{func(q *Query) { q.Inference = "logistic_regression" }, "--inference"},
		{func(q *Query) { q.Label = "q" }, "q"},
	} {
		bad := q
		c.change(&bad)
		if _, err := bad.Evaluate(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, job.ErrNoFit) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Mistakes in a request to draw name their flag. The result has a row per case.
func TestDraws(t *testing.T) {
	s := Sampling{Query: Query{Kernel: "se", Mean: "zero", Likelihood: "probit"}, Grid: "0:1:3", Count: 2, Seed: 1}
	d, err := s.Draw(t.Context())
	if err != nil || !slices.Equal(d.Columns, []string{"x", "f1", "f2", "p1", "p2"}) ||
		len(d.Rows) != 3 || len(d.Theta) != 2 {
		t.Fatalf("%+v, %v", d, err)
	}
	for i, row := range d.Rows {
		if len(row) != 5 || float64(row[0]) != float64(i)/2 ||
			math.Abs(float64(row[3])-math.Erfc(-float64(row[1])/math.Sqrt2)/2) > 1e-14 { // p = Φ(f)
			t.Errorf("%v", row)
		}
	}
	for want, change := range map[string]func(s *Sampling){
		"--grid: give either":     func(s *Sampling) { s.Data = "crabs" },
		"--grid: give either --d": func(s *Sampling) { s.Grid = "" },
		"--grid: \"1\" must be":   func(s *Sampling) { s.Grid = "1" },
		"--draws: 0 draws":        func(s *Sampling) { s.Count = 0 },
		"--class-names: needs":    func(s *Sampling) { s.Grid, s.Data, s.Names = "", "crabs", []string{"a", "b"} },
		"--class-names: needs --": func(s *Sampling) { s.Grid, s.Data, s.Names = "", "crabs", []string{"a"} },
		"--data: ":                func(s *Sampling) { s.Grid, s.Data = "", "nothing" },
		"--theta: ":               func(s *Sampling) { s.Theta = map[string]string{"a": "1"} },
		"--kernel":                func(s *Sampling) { s.Kernel = "nothing" },
	} {
		bad := s
		change(&bad)
		if _, err := bad.Draw(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	s.Grid, s.Data = "", "crabs"
	d, err = s.Draw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Figure(); err == nil || !strings.Contains(err.Error(), "a picture has one input, and these cases have 6") {
		t.Errorf("a picture of several inputs: %v", err)
	}
}
