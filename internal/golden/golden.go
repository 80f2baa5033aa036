// Package golden compares texts in tests, and shows where they differ.
package golden

import (
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// shown is how many bytes of a diff are printed: enough for any difference that is meant.
const shown = 16 << 10

// Equal reports whether got is want. If not, the test fails with a unified diff from want to got;
// what says which text this is, and what is to be done if the difference is meant.
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
