package data

import (
	"strconv"
	"strings"
	"testing"
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
		if got := list(numbered(n)); got != want {
			t.Errorf("%d names in a message: %s", n, got)
		}
	}
}

// TestCanonicalLabels: whole numbers of up to fifteen digits, which float64 represents exactly, are
// written out.
func TestCanonicalLabels(t *testing.T) {
	for label, want := range map[string]string{
		"3": "3", "+3.0": "3", "3e0": "3", "-0": "0", "0.50": "0.5", "five": "five", " 5": " 5",
		"999999999999999": "999999999999999", "1e15": "1e+15", "1000000000000000": "1e+15", "-1000000000000000": "-1e+15", "100000": "100000",
	} {
		if got := Canonical(label); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

// TestHashTellsListsApart: the same characters split into other names give another hash.
func TestHashTellsListsApart(t *testing.T) {
	read := func(text string) *Data {
		d, err := Spec{Label: "label"}.readTrain(source{path: "f", text: text})
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
