package data

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
)

// The toy data are the same for ever and on every machine, because results on them are compared
// with other people's.
func TestToysAreAlwaysTheSame(t *testing.T) {
	sums := map[string]string{
		"gpml_fig31":  "8b55df31b5aab05e",
		"gpml_fig35":  "d4fc4bb921bc29e4",
		"gpml_fig36":  "a3098827b91d86ff",
		"gpml_fig313": "a0ed3050ad5c317d",
		"sinusoid":    "716668a893efb170",
		"ard":         "36ba3faa063b6973",
		"mixture":     "279955228cd28aca",
	}
	for _, s := range sets.Table {
		if !s.Generated() {
			continue
		}
		var both []byte
		for _, test := range []bool{false, true} {
			_, text, err := s.File(test)
			if err != nil {
				t.Fatal(err)
			}
			both = append(both, text...)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(both))[:16]; got != sums[s.Name] {
			t.Errorf("%s: the files have the sum %s, want %s", s.Name, got, sums[s.Name])
		}
	}
}

// truth returns a column of true values for all cases.
func truth(t *testing.T, d *Data, name string) []float64 {
	k := slices.IndexFunc(d.IDs, func(c IDColumn) bool { return c.Name == name })
	if k < 0 {
		t.Fatalf("%s is not carried through", name)
	}
	var values []float64
	for _, text := range d.IDs[k].Values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

func toyNamed(t *testing.T, name string, numeric bool) *Data {
	t.Helper()
	d, err := Load(Spec{Dataset: name, Regression: numeric}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The labels of the test cases occur as often as their true probabilities say, within four standard
// deviations.
func TestToysTellTheTruth(t *testing.T) {
	for name, columns := range map[string][]string{"gpml_fig31": {"", "true_p"}, "gpml_fig35": {"", "true_p"}, "mixture": {"", "true_p"}, "gpml_fig36": {"", "true_p"}, "gpml_fig313": {"true_p[1]", "true_p[2]", "true_p[3]"}} {
		d := toyNamed(t, name, false).Test
		for class, column := range columns {
			if column == "" {
				continue
			}
			excess, variance := 0.0, 0.0
			for i, p := range truth(t, d, column) {
				if d.Labels[i] == class {
					excess++
				}
				excess -= p
				variance += p * (1 - p)
			}
			if !(math.Abs(excess) <= 4*math.Sqrt(variance)) {
				t.Errorf("%s: class %s is the label %.1f times too often, standard deviation %.1f", name, d.Classes[class], excess, math.Sqrt(variance))
			}
		}
	}
	for _, name := range []string{"sinusoid", "ard"} {
		d := toyNamed(t, name, true).Test
		sum, square, n := 0.0, 0.0, float64(len(d.Targets))
		for i, mean := range truth(t, d, "true_mean") {
			if want := math.Sin(2 * math.Pi * d.X.At(i, 0)); math.Abs(mean-want) > 4e-4 { // x has 4 decimals
				t.Errorf("%s: the mean at %g is %g, want %g", name, d.X.At(i, 0), mean, want)
			}
			z := (d.Targets[i] - mean) / 0.1
			sum, square = sum+z, square+z*z
		}
		if !(math.Abs(sum) < 4*math.Sqrt(n)) || !(math.Abs(square-n) < 4*math.Sqrt(2*n)) {
			t.Errorf("%s: noise of mean %g and mean square %g, in deviations", name, sum/n, square/n)
		}
	}
}

// The true values at the inputs of the test cases equal those in their columns, up to the decimals
// of the inputs; for classes in the order of the data, whichever it is.
func TestTruthAtInputs(t *testing.T) {
	for name, columns := range map[string][]string{"gpml_fig31": {"", "true_p"}, "gpml_fig35": {"", "true_p"}, "mixture": {"", "true_p"}, "gpml_fig36": {"", "true_p"},
		"gpml_fig313": {"true_p[1]", "true_p[2]", "true_p[3]"}, "sinusoid": {"true_mean"}, "ard": {"true_mean"}} {
		d := toyNamed(t, name, columns[0] == "true_mean")
		for k, column := range columns {
			if column == "" {
				continue
			}
			for i, want := range truth(t, d.Test, column) {
				if got := d.Truth(d.Test.X.RawRowView(i)); len(got) != len(columns) || math.Abs(got[k]-want) > 1e-3 { // the slopes are at most 13
					t.Fatalf("%s: case %d has the truth %v, want %g at %d", name, i, got, want, k)
				}
			}
		}
	}
	turned, err := Load(Spec{Dataset: "gpml_fig31", Positive: "-1"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	p, q := toyNamed(t, "gpml_fig31", false).Truth([]float64{1, 2}), turned.Truth([]float64{1, 2})
	if want := 1 / (1 + math.Exp(-3)); math.Abs(p[1]-want) > 1e-15 || math.Abs(p[0]-(1-want)) > 1e-15 || p[0] != q[1] || p[1] != q[0] {
		t.Errorf("%v, and with the other positive class %v", p, q)
	}
	above := 0.5
	for what, s := range map[string]Spec{"another set": {Dataset: "iris"}, "other inputs": {Dataset: "gpml_fig31", Columns: Columns{Chosen: []cells.Name{"x2", "x1"}}}, "two of three classes": {Dataset: "gpml_fig313", Classes: []cells.Name{"1", "2"}},
		"classes of numbers": {Dataset: "sinusoid", Above: &above}, "numbers of classes": {Dataset: "gpml_fig36", Regression: true}} {
		if d, err := Load(s, "", 1); err != nil || d.Truth != nil {
			t.Errorf("%s: truth is known, or %v", what, err)
		}
	}
}

// GPML Figure 3.6, by Bayes' rule.
func TestOneDimensionalToy(t *testing.T) {
	d := toyNamed(t, "gpml_fig36", false)
	density := func(x, mean float64) float64 { return math.Exp(-(x - mean) * (x - mean) / (2 * 0.8 * 0.8)) }
	for i, p := range truth(t, d, "true_p") {
		x := d.X.At(i, 0)
		one, other := 20*density(x, -6)+10*density(x, 2), 30*density(x, 0)
		// x has 4 decimals; the slope of p is at most the slope of a logistic function of a line,
		// whose steepness follows from the distance of the groups
		if want := one / (one + other); math.Abs(p-want) > 5e-5*(6/0.64)/4+1e-6 {
			t.Errorf("p(%g) = %g, want %g", x, p, want)
		}
	}
	for g, from := range []int{0, 20, 50} {
		n, mean := []float64{20, 30, 10}[g], []float64{-6, 0, 2}[g]
		sum, square := 0.0, 0.0
		for i := from; i < from+int(n); i++ {
			z := (d.X.At(i, 0) - mean) / 0.8
			sum, square = sum+z, square+z*z
			if want := []int{1, 0, 1}[g]; d.Labels[i] != want {
				t.Errorf("case %d has the label %s", i, d.Classes[d.Labels[i]])
			}
		}
		if !(math.Abs(sum) < 3*math.Sqrt(n)) || !(math.Abs(square-n) < 4*math.Sqrt(2*n)) {
			t.Errorf("group %d: mean %g and mean square %g, in deviations", g, sum/n, square/n)
		}
	}
}

// A column of true values that the user names as an input is an input.
func TestTruthAsAnInput(t *testing.T) {
	d, err := Load(Spec{Dataset: "gpml_fig36", Columns: Columns{Chosen: []cells.Name{"true_p"}}}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.ColumnNames, []string{"true_p"}) || len(d.IDs) != 0 {
		t.Errorf("inputs %q, ids %v", d.ColumnNames, d.IDs)
	}
	if other, err := d.Schema.Read("gpml_fig36"); err != nil || len(other.Rows) != 1000 {
		t.Errorf("the test cases, read by name: %v", err)
	}
}
