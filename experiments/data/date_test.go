package data

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each text is the same moment in all of these forms, and in no other.
func TestParseDate(t *testing.T) {
	for text, of := range map[string]struct{ forms, want string }{
		"2024-12-31":                     {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"2024/12/31":                     {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"2024-12-31T14:30:05Z":           {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"2024-12-31T14:30:05.25+02:00":   {"ymd dmy mdy", "2024-12-31T14:30:05.25"},
		"2024-12-31 14:30":               {"ymd dmy mdy", "2024-12-31T14:30:00"},
		"2024-12-31 14:30:05 UTC":        {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"2024-2-9":                       {"ymd dmy mdy", "2024-02-09T00:00:00"},
		"2024-12":                        {"ymd dmy mdy", "2024-12-01T00:00:00"},
		"12/2024":                        {"ymd dmy mdy", "2024-12-01T00:00:00"},
		"20241231":                       {"ymd", "2024-12-31T00:00:00"},
		"20241231T143005Z":               {"ymd", "2024-12-31T14:30:05"},
		"31122024":                       {"dmy", "2024-12-31T00:00:00"},
		"31.12.2024":                     {"dmy", "2024-12-31T00:00:00"},
		"31. 12. 2024 9:05":              {"dmy", "2024-12-31T09:05:00"},
		"31/12/2024":                     {"dmy", "2024-12-31T00:00:00"},
		"31-12-2024 23:59:59":            {"dmy", "2024-12-31T23:59:59"},
		"12/31/2024":                     {"mdy", "2024-12-31T00:00:00"},
		"12/31/24 2:30 PM":               {"mdy", "2024-12-31T14:30:00"},
		"12/31/2024, 12:05:00 a.m.":      {"mdy", "2024-12-31T00:05:00"},
		"5/5/68":                         {"dmy mdy", "2068-05-05T00:00:00"},
		"5/5/69":                         {"dmy mdy", "1969-05-05T00:00:00"},
		"31 Dec 2024":                    {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"31-Dec-24":                      {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"Dec 31, 2024":                   {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"December 31st, 2024 2 pm":       {"ymd dmy mdy", "2024-12-31T14:00:00"},
		"Tue, 31 Dec 2024 14:30:05 GMT":  {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"[31/Dec/2024:14:30:05 -0700]":   {"ymd dmy mdy", "2024-12-31T14:30:05"},
		"5. März 2024":                   {"ymd dmy mdy", "2024-03-05T00:00:00"},
		"5 août 2024":                    {"ymd dmy mdy", "2024-08-05T00:00:00"},
		"5 de enero de 2024":             {"ymd dmy mdy", "2024-01-05T00:00:00"},
		"Mar 2024":                       {"ymd dmy mdy", "2024-03-01T00:00:00"},
		"2024年12月31日":                    {"ymd dmy mdy", "2024-12-31T00:00:00"},
		"29.02.2024":                     {"dmy", "2024-02-29T00:00:00"},
		"14:30":                          {"time", "1970-01-01T14:30:00"},
		"14:30:05":                       {"time", "1970-01-01T14:30:05"},
		"2:30 PM":                        {"time", "1970-01-01T14:30:00"},
		"12 am":                          {"time", "1970-01-01T00:00:00"},
		"29.02.2023":                     {},
		"-2024-12-31":                    {},
		"0000-00-00":                     {},
		"2024-13-01":                     {},
		"24:00":                          {},
		"14:60":                          {},
		"13 pm":                          {},
		"1.2.3":                          {},
		"192.168.1.10":                   {},
		"555-12-3456":                    {},
		"12-31/2024":                     {},
		"Dec 31":                         {},
		"31 Dec Dec 2024":                {},
		"2024":                           {},
		"12":                             {},
		"yesterday":                      {},
		"2024-12-31 14:30 or later":      {},
		"2024-12-31-01":                  {},
		strings.Repeat("1", 41):          {},
		"31.12.2024 " + "14:30:05 9 9 9": {},
	} {
		for _, form := range Form("").Names() {
			at, _, ok := ParseDate(text, Form(form))
			want := slices.Contains(strings.Fields(of.forms), form)
			if ok != want || ok && at.Format("2006-01-02T15:04:05.999") != of.want {
				t.Errorf("%q as %s: %v, %v; want %s, %v", text, form, at, ok, of.want, want)
			}
		}
	}
}

// Any text is a date of the calendar or none, and a date is read as it is written.
func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"31.12.2024 14:30", "Dec 31, 2024", "2:30 pm", "20241231", "[31/Dec/2024:14:30:05 -0700]"} {
		f.Add(text)
	}
	layouts := map[Form][]string{YMD: {"2006-01-02 15:04:05", "20060102T150405", "2006/1/2T15:04:05Z07:00"},
		DMY: {"02.01.2006 15:04:05", "2 January 2006, 15:04:05", "2/1/2006 3:04:05 PM"},
		MDY: {"1/2/2006 3:04:05 pm", "Jan 2, 2006 15:04:05"}, Clock: {"15:04:05", "3:04:05 PM"}}
	f.Fuzz(func(t *testing.T, text string) {
		for form, all := range layouts {
			at, _, ok := ParseDate(text, form)
			if !ok {
				continue
			}
			if at.Year() < 1 || at.Year() > 9999 {
				t.Fatalf("%q as %s: year %d", text, form, at.Year())
			}
			if back := timeOf(secondsOf(at)); back.Sub(at).Abs() > time.Millisecond {
				t.Fatalf("%q: %v after seconds %v", text, back, at)
			}
			for _, layout := range all {
				written := at.Format(layout)
				if again, _, ok := ParseDate(written, form); !ok || !again.Equal(at.Truncate(time.Second)) {
					t.Fatalf("%q as %s: %v, %v; want %v", written, form, again, ok, at)
				}
			}
		}
	})
}

// The parts of a date, sine and cosine of cycles, and the days since another date are the inputs: in the training file,
// in a test file and of cases to predict.
func TestDates(t *testing.T) {
	spec := Spec{Label: "y", Missing: "median", MissingIndicators: true, Columns: Columns{Described: map[string]Meaning{
		"in":  {Date: &Date{Form: DMY}},
		"out": {Date: &Date{Form: DMY, Parts: []Part{"year", "month", "weekday", "days"}, Since: "in"}},
		"at":  {Date: &Date{Form: Clock, Parts: []Part{"hour"}}}}}}
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
	schema.Inputs[0].Date.Form = Clock
	if err := schema.Check(); err == nil || !strings.Contains(err.Error(), `"in" is a time of the day`) {
		t.Errorf("days since a time of the day: %v", err)
	}
}

// The ends of cycles meet: the last of a cycle is as near to the first as any two that follow each other.
func TestCyclesMeet(t *testing.T) {
	for _, of := range []struct {
		part Part
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
	year := []Part{"year"}
	of := func(a *Date) Columns {
		return Columns{Described: map[string]Meaning{"a": {Date: a}, "b": {Date: &Date{Form: Clock, Parts: []Part{"hour"}}}}}
	}
	for want, columns := range map[string]Columns{
		`table.csv:3:1: column "a": "31.02.2024" is not a date in the form dmy`: of(&Date{Form: DMY, Parts: year}),
		`"a": it has no form`:                       of(&Date{Parts: year}),
		`unknown form "dym"`:                        of(&Date{Form: "dym", Parts: year}),
		`unknown part "yaer"; did you mean "year"`:  of(&Date{Form: DMY, Parts: []Part{"yaer"}}),
		`part "year" occurs twice`:                  of(&Date{Form: DMY, Parts: []Part{"year", "year"}}),
		`a time of the day has no year`:             of(&Date{Form: Clock, Parts: year}),
		`it makes no input`:                         of(&Date{Form: DMY}),
		`it is since itself`:                        of(&Date{Form: DMY, Since: "a"}),
		`"c" is not described as a date`:            of(&Date{Form: DMY, Since: "c"}),
		`"b" is a time of the day; name a date`:     of(&Date{Form: DMY, Since: "b"}),
		`days since another date need a date`:       of(&Date{Form: Clock, Parts: []Part{"hour"}, Since: "b"}),
		`"a": it needs one of ordered, date`:        {Described: map[string]Meaning{"a": {Date: &Date{Form: DMY}, Ordered: []Name{"x", "z"}}}},
		`column "y" is already used as label`:       {Described: map[string]Meaning{"y": {Date: &Date{Form: DMY, Parts: year}}}},
		`no column "d"`:                             {Described: map[string]Meaning{"d": {Date: &Date{Form: DMY, Parts: year}}}},
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

// The time that reading one date takes.
func BenchmarkParseDate(b *testing.B) {
	for _, text := range []string{"2024-12-31 14:30:05", "31.12.2024", "Dec 31, 2024 2:30 pm"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				ParseDate(text, YMD)
			}
		})
	}
}
