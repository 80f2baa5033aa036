package stores

import "testing"

// The names of MLflow have letters of ASCII, digits, _, -, ., / and blanks, and no / or . at their
// ends.
func TestNamesForMLflow(t *testing.T) {
	for name, want := range map[string]string{"AZaz09_-. /x": "AZaz09_-. /x", "a@[`{:b": "a_____b", "/é./": "_", "log θ": "log _"} {
		if got := mlflowName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
