package columns

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// profiled is the profile of a column of these values.
func profiled(name string, n int, value func(i int) string) *profile {
	p := newProfile(name, 0, 1)
	for i := range n {
		p.add(value(i))
	}
	p.settle()
	return p
}

// kindOf returns the first kind that fits a column, and the description of its values.
func kindOf(p *profile) (kind, found string) {
	for _, k := range kinds {
		if found, is := k.is(p); is {
			return k.Name, found
		}
	}
	return "", ""
}

// Each bound on the number of rows, of different values, of bytes and of blanks: at it, and one
// beyond.
func TestBoundsOfKinds(t *testing.T) {
	cycle := func(form string, n int) func(i int) string {
		return func(i int) string { return fmt.Sprintf(form, i%n) }
	}
	nth := func(i int) string { return fmt.Sprint(i + 1) }
	words := func(blanks, bytes int) func(i int) string {
		return func(i int) string {
			text := fmt.Sprintf("x%c%02d", 'a'+i, i)
			if i < blanks {
				text = "y " + text[1:]
			}
			return text + strings.Repeat("z", bytes-len(text))
		}
	}
	mixed := func(first int, unit string) func(i int) string {
		return func(i int) string {
			if i < first {
				return unit
			}
			return fmt.Sprintf("%d.5", i)
		}
	}
	odd := func(odd int) func(i int) string {
		return func(i int) string {
			if i < odd {
				return fmt.Sprintf("word%c", 'a'+i)
			}
			return fmt.Sprintf("%d.5", i)
		}
	}
	for _, c := range []struct {
		name  string
		n     int
		value func(i int) string
		want  string
	}{
		{"patient", 12, cycle("p%d", 10), "group"}, {"patient", 11, cycle("p%d", 10), "text"},
		{"patient", 24, cycle("p%d", 5), "group"}, {"patient", 24, cycle("p%d", 4), "category"}, {"patient", 500, cycle("p%d", 10), "group"},
		{"patient", 501, cycle("p%d", 10), "category"}, {"patient", 18, cycle("p%d", 15), "group"},
		{"patient", 17, cycle("p%d", 15), "text"},
		{"a", 20, nth, "row number"}, {"a", 19, nth, "number"}, {"id", 19, nth, "row number"},
		{"a", 10, words(0, 5), "identifier"}, {"a", 9, words(0, 5), "text"}, {"id", 9, words(0, 5), "identifier"},
		{"id", 3, words(0, 5), "identifier"}, {"id", 2, words(0, 5), "text"},
		{"a", 10, words(0, 60), "identifier"}, {"a", 10, words(0, 61), "text"},
		{"a", 10, words(5, 21), "identifier"}, {"a", 10, words(6, 21), "text"}, {"a", 10, words(6, 20), "identifier"},
		{"zip", 20, cycle("%d", 3), "category"}, {"zip", 19, cycle("%d", 3), "number"},
		{"zip", 20, cycle("%d", 2), "number"}, {"zip", 100, cycle("%d", 50), "category"},
		{"zip", 99, cycle("%d", 50), "number"}, {"zip", 102, cycle("%d", 51), "number"},
		{"row_id", 20, cycle("%d", 3), "category"},
		{"region", 120, cycle("v%dw", 60), "category"}, {"region", 119, cycle("v%dw", 60), "text"},
		{"region", 122, cycle("v%dw", 61), "text"},
		// groups without a name: ten values of letters and digits, or rows that stand together, and none alone
		{"a", 20, cycle("v%dw", 10), "group"}, {"a", 19, cycle("v%dw", 10), "text"}, {"a", 18, cycle("v%dw", 9), "category"},
		{"a", 20, func(i int) string { return "w" + string(rune('a'+i/2)) }, "group"},
		{"a", 20, func(i int) string { return "w" + string(rune('a'+i%10)) }, "category"},
		{"a", 501, cycle("v%dw", 10), "category"}, {"number", 60, cycle("%d", 6), "number"}, {"stratum", 60, cycle("%d", 20), "group"}, {"a", 2, func(int) string { return "x" }, "constant"},
		{"a", 6, cycle("%d - x", 3), "ordered"}, {"a", 5, cycle("%d - x", 3), "text"},
		{"a", 4, cycle("%d - x", 2), "category"},
		{"w", 5, cycle("%d.5", 5), "weight"}, {"w", 5, cycle("-%d.5", 5), "number"}, {"w", 5, cycle("%d", 5), "weight"},
		// a few texts among numbers: at most three, and at most one value of fifty
		{"a", 150, odd(3), "number"}, {"a", 149, odd(3), "text"}, {"a", 400, odd(4), "text"},
		// numbers without a unit are taken to have it if at least as many numbers have the unit
		{"a", 24, mixed(12, "3 kg"), "measure"}, {"a", 25, mixed(12, "3 kg"), "text"},
	} {
		if got, found := kindOf(profiled(c.name, c.n, c.value)); got != c.want {
			t.Errorf("%s, %d values like %q: %s (%s), want %s", c.name, c.n, c.value(0), got, found, c.want)
		}
	}
}

// What is said of a column, in full.
func TestFoundInFull(t *testing.T) {
	list := func(texts string) (*profile, string) {
		name, values, _ := strings.Cut(texts, ": ")
		all := strings.Split(values, " | ")
		return profiled(name, len(all), func(i int) string { return all[i] }), name
	}
	for texts, want := range map[string]string{
		"a: 1 | 2.5 | 4 | -3":                         "numbers, -3 to 4, mean 1.125",
		"a: 1 | 2 | 4 | 1":                            "whole numbers, 1 to 4, mean 2",
		"a: 1 | 2 | 2 | 2":                            "two numbers, 1 to 2, mean 1.75",
		"a: -99 | 2 | 3 | 4 | -99":                    "whole numbers, -99 to 4, mean -37.8; if -99 (2 times) stands for a missing value, add it to missing_values",
		"a: -9 | -9 | 2 | 3 | 4":                      "whole numbers, -9 to 4, mean -1.8; if -9 (2 times) stands for a missing value, add it to missing_values",
		"a: -9 | -9 | 2 | -1 | 4":                     "whole numbers, -9 to 4, mean -2.6",
		"a: 1.5 | 2,25 | 3.25 | 4,5 | 1.75":           "numbers with decimal points and with decimal commas, such as 1.5 and 2,25; write all alike",
		"a: 9999 | 2 | 3 | 9999":                      "whole numbers, 2 to 9999, mean 5000.75",
		"a: 9999 | 2 | 3 | 9999 | 1":                  "whole numbers, 1 to 9999, mean 4000.8; if 9999 (2 times) stands for a missing value, add it to missing_values",
		"a: 999 | 2 | 3 | 4 | 5":                      "whole numbers, 2 to 999, mean 202.6",
		"a: 99 | 99 | 3 | 4 | 20":                     "whole numbers, 3 to 99, mean 45",
		"a: 998 | 998 | 3 | 4 | 20":                   "whole numbers, 3 to 998, mean 404.6",
		"a: 20241231 | 20240101 | 20230405":           "whole numbers, 2.02304e+07 to 2.02412e+07, mean 2.02372e+07; if they are dates, as 20241231 is, write columns: {a: {date: {form: ymd, parts: [year, month, weekday]}}}",
		"a: 20241231 | 20240101 | 20231405":           "whole numbers, 2.02314e+07 to 2.02412e+07, mean 2.02376e+07",
		"a: 20241231 | 20240101 | 18991231":           "whole numbers, 1.89912e+07 to 2.02412e+07, mean 1.98242e+07",
		"a: 20241231 | 20240101 | 21010101":           "whole numbers, 2.02401e+07 to 2.10101e+07, mean 2.04971e+07",
		"admitted: 44927 | 45623 | 45000":             "whole numbers, 44927 to 45623, mean 45183.3; they look like dates that a spreadsheet has as numbers of days, 44927 for 2023-01-01: write dates, or drop the column",
		"score: 44927 | 45623 | 45000":                "whole numbers, 44927 to 45623, mean 45183.3",
		"admitted: 44927 | 45623 | 45000.5":           "numbers, 44927 to 45623, mean 45183.5",
		"day: 20000 | 27305 | 25000":                  "whole numbers, 20000 to 27305, mean 24101.7; they look like dates that a spreadsheet has as numbers of days, 20000 for 1954-10-03: write dates, or drop the column",
		"day: 20000 | 27306 | 25000":                  "whole numbers, 20000 to 27306, mean 24102",
		"day: 19999 | 27300 | 25000":                  "whole numbers, 19999 to 27300, mean 24099.7",
		"day: 59998 | 60000 | 59996":                  "whole numbers, 59996 to 60000, mean 59998; they look like dates that a spreadsheet has as numbers of days, 59996 for 2064-04-04: write dates, or drop the column",
		"day: 59998 | 60001 | 59996":                  "whole numbers, 59996 to 60001, mean 59998.3",
		"a: b | a | b | c | c | b":                    "3 categories: b (3), c (2), a (1)",
		"a: f | e | d | c | b | f | e | d | c | b":    "5 categories: b (2), c (2), d (2), e (2), f (2)",
		"a: f | e | d | c | b | f | e | d | c | b| a": "6 different texts, too many for categories",
		"a: x | NA":                             "one value, x, or none",
		"a: x | x":                              "one value, x",
		"a: " + strings.Repeat("y", 30):         "one value, " + strings.Repeat("y", 30),
		"a: " + strings.Repeat("y", 31):         "one value, " + strings.Repeat("y", 30) + "…",
		"a: NA | ":                              "no values",
		"id: 0 | 1 | 2":                         "the numbers 0 to 2, each once",
		"id: 2 | 1 | 3":                         "the numbers 1 to 3, each once",
		"id: 2 | 4 | 3":                         "whole numbers that never repeat, named like an identifier",
		"a: 3 kg | 5 kg | 2.5 | 1000 g":         "numbers, 2.5 to 1000 as they are written, in kg; 1 without a unit, taken to be in kg; g converted",
		"a: USD12 | USD5 | USD7":                "whole numbers, 5 to 12, mean 8",
		"a: $3 | €5 | 4":                        "in EUR, USD; write all in one currency",
		"a: 3.5 kg | 5 kg | 2 cm | 7 kg | 8 kg": "in kg and cm; write all in one unit",
		"a: x y | 2 | 3":                        "2 numbers and 1 texts, such as \"x y\"; missing_values: [TEXT, …] makes numbers of it if those stand for missing ones",
		"a: <3 | 5 | 2.5 | >8 | >9":             "numbers, 2.5 to 9; 1 below a limit of detection; 2 above a limit of detection",
		"stay: 1:30 | 2:45 | 0:15":              "durations, 0.25 to 2.75 hours; 1:30 is read as hours and minutes, a guess",
		"stay: 1:30 | 2:45 | 0:02:30":           "durations, 1.5 to 2.75 minutes; 1:30 is read as minutes and seconds",
		"a: 90 min | 4 h | 3 h":                 "durations, 1.5 to 4 hours",
		"a: 60 min | 1 h | 1 h":                 "durations, 60 to 60 minutes",
		"a: 2 h | 2 h":                          "one value, 2 h",
	} {
		p, _ := list(texts)
		if kind, found := kindOf(p); found != want {
			t.Errorf("%s: %s, %s\nwant %s", texts, kind, found, want)
		}
	}
}

// What the label of a column can be, at each bound.
func TestBoundsOfLabels(t *testing.T) {
	for _, c := range []struct {
		n, levels, missing               int
		form                             string
		classes, label, filled, quantity bool
	}{
		{4, 2, 0, "v%d", true, true, true, false}, {3, 2, 0, "v%d", false, false, true, false},
		{40, 20, 0, "v%d", true, true, true, false}, {42, 21, 0, "v%d", false, false, true, false},
		{105, 21, 0, "v%d", false, true, true, false}, {104, 21, 0, "v%d", false, false, true, false},
		{20, 10, 0, "%d", true, true, true, true}, {22, 11, 0, "%d", false, false, true, true},
		{220, 11, 0, "%d", true, true, true, true}, {219, 11, 0, "%d", false, false, true, true},
		{400, 20, 0, "%d", true, true, true, true}, {420, 21, 0, "%d", false, false, true, true},
		{4, 2, 0, "%d.5", false, false, true, true}, {4, 1, 0, "%d.5", false, false, true, false},
		{20, 2, 2, "v%d", true, true, true, false}, {20, 2, 3, "v%d", true, true, false, false},
		{30, 30, 0, "%d", false, false, true, false}, {4, 1, 0, "v%d", false, false, true, false},
	} {
		p := profiled("a", c.n, func(i int) string { return fmt.Sprintf(c.form, i%c.levels) })
		for range c.missing {
			p.add("")
		}
		got := []bool{p.classes(), p.label(), p.filled(), p.quantity()}
		if want := []bool{c.classes, c.label, c.filled, c.quantity}; !slices.Equal(got, want) {
			t.Errorf("%+v: classes, label, filled, quantity = %v, want %v", c, got, want)
		}
	}
}

// Which classes are too rare, when repeated rows stay together, and when logarithms are proposed: at
// each bound.
func TestBoundsOfTables(t *testing.T) {
	for _, c := range []struct {
		rows, of int // number of all rows, and of the special ones
		what     string
		want     string
	}{
		{49, 1, "class", "c 1"}, {49, 2, "class", ""}, {50, 4, "class", "c 4"}, {50, 5, "class", ""},
		{200, 2, "copies", "together"}, {200, 1, "copies", ""}, {100, 1, "copies", "together"},
		{100, 50, "copies", "together"}, {100, 51, "copies", ""},
	} {
		table, err := Read(file(t, rows(c.rows, "x,label", func(i int) string {
			x, label := fmt.Sprintf("%d.25", i*i), string('a'+rune(i%2))
			switch {
			case c.what == "class" && i < c.of:
				label = "c"
			case c.what == "copies" && i <= c.of:
				x, label = "0.25", "a"
			}
			return x + "," + label
		})), "")
		if err != nil {
			t.Fatal(err)
		}
		got := table.Spec.Duplicates
		if c.what == "class" {
			got = ""
			for _, r := range table.Rare {
				got += fmt.Sprint(r.Class, " ", r.N)
			}
			if len(table.Rare)+len(table.Classes) != 3 || (len(table.Spec.Classes) == 2) != (got != "") {
				t.Errorf("%+v: %v, %v, %v", c, table.Classes, table.Rare, table.Spec.Classes)
			}
		}
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	for values, want := range map[string]string{
		"1.5 8 9 15":    "8.375 4.788 false", // the mean is above the lowest third
		"1.5 1.5 2 15":  "5 5.777 true",
		"1.5 1.5 2 14.": "4.75 5.344 false", // less than ten times
		"0 1.5 2 15":    "4.625 6.035 false",
		"0.1 0.1 0.5 2": "0.675 0.7822 true",
		"-1 1.5 2 15":   "4.375 6.239 false",
	} {
		all := strings.Fields(values)
		table, err := Read(file(t, rows(len(all), "x,label", func(i int) string { return fmt.Sprintf("%d.5,%s", i*i, all[i]) })), "label")
		if err != nil {
			t.Fatal(err)
		}
		s := table.Target
		if got := fmt.Sprintf("%.4g %.4g %v", s.Mean, s.SD, s.Skewed); got != want {
			t.Errorf("%s: %s, want %s", values, got, want)
		}
	}
}

// A column makes an input for each category or part of a date, or else one input. Limits add one
// input, and missing values none.
func TestNumberOfInputs(t *testing.T) {
	date := &cells.Date{Form: "ymd", Parts: []cells.Part{"year", "month"}} // month is a cycle of two numbers
	for _, c := range []struct {
		column Column
		want   int
	}{
		{Column{Use: Input}, 1}, {Column{Use: Input, Missing: 1}, 1}, {Column{Use: Input, Levels: 3}, 3}, {Column{Use: Input, Limits: true}, 2},
		{Column{Use: Input, Date: date, Missing: 2}, 3}, {Column{Use: Left, Missing: 1}, 0}, {Column{Use: Label, Levels: 2}, 0},
	} {
		if n := (&Table{Columns: []Column{c.column}}).Inputs(); n != c.want {
			t.Errorf("%+v: %d inputs, want %d", c.column, n, c.want)
		}
	}
	for _, c := range []struct {
		column Column
		want   bool
	}{{Column{Use: Input, names: true}, true}, {Column{Use: Input}, false}, {Column{Use: Left, names: true}, false}, {Column{Use: Left}, false}} {
		if c.column.Named() != c.want {
			t.Errorf("%+v: named %v", c.column, !c.want)
		}
	}
}

// A comma may stand first, as in ,5.
func TestNumbersThatBeginWithACommaOrAPoint(t *testing.T) {
	for _, form := range []string{",%d5", ".%d5", "0,%d5", "0.%d5"} {
		p := profiled("x", 40, func(i int) string { return fmt.Sprintf(form, i%9) })
		want := point
		if strings.Contains(form, ",") {
			want = comma
		}
		if n := p.numbers[want]; n.n != 40 || n.min != 0.05 || n.max != 0.85 {
			t.Errorf("%s: %d numbers from %v to %v", form, n.n, n.min, n.max)
		}
	}
}
