package columns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// init writes units, limits of detection and durations, with a description.
func TestMeasuresProposed(t *testing.T) {
	word := func(i int, words ...string) string { return words[i%len(words)] }
	for _, of := range []struct {
		name   string
		value  func(i int) string
		want   data.Meaning
		tokens string
		says   string
	}{
		{"weight", func(i int) string { return fmt.Sprintf("%d.5 kg", i) }, data.Meaning{Unit: "kg"}, "", "numbers, 0.5 to 59.5 kg"},
		{"weight", func(i int) string { return fmt.Sprintf("%d%s", i, word(i, " kg", " kg", "")) }, data.Meaning{Unit: "kg"}, "",
			"20 without a unit, taken to be in kg"},
		{"height", func(i int) string { return fmt.Sprintf("%d%s", i, word(i, " cm", "cm", " m")) }, data.Meaning{Unit: "cm"}, "",
			"numbers, 0 to 59 as they are written, in cm; m converted"},
		{"weight", func(i int) string { return word(min(i, 2), "n/a", "unknown", fmt.Sprintf("%d kg", i)) }, data.Meaning{Unit: "kg"},
			"n/a unknown", "numbers, 2 to 59 kg"},
		{"crp", func(i int) string { return word(i%3, "<5", fmt.Sprintf("%d.5", 5+i), ">100") }, data.Meaning{Limits: true}, "",
			"20 below a limit of detection; 20 above"},
		{"crp", func(i int) string { return word(min(i, 1), "<5 mg/l", fmt.Sprintf("%d.5 mg/l", 5+i)) },
			data.Meaning{Unit: "mg/l", Limits: true}, "", "numbers, 5 to 64.5 mg/l; 1 below"},
		{"wait", func(i int) string { return fmt.Sprintf("%d:%02d:00", i%5, i) }, data.Meaning{Duration: "hours"}, "", "durations, 0"},
		{"call", func(i int) string { return word(i, fmt.Sprintf("%d:%02d", i%50, i), fmt.Sprintf("30:%02d:%02d", i, i)) },
			data.Meaning{Duration: "minutes"}, "", "1:30 is read as minutes and seconds"},
		{"lap", func(i int) string { return fmt.Sprintf("%d:%02d", i%5, i) }, data.Meaning{Duration: "hours"}, "",
			"to 4.983 hours; 1:30 is read as hours and minutes, a guess"},
		{"tenure", func(i int) string { return fmt.Sprintf("%d yrs %d mon", i%9, i%12) }, data.Meaning{Duration: "days"}, "", " days"},
		{"ttl", func(i int) string { return word(min(i, 1), "n/a", fmt.Sprintf("PT%dM", i)) }, data.Meaning{Duration: "minutes"},
			"n/a", "durations, 1 to 59 minutes"},
	} {
		table, err := Read(file(t, rows(60, of.name+",x,label", func(i int) string {
			return fmt.Sprintf("%s,%g,%s", of.value(i), 0.25*float64(i*i%59), []string{"p", "q"}[i*i%3%2])
		})), "")
		if err != nil {
			t.Fatal(err)
		}
		got := table.Spec.Columns.Described[of.name]
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", of.want) || !strings.Contains(table.Columns[0].Found, of.says) {
			t.Errorf("%s: %+v, want %+v: %q, want %q", of.name, got, of.want, table.Columns[0].Found, of.says)
		}
		var tokens []string
		for _, name := range table.Spec.MissingValues {
			tokens = append(tokens, string(name))
		}
		if strings.Join(tokens, " ") != of.tokens {
			t.Errorf("%s: missing values %q, want %q", of.name, tokens, of.tokens)
		}
		if _, err := data.Load(table.Spec, "", 1); err != nil {
			t.Errorf("%s: %v", of.name, err)
		}
	}
}

// Percent signs and currencies are no units: a column that has them and a unit is left out, and a
// column that has them and plain numbers gives a warning.
func TestSignsBesideNumbers(t *testing.T) {
	for _, of := range []struct{ sign, other, want string }{
		{"%d.5 %%", "%d mmol/mol", "in mmol/mol and %; write all in one unit"},
		{"$%d.5", "%d kg", "in kg and USD; write all in one unit"},
		{"%d.5%%", "%d", "30 with a percent sign are divided by 100, and others, without one, are not"},
	} {
		table, err := Read(file(t, rows(90, "a,x,label", func(i int) string {
			return fmt.Sprintf([]string{of.sign, of.other, of.other}[i%3]+",%d,%c", i, i*i%59, 'p'+i*i%3%2)
		})), "")
		if err != nil {
			t.Fatal(err)
		}
		c := table.Columns[0]
		if !strings.Contains(c.Found, of.want) || (c.Use == Left) != strings.Contains(of.want, "one unit") {
			t.Errorf("%+v, want %q", c, of.want)
		}
	}
}

// Where most numbers have no unit, it is for the reader to say that all have the same one.
func TestUnitOfSome(t *testing.T) {
	table, err := Read(file(t, rows(90, "weight,x,label", func(i int) string {
		return fmt.Sprintf("%d%s,%d,%c", i, []string{"", "", " kg"}[i%3], i*i%59, 'p'+i*i%3%2)
	})), "")
	if err != nil {
		t.Fatal(err)
	}
	want := "60 numbers without a unit, and 30 in kg; columns: {weight: {unit: kg}} takes all to be in kg"
	if c := table.Columns[0]; c.Use != Left || c.Found != want {
		t.Errorf("%+v, want %q", c, want)
	}
}

// Units that differ in letter case alone are refused with both readings, however few values there are.
func TestUnitsByLetterCase(t *testing.T) {
	for _, of := range []struct{ one, other, want string }{
		{"mg", "Mg", "mg (milligram)"}, {"Mb", "MB", "Mb (megabit)"}, {"mS", "MS", "mS (millisiemens)"}, {"pg", "Pg", "pg (picogram)"},
		{"m", "M", "m (metre or minute)"}, {"ms", "mS", "ms (millisecond)"}, {"mL", "ML", "mL (millilitre)"}, {"kb", "kB", "kb (kilobit)"},
	} {
		for _, levels := range []int{7, 60} { // few are no categories either
			table, err := Read(file(t, rows(90, "a,x,label", func(i int) string {
				unit := of.one
				if i == 4 {
					unit = of.other
				}
				return fmt.Sprintf("%d.5 %s,%d,%c", i%levels, unit, i*i%59, 'p'+i*i%3%2)
			})), "")
			if err != nil {
				t.Fatal(err)
			}
			c := table.Columns[0]
			if c.Use != Left || !strings.Contains(c.Found, of.want) || !strings.Contains(c.Found, of.other+" (") || !strings.Contains(c.Found, "letter case alone") {
				t.Errorf("%s and %s: %+v", of.one, of.other, c)
			}
		}
	}
}
