package columns

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// Facts that the owner of a table knows take the place of what the file shows. Texts lose an order
// and stay categories if they look like numbers; dates among them stay dates. Categories stay
// categories whatever they look like. A column that is left out stays so.
func TestGiven(t *testing.T) {
	path := file(t, rows(60, "level,grade,seen,dose,pain,one,w,label", func(i int) string {
		return fmt.Sprintf("%s,%d,2024-02-%02d,%d mg,%s,x,%d,%s", []string{"low", "mid", "high"}[i%3], i%4, 1+i%28, 5+i%3,
			[]string{"none", "dull", "sharp"}[i*7%3], 1+i%2, []string{"low", "medium", "high"}[i*11%3])
	}))
	table, err := Read(path, "label")
	if err != nil {
		t.Fatal(err)
	}
	if of := table.Spec.Columns.Described; of["level"].Ordered == nil || table.Spec.Order == nil || table.Columns[1].Kind != "number" {
		t.Fatalf("the file alone shows %+v", table.Spec)
	}
	given := Given{Label: "label", Texts: []cells.Name{"level", "grade", "seen", "label"}, Categories: []cells.Name{"dose", "one"},
		Weights: "w", Columns: map[string]data.Meaning{"pain": {Ordered: []cells.Name{"none", "sharp", "dull"}}, "one": {Ordered: []cells.Name{"x", "y"}}}}
	if table, err = ReadGiven(path, given); err != nil {
		t.Fatal(err)
	}
	s := table.Spec
	if want := []cells.Name{"level", "grade", "dose"}; !reflect.DeepEqual(s.Categories, want) {
		t.Errorf("categories %v, want %v", s.Categories, want)
	}
	if of := s.Columns.Described; len(of) != 2 || of["seen"].Date == nil || fmt.Sprint(of["pain"].Ordered) != "[none sharp dull]" {
		t.Errorf("columns %+v", of)
	}
	if s.Order != nil || s.Weights != "w" || fmt.Sprint(s.Drop) != "[one]" {
		t.Errorf("order %v, weights %v, drop %v", s.Order, s.Weights, s.Drop)
	}
	if _, err := data.Load(s, ".", 0); err != nil {
		t.Error(err)
	}
	given.Group, given.ID, given.Drop = "grade", []cells.Name{"seen"}, []cells.Name{"dose"}
	if table, err = ReadGiven(path, given); err != nil {
		t.Fatal(err)
	}
	if s := table.Spec; s.Group != "grade" || fmt.Sprint(s.ID, s.Drop, s.Categories) != "[seen] [dose one] [level]" {
		t.Errorf("group %v, id %v, drop %v, categories %v", s.Group, s.ID, s.Drop, s.Categories)
	}
	given.Order, given.Texts = []cells.Name{"high", "low", "medium"}, nil
	if table, err = ReadGiven(path, given); err != nil || fmt.Sprint(table.Spec.Order) != "[high low medium]" {
		t.Errorf("%v, order %v", err, table.Spec.Order)
	}
}

// A given name that no column has is an error, whichever key has it. Inputs are inputs although
// their values look like something else.
func TestGivenNames(t *testing.T) {
	path := file(t, rows(90, "who,nr,one,text,label", func(i int) string {
		return fmt.Sprintf("p%d,%d,1,some words of case %d that never repeat,%d", i/3, i+1, i, i%2)
	}))
	none := []cells.Name{"Who"}
	for _, given := range []Given{{Texts: none}, {Categories: none}, {Inputs: none}, {ID: none}, {Drop: none},
		{Weights: "Who"}, {Group: "Who"}, {Columns: map[string]data.Meaning{"Who": {Unit: "kg"}}}} {
		given.Label = "label"
		if _, err := ReadGiven(path, given); err == nil || !strings.Contains(err.Error(), `no column "Who"; did you mean "who"?`) {
			t.Errorf("%+v: %v", given, err)
		}
	}
	table, err := ReadGiven(path, Given{Label: "label", Inputs: []cells.Name{"who", "nr", "one"}})
	if err != nil || table.Spec.Group != "" || fmt.Sprint(table.Spec.Drop, table.Spec.ID, table.Spec.Categories) != "[text] [] [who]" {
		t.Errorf("%v: %+v", err, table.Spec)
	}
	_, err = ReadGiven(path, Given{Label: "label", Inputs: []cells.Name{"text"}})
	if err == nil || err.Error() != `column "text" cannot be an input: texts that never repeat` {
		t.Errorf("sentences as an input: %v", err)
	}
}

// A label of 30 different whole numbers is a number, but if its owner knows its values as names,
// they are classes.
func TestGivenClassesOfNumbers(t *testing.T) {
	path := file(t, rows(300, "x,label", func(i int) string { return fmt.Sprintf("%d,%d", i*i%97, 40+i%30) }))
	for _, texts := range [][]cells.Name{nil, {"label"}} {
		table, err := ReadGiven(path, Given{Label: "label", Texts: texts})
		if err != nil {
			t.Fatal(err)
		}
		if classes := len(table.Classes); table.Numeric != (texts == nil) || classes != map[bool]int{true: 0, false: 30}[texts == nil] {
			t.Errorf("with %q numeric is %v, and there are %d classes", texts, table.Numeric, classes)
		}
	}
}
