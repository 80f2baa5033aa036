package data

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// TestOrdered: an input whose values have an order is their rank, in the training file, in a test
// file, and among cases to predict. There a value that is not in the order is missing and counted.
func TestOrdered(t *testing.T) {
	spec := Spec{Label: "y", Missing: "median", Columns: Columns{Described: map[string]Meaning{
		"pain": {Ordered: []cells.Name{"none", "mild", "severe"}}, "often": {Ordered: []cells.Name{"1", "2", "10"}}}}}
	const train = "age,pain,often,y\n30,mild,10,a\n40,none,1,b\n50,severe,2,a\n60,,2,b\n"
	d, err := load(t, spec, train, "age,pain,often,y\n1,severe,1,b\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"age", "pain", "often"}; !slices.Equal(d.ColumnNames, want) {
		t.Errorf("columns %q, want %q", d.ColumnNames, want)
	}
	same := func(what string, got []float64, want ...float64) {
		t.Helper()
		for i, w := range want {
			if math.IsNaN(w) != math.IsNaN(got[i]) || !math.IsNaN(w) && got[i] != w {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
	}
	same("pain", mat.Col(nil, 1, d.X), 2, 1, 3, math.NaN())
	same("often", mat.Col(nil, 2, d.X), 3, 1, 2, 2)
	same("test", mat.Row(nil, 0, d.Test.X), 1, 3, 1)

	schema := restored(t, d)
	cases, err := schema.Read(file(t, "new.csv", "age,pain,often\n1,severe,10\n2,agony,1\n3,None,2\n4,NA,2\n"))
	if err != nil {
		t.Fatal(err)
	}
	same("to predict", mat.Col(nil, 1, cases.X), 3, math.NaN(), math.NaN(), math.NaN())
	told := ""
	for _, u := range cases.Unread {
		told += u.Notice().String() + "\n"
	}
	if !strings.Contains(told, `"pain" that are not in its order`) || !strings.Contains(told, "cases: 1") {
		t.Errorf("warnings %q do not count the value that is not in the order", told)
	}

	spec.IgnoreCase = IgnoreCase{Columns: []cells.Name{"pain"}}
	if d, err = load(t, spec, strings.Replace(train, "mild", "MILD", 1), ""); err != nil {
		t.Fatal(err)
	}
	same("whatever the case", mat.Col(nil, 1, d.X), 2, 1, 3)
}

// TestOrderedMistakes: an invalid order, and values that are not in the order, are reported with
// their position.
func TestOrderedMistakes(t *testing.T) {
	const train = "a,b,y\nlow,1,p\nhigh,2,q\nmiddle,3,p\n"
	order := func(name string, values ...cells.Name) Columns {
		return Columns{Described: map[string]Meaning{name: {Ordered: values}}}
	}
	for want, spec := range map[string]Spec{
		`table.csv:4:1: column "a": "middle" is not in its order (low, high)`: {Columns: order("a", "low", "high")},
		`no column "c"`: {Columns: order("c", "low", "high")},
		`column "b" is already used as categories`: {Columns: order("b", "1", "2", "3"), Categories: []cells.Name{"b"}},
		`column "b" is already used as drop`:       {Columns: order("b", "1", "2", "3"), Drop: []cells.Name{"b"}},
		`a column has no name`:                     {Columns: order("", "low", "high")},
		`the order of "a" has 1 value`:             {Columns: order("a", "low")},
		`"low" occurs twice in the order of "a"`:   {Columns: order("a", "low", "low")},
		`column "y" is already used as label`:      {Columns: order("y", "p", "q")},
	} {
		spec.Label = "y"
		_, err := load(t, spec, train, "")
		if problems := spec.Check(); err == nil && len(problems) > 1 {
			err = problems
		}
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "table.csv")) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
