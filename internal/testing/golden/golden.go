// Package golden compares texts in tests, and shows where they differ.
package golden

import (
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// shown is the number of bytes of a diff to print: enough for any intended difference.
const shown = 16 << 10

// Equal reports whether got is want. If not, the test fails with a unified diff from want to got;
// what names the text and says what to do if the difference is intended.
func Equal[Got, Want ~string | ~[]byte](t testing.TB, what string, got Got, want Want) bool {
	t.Helper()
	difference := diff.Diff("want", []byte(want), "got", []byte(got))
	if difference == nil {
		return true
	}
	rest := ""
	if len(difference) > shown {
		difference, rest = difference[:shown], "\n… and more"
	}
	t.Errorf("%s:\n%s%s", what, difference, rest)
	return false
}
