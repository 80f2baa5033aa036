package data

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// TestCounts: a row of trials is its successes and its failures, with weights, in the test file too, and the two are a
// group. Wrong numbers are faults with their place.
func TestCounts(t *testing.T) {
	train := file(t, "train.csv", "dose,dead,n,w,ward\n1,1,5,1,a\n2,0,4,2,b\n3,3,3,1,c\n4,2.5,6,0.5,d\n5,0,0,1,e\n6,1,2,0,f\n")
	test := file(t, "test.csv", "n,ward,dose,dead,w\n10,a,2.5,4,3\n")
	counts := Counts{Successes: "dead", Trials: "n"}
	d, err := Load(Spec{Train: train, Test: test, Counts: counts, Weights: "w", Drop: []cells.Name{"ward"}}, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if d.X.RawMatrix().Cols != 1 || !slices.Equal(d.X.RawMatrix().Data, []float64{1, 1, 2, 3, 4, 4}) ||
		!slices.Equal(d.Labels, []int{0, 1, 0, 1, 0, 1}) || !slices.Equal(d.Weights, []float64{4, 1, 8, 3, 1.75, 1.25}) ||
		!slices.Equal(d.Classes, []string{"failure", "success"}) {
		t.Errorf("inputs %v, labels %v of %q, weights %v", d.X.RawMatrix().Data, d.Labels, d.Classes, d.Weights)
	}
	if !slices.Equal(d.Rows, []int{0, 1, 2, 5, 6, 7}) ||
		!slices.Equal(d.Groups, []string{"row 1", "row 1", "row 2", "row 3", "row 4", "row 4"}) {
		t.Errorf("rows %v, groups %q", d.Rows, d.Groups)
	}
	if !slices.Equal(d.Test.Weights, []float64{18, 12}) || !slices.Equal(d.Test.Labels, []int{0, 1}) || !slices.Equal(d.Test.Groups, []string{"row 1", "row 1"}) {
		t.Errorf("test weights %v of labels %v in groups %q", d.Test.Weights, d.Test.Labels, d.Test.Groups)
	}
	for _, cases := range []string{"dose\n2\n3\n", "dose,dead,n\n2,1,7\n3,,\n"} { // to be predicted: a case for each row
		p, err := d.Schema.Read(file(t, "new.csv", cases))
		if err != nil || len(p.Rows) != 2 || p.Labels != nil || p.Weights != nil {
			t.Errorf("%q: %v, %v", cases, p, err)
		}
	}
	// What is known of them is there to compare predictions with.
	p, err := d.Schema.Read(file(t, "later.csv", "dose,dead,n\n2,1,7\n3,,4\n4,5,3\n5,many,3\n6,0,0\n"))
	if err != nil || fmt.Sprint(p.Trials) != "[[6 1] [NaN NaN] [NaN NaN] [NaN NaN] [0 0]]" {
		t.Errorf("%v, %v", p.Trials, err)
	}
	for _, without := range []string{"dose,dead\n2,1\n", "dose,n\n2,1\n"} {
		if p, err := d.Schema.Read(file(t, "without.csv", without)); err != nil || p.Trials != nil {
			t.Errorf("%q: %v, %v", without, p, err)
		}
	}
	// Without trials, successes are probabilities. Cases of one ward, or of equal inputs, may be the groups instead.
	soft := file(t, "soft.csv", "x,p\n1,0.25\n1,1\n2,0\n")
	for _, s := range []Spec{{Duplicates: "together"}, {}} {
		s.Train, s.Counts.Successes = soft, "p"
		d, err := Load(s, "", 0)
		if err != nil || !slices.Equal(d.Weights, []float64{0.75, 0.25, 1, 1}) || !slices.Equal(d.Labels, []int{0, 1, 1, 0}) {
			t.Fatalf("%v, %v", d, err)
		}
		if together := d.Groups[1] == d.Groups[2]; together != (s.Duplicates != "") || d.Groups[0] != d.Groups[1] {
			t.Errorf("duplicates %q: groups %q", s.Duplicates, d.Groups)
		}
	}
	for _, wrong := range []string{"-1,2", "3,2", "many,2", "nan,2", "inf,inf", ",2", "1,", "1,-1"} {
		_, err := Load(Spec{Train: file(t, "wrong.csv", "x,s,n\n1,1,3\n2,1,3\n3,"+wrong+"\n"), Counts: Counts{"s", "n"}}, "", 0)
		var fault *FileError
		if !errors.As(err, &fault) || fault.Faults[0].Line != 4 || fault.Faults[0].Column < 3 {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for _, s := range []Spec{
		{Train: soft, Counts: Counts{"p", ""}, Label: "x"}, {Train: soft, Counts: Counts{"", "p"}}, {Train: soft, Counts: Counts{"p", "p"}},
		{Train: soft, Counts: Counts{"p", ""}, Subsample: 2}, {Train: soft, Counts: Counts{"p", ""}, Regression: true},
		{Train: soft, Counts: Counts{"p", ""}, Positive: "success"}, {Train: soft, Counts: Counts{"p", "trials"}},
	} {
		if _, err := Load(s, "", 0); err == nil || !strings.Contains(err.Error(), "data.") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
