package cells

import (
	"strings"
	"testing"
)

// Both readings are named.
func TestReadings(t *testing.T) {
	for _, of := range []struct {
		units []string
		want  string
	}{
		{[]string{"mg", "Mg"}, "mg (milligram) and Mg (megagram) differ in letter case alone"},
		{[]string{"kg", "Mb", "MB"}, "Mb (megabit) and MB (megabyte)"},
		{[]string{"mS/cm", "MS/cm"}, "mS/cm (millisiemens/centimetre) and MS/cm (megasiemens/centimetre)"},
		{[]string{"pg", "Pg"}, "pg (picogram) and Pg (petagram)"},
		{[]string{"m", "M"}, "m (metre or minute) and M (molar or million)"},
		{[]string{"ms", "mS"}, "ms (millisecond) and mS (millisiemens)"},
		{[]string{"mg/dL", "Mg/dl"}, "mg/dL (milligram/decilitre) and Mg/dl (megagram/decilitre)"},
		{[]string{"pA", "Pa"}, "pA (picoampere) and Pa (pascal)"},
		{[]string{"g", "Mg"}, "Mg (megagram) may be meant as mg (milligram)"},
		{[]string{"kg", "KG", "g"}, ""},
		{[]string{"kg", "cm"}, ""},
	} {
		if got := Readings(of.units); !strings.HasPrefix(got, of.want) || (got == "") != (of.want == "") {
			t.Errorf("%v: %q, want %q", of.units, got, of.want)
		}
	}
}

// M alone may be months or minutes, and MS and mS are no milliseconds.
func TestTimesOfOtherLetterCase(t *testing.T) {
	for text, want := range map[string]float64{"2H 15M": 8100, "5 m": 300, "5 MIN": 300, "5 ms": 0.005, "3 Days": 259200, "1D 5M": 86700, "PT5M": 300, "P1M": DaysOfYear / 12 * 86400,
		"5 M": -1, "5 MS": -1, "5 mS": -1, "5 µS": -1, "5 MO": 5 * DaysOfYear / 12 * 86400} {
		got, _, ok := ParseDuration(text, "", "minutes")
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
}
