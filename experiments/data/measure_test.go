package data

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// Numbers with units, limits of detection and durations are inputs in the training file, in a test file, of cases to
// predict, and of rows from a program.
func TestMeasures(t *testing.T) {
	spec := Spec{Label: "y", Missing: "median", MissingIndicators: true, Columns: Columns{Described: map[string]Meaning{
		"weight": {Unit: "kg"}, "crp": {Unit: "mg/l", Limits: true}, "stay": {Duration: "hours"}}}}
	const head = "weight,crp,stay,y\n"
	d, err := load(t, spec, head+"70.5 kg,<0.5,1:30,a\n850 g,3 mg/L,2 days,b\n60,>100 mg/l,,a\n,,P1DT1H,b\n",
		head+"2 lb,7,90 min,b\n")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"weight", "weight is missing", "crp", "crp beyond limit", "crp is missing", "stay", "stay is missing"}
	if !slices.Equal(d.ColumnNames, names) || !slices.Equal(d.Schema.Origins(), names) {
		t.Errorf("columns %q from %q, want %q", d.ColumnNames, d.Schema.Origins(), names)
	}
	nan := math.NaN()
	same := func(what string, x *mat.Dense, rows ...[]float64) {
		t.Helper()
		for i, want := range rows {
			for j, w := range want {
				if got := x.At(i, j); math.IsNaN(w) != math.IsNaN(got) || math.Abs(got-w) > 1e-12*math.Abs(w) {
					t.Errorf("%s, row %d, %s: %v, want %v", what, i, names[j], got, w)
				}
			}
		}
	}
	same("training", d.X, []float64{70.5, 0, 0.5, -1, 0, 1.5, 0}, []float64{0.85, 0, 3, 0, 0, 48, 0},
		[]float64{60, 0, 100, 1, 0, nan, 1}, []float64{nan, 1, nan, nan, 1, 25, 0})
	same("test", d.Test.X, []float64{0.90718474, 0, 7, 0, 0, 1.5, 0})

	schema := restored(t, d)
	cases, err := schema.Read(file(t, "new.csv", "stay,crp,weight\n1:00,<1 mg/l,1 kg\nsoon,5 g,high\n"))
	if err != nil {
		t.Fatal(err)
	}
	same("to predict", cases.X, []float64{1, 0, 1, -1, 0, 1, 0}, []float64{nan, 1, nan, nan, 1, nan, 1})
	told := ""
	for _, u := range cases.Unread {
		told += u.Notice().String()
	}
	for _, want := range []string{`"weight" that are no numbers in kg`, `"crp" that are no numbers in mg/l`, `"stay" that are no durations`} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not in %q", want, told)
		}
	}
	rows, err := schema.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for range 100 { // more than it begins with
		if err := rows.Add([]any{"1 kg", "<1", "1:00"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Add([]any{json.Number("1.5"), json.Number("2.125"), json.Number("0.5")}); err != nil {
		t.Fatal(err)
	}
	if cases, err = rows.Data(); err != nil {
		t.Fatal(err)
	}
	same("numbers", cases.X.Slice(100, 101, 0, 7).(*mat.Dense), []float64{1.5, 0, 2.125, 0, 0, 0.5, 0})
	same("a row", cases.X.Slice(99, 100, 0, 7).(*mat.Dense), []float64{1, 0, 1, -1, 0, 1, 0})

	spec.Decimal, spec.MissingIndicators = "comma", false
	if d, err = load(t, spec, "weight;crp;stay;y\n70,5 kg;<0,5;1,5 h;a\n1.850 g;3;2 days;b\n", ""); err != nil {
		t.Fatal(err)
	}
	if rows, err = d.Schema.Rows(); err == nil {
		err = rows.Add([]any{json.Number("1.850"), "2,5", json.Number("0.500")}) // numbers of a program have points
	}
	if err != nil {
		t.Fatal(err)
	}
	if cases, err = rows.Data(); err != nil {
		t.Fatal(err)
	}
	if row := cases.X.RawRowView(0); !slices.Equal(row, []float64{1.85, 2.5, 0, 0.5}) {
		t.Errorf("numbers %v", row)
	}
	same("with commas", mat.DenseCopyOf(d.X.Slice(0, 2, 0, 1)), []float64{70.5}, []float64{1.85})
}

// A date without a time has no hour where others have one.
func TestHourMissing(t *testing.T) {
	date := func(zone cells.Zone) Spec {
		return Spec{Label: "y", Missing: "median", Columns: Columns{Described: map[string]Meaning{
			"at": {Date: &cells.Date{Form: cells.YMD, Parts: []cells.Part{"hour", "days"}, Zone: zone}}}}}
	}
	const train = "at,x,y\n2024-01-01 06:00,1,a\n2024-01-02,2,a\n2024-01-03T12:00:00-06:00,3,b\n"
	d, err := load(t, date(""), train, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{1, 0, 19723.25}, {math.NaN(), math.NaN(), 19724}, {0, -1, 19725.5}} {
		for j, w := range want {
			if got := d.X.At(i, j); math.IsNaN(w) != math.IsNaN(got) || math.Abs(got-w) > 1e-12 {
				t.Errorf("row %d: %v, want %v", i, d.X.RawRowView(i), want)
			}
		}
	}
	for zone, want := range map[cells.Zone]float64{"utc": 19725.75, "+01:30": 19725.8125, "-06:00": 19725.5} {
		if d, err = load(t, date(zone), train, ""); err != nil || d.X.At(2, 2) != want || d.X.At(0, 2) != 19723.25 {
			t.Errorf("%s: %v, %v; want %v", zone, d, err, want)
		}
	}
	summer := strings.ReplaceAll(train, "01-0", "07-0")
	for text, want := range map[string]float64{train: 19725.75 + 1./24, summer: 19907.75 + 2./24} {
		if d, err = load(t, date("Europe/Berlin"), text, ""); err != nil || math.Abs(d.X.At(2, 2)-want) > 1e-9 {
			t.Errorf("%v, %v; want %v", d, err, want)
		}
	}
	marked := date("")
	marked.MissingIndicators = true
	if d, err = load(t, marked, train, ""); err != nil || !slices.Equal(mat.Col(nil, 3, d.X), []float64{0, 1, 0}) {
		t.Errorf("%v, %v", d, err)
	}
	spec := date("")
	spec.Missing = "drop"
	if d, err = load(t, spec, train, ""); err != nil || len(d.Rows) != 2 {
		t.Errorf("%v, %v; want two cases", d, err)
	}
	spec.Missing = ""
	if _, err = load(t, spec, train, ""); err == nil || !strings.Contains(err.Error(), `f.csv:3:1: column "at" has no time of the day`) {
		t.Errorf("%v", err)
	}
}

// Units, limits, durations and currencies that do not fit are named with their lines.
func TestMeasureMistakes(t *testing.T) {
	for _, of := range []struct {
		meaning     Meaning
		text, wants string
	}{
		{Meaning{Unit: "kg"}, "1 kg\n5 cm\n6 cm", `f.csv:3:1: column "a": "5 cm" has the unit cm, not kg`},
		{Meaning{Unit: "kg"}, "1 kg\n5 cm\n6 cm", `likewise in line 4`},
		{Meaning{Unit: "kg"}, "1 kg\n<5\n6", `"<5" is a limit; correct it, or set limits: true`},
		{Meaning{Limits: true}, "1\n<5\n6 kg", `"6 kg" has the unit kg; correct it, or set unit: kg`},
		{Meaning{Limits: true}, "1\n<5\nhigh", `"high" is not a number`},
		{Meaning{Duration: "hours"}, "1:30\n5 cm\n1", `f.csv:3:1: column "a": "5 cm" is no duration`},
		{Meaning{Duration: "months"}, "1\n2\n3", `unknown duration "months"`},
		{Meaning{Unit: "5"}, "1\n2\n3", `"5" is no unit`},
		{Meaning{}, "1\n2\n3", `it needs one of ordered, date, duration, and unit`},
		{Meaning{Unit: "kg", Duration: "hours"}, "1\n2\n3", `it needs one of`},
		{Meaning{Date: &cells.Date{Form: cells.YMD, Parts: []cells.Part{"year"}, Zone: "CET"}}, "2024-01-01\n2\n3", `unknown zone "CET"`},
		{Meaning{Date: &cells.Date{Form: cells.YMD, Parts: []cells.Part{"year"}, Zone: "Europe/Nowhere"}}, "2024-01-01\n2\n3", `unknown zone "Europe/Nowhere"`},
	} {
		spec := Spec{Label: "y", Columns: Columns{Described: map[string]Meaning{"a": of.meaning}}}
		lines := strings.Split(of.text, "\n")
		_, err := load(t, spec, fmt.Sprintf("a,y\n%s,p\n%s,q\n%s,p\n", lines[0], lines[1], lines[2]), "")
		if err == nil || !strings.Contains(err.Error(), of.wants) {
			t.Errorf("%v, want %q", err, of.wants)
		}
	}
	for _, categorical := range []string{"", "one_hot"} {
		spec := Spec{Label: "y", Decimal: "point", Categorical: categorical}
		_, err := load(t, spec, "a,y\n$5,p\n7,q\n€6,p\nUSD 4,q\n", "")
		if err == nil || !strings.Contains(err.Error(), `"€6" is in EUR, and others are in USD`) {
			t.Errorf("two currencies: %v", err)
		}
		_, err = load(t, spec, "a,y\n$5,p\n7,q\n6,p\n", "a,y\n7,p\n€6,q\n")
		if err == nil || !strings.Contains(err.Error(), `g.csv:3:1: column "a": "€6" is in EUR, and others are in USD`) {
			t.Errorf("a test file in another currency: %v", err)
		}
	}
	var s Schema
	s.Width, s.Header, s.Label = 2, true, Column{Name: "y", Index: 1}
	s.Inputs = []Column{{Name: "a", Unit: "kg", Levels: []string{"p"}}}
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), "levels") {
		t.Errorf("a unit and levels: %v", err)
	}
}

// A percent sign or a currency is no unit of a weight.
func TestSignsAreNoUnits(t *testing.T) {
	for text, want := range map[string]string{"5.1 %": `"5.1 %" is in %, not kg`, "$5": `"$5" is in USD, not kg`} {
		for _, limits := range []bool{false, true} {
			spec := Spec{Decimal: "point", Columns: Columns{Described: map[string]Meaning{"w": {Unit: "kg", Limits: limits}}}}
			_, err := load(t, spec, "w,b,label\n70 kg,1,M\n"+text+",2,F\n", "")
			if err == nil || !strings.Contains(err.Error(), "f.csv:3:1: column \"w\": "+want) {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
	spec := Spec{Columns: Columns{Described: map[string]Meaning{"w": {Limits: true}}}}
	d, err := load(t, spec, "w,b,label\n<5 %,1,M\n6%,2,F\n", "")
	if err != nil || d.X.At(0, 0) != 0.05 || d.X.At(0, 1) != -1 || d.X.At(1, 0) != 0.06 {
		t.Errorf("%v, %v", d, err)
	}
}
