package data

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// TestWeights: cases of weight 0 are left out, in the test file too, and wrong weights are faults with their place.
func TestWeights(t *testing.T) {
	train := file(t, "train.csv", "x,w,y\n1,2,a\n2,0,b\n3,0.5,b\n4,1e3,a\n5,1,b\n")
	test := file(t, "test.csv", "y,x,w\na,1,3\nb,2,0\n")
	d, err := Load(Spec{Train: train, Test: test, Label: "y", Weights: "w"}, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.Weights, []float64{2, 0.5, 1e3, 1}) || !slices.Equal(d.Rows, []int{0, 2, 3, 4}) || len(d.ColumnNames) != 1 {
		t.Errorf("weights %v of rows %v; inputs %v", d.Weights, d.Rows, d.ColumnNames)
	}
	if !slices.Equal(d.Test.Weights, []float64{3}) || len(d.Test.Rows) != 1 || len(d.Warnings) != 2 {
		t.Errorf("test weights %v; warnings %v", d.Test.Weights, d.Warnings)
	}
	if other, err := Load(Spec{Train: train, Label: "y", Columns: Columns{Chosen: []cells.Name{"x"}}}, "", 0); err != nil || other.Hash == d.Hash {
		t.Errorf("the hash does not depend on weights; error %v", err)
	}
	d, err = Load(Spec{Train: file(t, "train.svm", "1 qid:7 1:2 2:5\n-1 qid:7 2:6\n-1 qid:7 1:0.5\n"), Weights: "x1"}, "", 0)
	if err != nil || !slices.Equal(d.Weights, []float64{2, 0.5}) {
		t.Errorf("weights of svmlight: %+v, %v; a feature that a line does not have is 0", d, err)
	}
	for _, wrong := range []string{"-1", "inf", "heavy", ""} {
		path := file(t, "wrong.csv", "x,w,y\n1,1,a\n2,1,b\n3,"+wrong+",b\n")
		_, err := Load(Spec{Train: path, Label: "y", Weights: "w"}, "", 0)
		var fault *FileError
		if !errors.As(err, &fault) || fault.Faults[0].Line != 4 || fault.Faults[0].Column != 3 {
			t.Errorf("weight %q: %v", wrong, err)
		}
	}
}

// Weights that differ between classes by a factor of two are pointed out, with the means of the
// classes: here 4 and 1.5, or 2 and 1.5.
func TestWeightsOfClasses(t *testing.T) {
	for heavy, want := range map[string]string{"5": `a case of class "b" weighs on average 2.67 times as much as one of "a": `, "1": ""} {
		d, err := Load(Spec{Train: file(t, "train.csv", "x,w,y\n1,1,a\n2,2,a\n3,3,b\n4,"+heavy+",b\n"), Label: "y", Weights: "w"}, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range d.Warnings {
			if w.Kind == cause.Weighted {
				got = w.Text
			}
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("weights 1, 2 of a and 3, %s of b: %q", heavy, got)
		}
	}
}

// TestLeftOut: missing values of cases without a label or of weight 0 do not count, and imputation
// does not bring these cases back.
func TestLeftOut(t *testing.T) {
	train := file(t, "train.csv", "x,w,y\n1,1,a\n2,0,b\n3,1,b\n3,1,a\n5,1,b\n4,2,\n,1,a\n")
	d, err := Load(Spec{Train: train, Label: "y", Weights: "w", Missing: "drop", Unlabelled: "drop"}, ".", 1)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]cause.Kind{}
	for _, w := range d.Warnings {
		kinds[w.Text] = w.Kind
	}
	want := map[string]cause.Kind{"values are missing, and the cases dropped": cause.Dropped,
		"weights are 0, and the cases left out": cause.LeftOut, "labels are missing, and the cases dropped": cause.LeftOut}
	if !maps.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	if about := d.about(Spec{Label: "y"}); !strings.Contains(about, "weights are 0") || !strings.Contains(about, "values are missing") {
		t.Error(about)
	}
}
