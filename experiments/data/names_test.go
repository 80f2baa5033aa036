package data

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i+1)
	}
	return names
}

// TestLongListsAreCut: of more than sixteen inputs the first and the last eight are listed; of more
// than ten names in a message the first ten, and the total number.
func TestLongListsAreCut(t *testing.T) {
	for n, want := range map[int]string{
		1: "c1", 16: strings.Join(numbered(16), ", "),
		17: "c1, c2, c3, c4, c5, c6, c7, c8, …, c10, c11, c12, c13, c14, c15, c16, c17",
	} {
		if got := Abridged(numbered(n)); got != want {
			t.Errorf("%d names: %s", n, got)
		}
	}
	for n, want := range map[int]string{
		2: "c1, c2", 10: strings.Join(numbered(10), ", "), 11: strings.Join(numbered(10), ", ") + ", … (11 in all)",
	} {
		if got := cells.List(numbered(n)); got != want {
			t.Errorf("%d names in a message: %s", n, got)
		}
	}
}

// TestCanonicalLabels: a whole number loses a plus sign and a fraction of zeros, in its notation;
// no other label changes.
func TestCanonicalLabels(t *testing.T) {
	for label, want := range map[string][2]string{ // classes with decimal points, and with decimal commas
		"3": {"3", "3"}, "+3": {"3", "3"}, "+3.0": {"3", "+3.0"}, "3.0000": {"3", "3.0000"}, "3,0": {"3,0", "3"}, "-3.": {"-3", "-3."},
		"−3": {"-3", "-3"}, "−3.0": {"-3", "−3.0"}, "−0": {"0", "0"}, "−3.5": {"−3.5", "−3.5"}, "−x": {"−x", "−x"},
		"0": {"0", "0"}, "-0": {"0", "0"}, "-0.0": {"0", "-0.0"}, "10": {"10", "10"},
		"9007199254740993.0": {"9007199254740993", "9007199254740993.0"},
	} {
		for k, decimal := range []string{"point", "comma"} {
			if got := cells.Canonical(label, decimal); got != want[k] {
				t.Errorf("%q, decimal %s: %q, want %q", label, decimal, got, want[k])
			}
		}
	}
	for _, label := range []string{"", "+", "-", ".", ".0", "+-3", "five", " 5", "3e0", "1e2", "007", "00", "-01.0", "0.50", "1_0", "0x10",
		"9007199254740993", "-1000000000000000000000", "1 000", "3.0.0", "٣", "inf"} {
		if got := cells.Canonical(label, ""); got != label {
			t.Errorf("%q becomes %q", label, got)
		}
	}
}

// TestLabelsAreTexts: numbers written differently, or that float64 rounds to one, are classes of
// their own, with a warning where they could be meant as one; forms of a whole number are one class,
// with a warning that lists them.
func TestLabelsAreTexts(t *testing.T) {
	for name, f := range map[string]struct {
		labels, classes string
		warning         []string
	}{
		"underscore":    {"1_0 10 10 1_0", "1_0 10", nil},
		"leading zeros": {"007 7 7 007", "007 7", []string{`"007" and "7" are different classes`}},
		"exponent":      {"1e2 100 1e2 100", "1e2 100", []string{`"1e2" and "100" are different classes`}},
		"long": {"9007199254740993 9007199254740992 9007199254740993 9007199254740992",
			"9007199254740992 9007199254740993", nil},
		"forms":   {"3 3.0 5 +5", "3 5", []string{`class "3" is written in several ways, which are one class: 3, 3.0`, `class "5" is`}},
		"one way": {"3.0000 5.0000 3.0000 5.0000", "3 5", nil},
		"case":    {"true TRUE true TRUE", "TRUE true", []string{"ignore_case"}},
	} {
		labels := strings.Fields(f.labels)
		text := "a,label\n"
		for i, l := range labels {
			text += strconv.Itoa(i) + "," + l + "\n"
		}
		d, err := Spec{Label: "label"}.readTrain(source("f", text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := strings.Join(d.Classes, " "); got != f.classes {
			t.Errorf("%s: classes %s, want %s", name, got, f.classes)
		}
		if len(d.Warnings) != len(f.warning) {
			t.Errorf("%s: warnings %q, want %q", name, d.Warnings, f.warning)
			continue
		}
		for i, w := range f.warning {
			if !strings.Contains(d.Warnings[i].Text, w) {
				t.Errorf("%s: warning %q, want %q", name, d.Warnings[i], w)
			}
		}
		again, err := d.Schema.read(source("g", text), nil, true)
		if err != nil || !slices.Equal(again.Labels, d.Labels) {
			t.Errorf("%s: read as test cases, labels %v, want %v (%v)", name, again.Labels, d.Labels, err)
		}
	}
}

// TestHashTellsListsApart: the same characters split into other names give another hash.
func TestHashTellsListsApart(t *testing.T) {
	read := func(text string) *Data {
		d, err := Spec{Label: "label"}.readTrain(source("f", text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const rows = "1,2,M\n3,4,F\n"
	seen := map[string]string{}
	for _, header := range []string{"ab,c,label\n", "a,bc,label\n", "a,b,label\n", "b,a,label\n"} {
		h := read(header + rows).hash()
		if before, is := seen[h]; is {
			t.Errorf("columns %q have the hash of %q", header, before)
		}
		seen[h] = header
	}
}
