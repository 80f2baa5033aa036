package data

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// The parts of a date, sine and cosine of cycles, and the days since another date are the inputs: in the training file,
// in a test file and of cases to predict.
func TestDates(t *testing.T) {
	spec := Spec{Label: "y", Missing: "median", MissingIndicators: true, Columns: Columns{Described: map[string]Meaning{
		"in":  {Date: &cells.Date{Form: cells.DMY}},
		"out": {Date: &cells.Date{Form: cells.DMY, Parts: []cells.Part{"year", "month", "weekday", "days"}, Since: "in"}},
		"at":  {Date: &cells.Date{Form: cells.Clock, Parts: []cells.Part{"hour"}}}}}}
	const train = "in,out,at,y\n28.02.2024,01.03.2024,06:00,a\n31.12.2023,01.01.2024 12:00,18:00,b\n" +
		"01.01.2024,,12:00,a\n02.01.2024,02.07.2024,00:00,b\n"
	d, err := load(t, spec, train, "in,out,at,y\n1.1.2024,\"31 Dec 2024\",3:00 am,b\n")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"out year", "out month (sine)", "out month (cosine)", "out weekday (sine)", "out weekday (cosine)",
		"out days", "out days since in", "out is missing", "at hour (sine)", "at hour (cosine)"}
	if !slices.Equal(d.ColumnNames, names) {
		t.Errorf("columns %q, want %q", d.ColumnNames, names)
	}
	same := func(what string, got, want []float64) {
		t.Helper()
		for i, w := range want {
			if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-12*max(1, math.Abs(w)) {
				t.Errorf("%s, %s: %v, want %v", what, names[i], got[i], w)
			}
		}
	}
	half, root, nan := 0.5, math.Sqrt(3)/2, math.NaN()
	friday := 2 * math.Pi * 4 / 7 // 1 March 2024 was a Friday, 1 January a Monday, 2 July and 31 December Tuesdays
	same("row 0", d.X.RawRowView(0), []float64{2024, root, half, math.Sin(friday), math.Cos(friday), 19783, 2, 0, 1, 0})
	same("row 1", d.X.RawRowView(1), []float64{2024, 0, 1, 0, 1, 19723.5, 1.5, 0, -1, 0})
	same("row 2", d.X.RawRowView(2), []float64{nan, nan, nan, nan, nan, nan, nan, 1, 0, -1})
	tuesday := 2 * math.Pi / 7
	same("row 3", d.X.RawRowView(3), []float64{2024, 0, -1, math.Sin(tuesday), math.Cos(tuesday), 19906, 182, 0, 0, 1})
	same("test", d.Test.X.RawRowView(0), []float64{2024, -half, root, math.Sin(tuesday), math.Cos(tuesday), 20088, 365, 0,
		math.Sqrt2 / 2, math.Sqrt2 / 2})
	if source, _ := d.Schema.Sources(); !slices.Equal(source, []int{0, 1, 1, 3, 3, 5, 6, 7, 8, 8}) {
		t.Errorf("sources %v", source)
	}
	if of := d.Schema.Origins(); of[1] != "out month" || of[2] != "out month" || of[7] != "out is missing" {
		t.Errorf("origins %q", of)
	}
	want := []string{"out", "out", "out", "out", "out", "out", "out days since in", "out", "at", "at"}
	if of := d.Schema.From(); !slices.Equal(of, want) {
		t.Errorf("from %q, want %q", of, want)
	}

	schema := restored(t, d)
	cases, err := schema.Read(file(t, "new.csv", "at,in,out\n6:00,01.01.2024,2024-01-02\n,tomorrow,\n"))
	if err != nil {
		t.Fatal(err)
	}
	same("to predict", cases.X.RawRowView(0), []float64{2024, 0, 1, math.Sin(tuesday), math.Cos(tuesday), 19724, 1, 0, 1, 0})
	same("missing", cases.X.RawRowView(1), []float64{nan, nan, nan, nan, nan, nan, nan, 1, nan, nan})
	told := ""
	for _, u := range cases.Unread {
		told += u.Notice().String() + "\n"
	}
	if !strings.Contains(told, `"in" that are not in the form dmy`) {
		t.Errorf("warnings %q do not count the text that is no date", told)
	}
	rows, err := schema.Rows()
	if err != nil {
		t.Fatal(err)
	}
	if err := rows.Add([]any{"01.01.2024", "2024-01-02", "6:00"}); err != nil {
		t.Fatal(err)
	}
	if cases, err = rows.Data(); err != nil {
		t.Fatal(err)
	}
	same("a row", cases.X.RawRowView(0), []float64{2024, 0, 1, math.Sin(tuesday), math.Cos(tuesday), 19724, 1, 0, 1, 0})
	schema.Inputs[0].Date.Form = cells.Clock
	if err := schema.Check(); err == nil || !strings.Contains(err.Error(), `"in" is a time of the day`) {
		t.Errorf("days since a time of the day: %v", err)
	}
}

// The ends of cycles meet: the last of a cycle is as near to the first as any two that follow each other.
func TestCyclesMeet(t *testing.T) {
	for _, of := range []struct {
		part cells.Part
		step time.Duration
		n    int
	}{{"weekday", 24 * time.Hour, 7}, {"hour", time.Hour, 24}, {"day", 24 * time.Hour, 31}} {
		var steps []float64
		start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range of.n {
			a, b := of.part.Of(start.Add(time.Duration(i)*of.step)), of.part.Of(start.Add(time.Duration(i+1)*of.step))
			steps = append(steps, 2*math.Abs(math.Sin(math.Pi*(b-a))))
		}
		if slices.Max(steps)-slices.Min(steps) > 1e-12 || slices.Min(steps) < 0.1 {
			t.Errorf("%s: chords %v", of.part, steps)
		}
	}
}

// TestDateMistakes: forms, parts and dates that are none are named with their place.
func TestDateMistakes(t *testing.T) {
	const train = "a,b,y\n01.02.2024,1:30,p\n31.02.2024,2:30,q\n01.03.2024,3:30,p\n"
	year := []cells.Part{"year"}
	of := func(a *cells.Date) Columns {
		return Columns{Described: map[string]Meaning{"a": {Date: a}, "b": {Date: &cells.Date{Form: cells.Clock, Parts: []cells.Part{"hour"}}}}}
	}
	for want, columns := range map[string]Columns{
		`table.csv:3:1: column "a": "31.02.2024" is not a date in the form dmy`: of(&cells.Date{Form: cells.DMY, Parts: year}),
		`"a": it has no form`:                       of(&cells.Date{Parts: year}),
		`unknown form "dym"`:                        of(&cells.Date{Form: "dym", Parts: year}),
		`unknown part "yaer"; did you mean "year"`:  of(&cells.Date{Form: cells.DMY, Parts: []cells.Part{"yaer"}}),
		`part "year" occurs twice`:                  of(&cells.Date{Form: cells.DMY, Parts: []cells.Part{"year", "year"}}),
		`a time of the day has no year`:             of(&cells.Date{Form: cells.Clock, Parts: year}),
		`it makes no input`:                         of(&cells.Date{Form: cells.DMY}),
		`it is since itself`:                        of(&cells.Date{Form: cells.DMY, Since: "a"}),
		`"c" is not described as a date`:            of(&cells.Date{Form: cells.DMY, Since: "c"}),
		`"b" is a time of the day; name a date`:     of(&cells.Date{Form: cells.DMY, Since: "b"}),
		`days since another date need a date`:       of(&cells.Date{Form: cells.Clock, Parts: []cells.Part{"hour"}, Since: "b"}),
		`"a": it needs one of ordered, date`:        {Described: map[string]Meaning{"a": {Date: &cells.Date{Form: cells.DMY}, Ordered: []cells.Name{"x", "z"}}}},
		`column "y" is already used as label`:       {Described: map[string]Meaning{"y": {Date: &cells.Date{Form: cells.DMY, Parts: year}}}},
		`no column "d"`:                             {Described: map[string]Meaning{"d": {Date: &cells.Date{Form: cells.DMY, Parts: year}}}},
		`"a": it needs one of ordered, date, durat`: {Described: map[string]Meaning{"a": {}}},
	} {
		spec := Spec{Label: "y", Columns: columns}
		_, err := load(t, spec, train, "")
		spec.Train = "table.csv"
		if problems := spec.Check(); len(problems) > 0 {
			err = problems
		}
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "table.csv")) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
