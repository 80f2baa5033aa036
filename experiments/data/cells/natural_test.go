package cells

import (
	"slices"
	"testing"
)

// Numbers inside texts are compared as numbers; the order is one of all texts.
func TestNatural(t *testing.T) {
	want := []string{"", "10", "1a", "1a2", "1a10", "2", "2a", "A", "a", "a-1", "a0", "a00", "a0b", "a01", "a1", "a1b2c3",
		"a1b2c20", "a1b10c1", "a2", "a99999999999999999998", "a99999999999999999999", "a100000000000000000000", "b", "é"}
	// Digits come before letters, and 10 after 2.
	want = slices.DeleteFunc(want, func(s string) bool { return s == "10" })
	want = slices.Insert(want, slices.Index(want, "2a")+1, "10")
	for i, a := range want {
		for j, b := range want {
			if got := Natural(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}
