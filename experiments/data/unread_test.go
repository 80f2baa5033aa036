package data

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// unreadTexts are the notices of the values that could not be read.
func unreadTexts(d *Data) (all string) {
	if d == nil {
		return ""
	}
	for _, u := range d.Unread {
		all += u.Notice().String() + "\n"
	}
	return all
}

// No format refuses cases to predict for one value: it is missing, and named with its column, case and place.
func TestUnreadCells(t *testing.T) {
	train, err := load(t, Spec{Categorical: "one_hot", Label: "y", Decimal: "point", Columns: Columns{Described: map[string]Meaning{
		"w": {Unit: "kg"}, "s": {Ordered: []cells.Name{"low", "high"}}}}},
		"n,p,colour,w,s,y\n1,$5,red,1 kg,low,a\n2,$6,blue,2 kg,high,b\n", "")
	if err != nil {
		t.Fatal(err)
	}
	const csv = "n,p,colour,w,s\n1,$5,red,1 kg,low\nrotary,EUR6,lila,tall,mid\n3,$7,red,3 kg,high\n"
	cells := [][]string{{"n", "p", "colour", "w", "s"}, {"<c><v>1</v></c>", "$5", "red", "1 kg", "low"}, {"rotary", "EUR6", "lila", "tall", "mid"},
		{"<c><v>3</v></c>", "$7", "red", "3 kg", "high"}}
	parquet := asParquet(cells[0], [][]string{{"1", "$5", "red", "1 kg", "low"}, {"rotary", "EUR6", "lila", "tall", "mid"}, {"3", "$7", "red", "3 kg", "high"}}, 2, "", "", 2)
	for format, of := range map[string]struct{ content, place string }{
		"CSV":        {csv, "(line 3)"},
		"JSON lines": {`{"n":1,"p":"$5","colour":"red","w":"1 kg","s":"low"}` + "\n" + `{"n":"rotary","p":"EUR6","colour":"lila","w":"tall","s":"mid"}` + "\n" + `{"n":3,"p":"$7","colour":"red","w":"3 kg","s":"high"}`, "(line 2)"},
		"xlsx":       {asXLSX("", map[string][][]string{"s": cells}), "(s!%3)"},
		"Parquet":    {parquet, "(row 2)"},
	} {
		want := ""
		for j, u := range [][2]string{{"n", `that are no numbers: they are treated as missing; "rotary"`}, {"p", `that are not in USD: they are treated as missing; "EUR6"`},
			{"colour", `that do not occur in the training file: all their indicators are 0; "lila"`}, {"w", `that are no numbers in kg: they are treated as missing; "tall"`},
			{"s", `that are not in its order: they are treated as missing; "mid"`}} {
			place := strings.Replace(of.place, "%", string(rune('A'+j)), 1)
			if u[0] == "colour" { // its column is not kept
				place = strings.Replace(of.place, "%", "", 1)
			}
			want += fmt.Sprintf("values of %q %s of case 1 %s (cases: 1)\n", u[0], u[1], place)
		}
		for _, schema := range []*Schema{train.Schema, restored(t, train)} {
			path := file(t, "new", of.content)
			d, err := schema.Read(path)
			if err != nil || unreadTexts(d) != want || len(d.Rows) != 3 {
				t.Errorf("%s: %v\n%s\nwant\n%s", format, err, unreadTexts(d), want)
				continue
			}
			for j, v := range d.X.RawRowView(1) {
				if name := d.ColumnNames[j]; math.IsNaN(v) == strings.HasPrefix(name, "colour") {
					t.Errorf("%s: %s is %v", format, name, v)
				}
			}
			if d.X.At(2, 0) != 3 || d.X.At(0, 0) != 1 {
				t.Errorf("%s: the other cases are %v and %v", format, d.X.RawRowView(0), d.X.RawRowView(2))
			}
			var all []Unread
			if err := schema.Stream(path, nil, 1, func(d *Data) error { all = Merge(all, d.Unread); return nil }); err != nil || unreadTexts(&Data{Unread: all}) != want {
				t.Errorf("%s: streamed %v, %v", format, all, err)
			}
		}
	}
	rows, err := train.Schema.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]any{{json.Number("1"), "$5", "red", "1 kg", "low"}, {"rotary", "EUR6", "lila", "tall", "mid"}, {true, json.Number("1e400"), "red", nil, "low"}} {
		if err := rows.Add(row); err != nil {
			t.Error(err)
		}
	}
	d, err := rows.Data()
	if err != nil || !strings.Contains(unreadTexts(d), `"rotary" of case 1, "true" of case 2 (cases: 2)`) || !strings.Contains(unreadTexts(d), `"1e400" of case 2`) {
		t.Errorf("%s, %v", unreadTexts(d), err)
	}
	// Of many the first are named. Training and test files are refused as before.
	if d, err = train.Schema.Read(file(t, "new", "n,p,colour,w,s\n"+strings.Repeat("x,$5,red,1 kg,low\n", 9))); err != nil ||
		!strings.Contains(unreadTexts(d), `"x" of case 3 (line 5) and 5 more (cases: 9)`) {
		t.Errorf("%s, %v", unreadTexts(d), err)
	}
	if _, err := load(t, Spec{}, "n,y\n1,a\n2,b\n", "n,y\nrotary,a\n"); err == nil || !strings.Contains(err.Error(), `"rotary" is not a number`) {
		t.Error(err)
	}
	// So are cases to predict where the experiment refuses missing values.
	if train, err = load(t, Spec{Missing: "error"}, "n,y\n1,a\n2,b\n", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := train.Schema.Read(file(t, "new", "n\nrotary\n")); err == nil || !strings.Contains(err.Error(), `"rotary" is not a number`) {
		t.Error(err)
	}
}

// A nested value of JSON, and a value of an svmlight file that is no number, are unreadable cells too.
func TestUnreadCellsOfOtherForms(t *testing.T) {
	train, err := load(t, Spec{}, "n,m,y\n1,2,a\n2,3,b\n", "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := train.Schema.Read(file(t, "new", `[{"n": {"k": [1, "}"]}, "m": 5}, {"n": [], "m": 6}]`))
	if err != nil || unreadTexts(d) != `values of "n" that are no numbers: they are treated as missing; "{\"k\": [1, \"}\"]}" of case 0 (line 1), "[]" of case 1 (line 1) (cases: 2)`+"\n" || d.X.At(1, 1) != 6 {
		t.Errorf("%s, %v", unreadTexts(d), err)
	}
	if _, err := train.Schema.Read(file(t, "new", `[{"n": [1, "m": 5}]`)); err == nil {
		t.Error("damaged JSON is read")
	}
	if train, err = load(t, Spec{}, "1 1:1 2:3\n-1 1:2 2:5\n", ""); err != nil {
		t.Fatal(err)
	}
	d, err = train.Schema.Read(file(t, "new", "1 1:x 2:4\n1 1:2\n"))
	if err != nil || unreadTexts(d) != `values of "x1" that are no numbers: they are treated as missing; "x" of case 0 (line 1) (cases: 1)`+"\n" || !math.IsNaN(d.X.At(0, 0)) || d.X.At(0, 1) != 4 {
		t.Errorf("%s, %v", unreadTexts(d), err)
	}
}

// A numeric input that is all text in two cases or more is an error, and so are two inputs of a
// single case whose texts are numbers in another notation. Words for missing values, other single
// cases, and columns with one number are not.
func TestCheckNumbers(t *testing.T) {
	train := map[string]string{"comma": "a;s;y\n1,5;2,5;u\n2,5;3,5;v\n", "point": "a;s;y\n1.5;2.5;u\n2.5;3.5;v\n"}
	for _, c := range []struct{ decimal, rows, want string }{
		{"comma", "1.5;1,5\n3.25;2,5\n", `no value of "a" is a number as in the training file; one is "1.5"; this model reads decimal: comma`},
		{"point", "1.5;1,5\n3.25;2,5\n", `no value of "s" is a number as in the training file; one is "1,5"; this model reads decimal: point`},
		{"comma", "1,5;x\n3,25;y\n;\n", `no value of "s" is a number as in the training file; one is "x"; correct the column, or leave it out`},
		{"comma", "1,5;n/a\n3,25;y\n;\n", ""},
		{"comma", "1,5;n/a\n3,25;unknown\n;\n", ""},
		{"comma", "1,5;x\n", ""},
		{"comma", "x;y\n", ""},
		{"point", "1,5;2,5\n", `no value of "s" is a number as in the training file; one is "2,5"; this model reads decimal: point`},
		{"comma", "1.5;1,5\n3,25;2,5\n", ""},
		{"comma", "1.5;1,5\n", ""},
		{"comma", "1.5;1,5\n;2,5\n", ""},
		{"comma", ";1,5\n;2,5\n", ""},
	} {
		d, err := load(t, Spec{Label: "y", Decimal: c.decimal}, train[c.decimal], "")
		if err != nil {
			t.Fatal(err)
		}
		cases, err := d.Schema.Read(file(t, "new", "a;s\n"+c.rows))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := d.Schema.CheckNumbers(cases); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %q: %s\nwant %s", c.decimal, c.rows, got, c.want)
		}
	}
}

// The words true and false are levels in any letter case, in files as in rows of a program, unless
// two levels are the same word.
func TestBooleansInAnyCase(t *testing.T) {
	for name, of := range map[string]struct {
		levels, cases string
		want          [][]float64 // indicators
	}{
		"small":    {"true\nfalse\n", "TRUE\nFalse\ntrue\n", [][]float64{{0, 1}, {1, 0}, {0, 1}}},
		"capitals": {"TRUE\nFALSE\n", "true\nfalse\nFALSE\n", [][]float64{{0, 1}, {1, 0}, {1, 0}}},
		"others":   {"yes\nno\n", "YES\nno\nNo\n", [][]float64{{0, 0}, {1, 0}, {0, 0}}},
		"several":  {"true\nTRUE\n", "True\nTRUE\ntrue\n", [][]float64{{0, 0}, {1, 0}, {0, 1}}},
	} {
		lines := strings.Fields(of.levels)
		d, err := load(t, Spec{Categorical: "one_hot", Label: "y"}, "a,y\n"+lines[0]+",u\n"+lines[1]+",v\n", "")
		if err != nil {
			t.Fatal(err)
		}
		cases, err := d.Schema.Read(file(t, "new", "a\n"+of.cases))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range of.want {
			if got := cases.X.RawRowView(i); got[0] != want[0] || got[1] != want[1] {
				t.Errorf("%s: case %d is %v, want %v", name, i, got, want)
			}
		}
	}
}
