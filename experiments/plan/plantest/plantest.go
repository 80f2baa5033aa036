// Package plantest helps tests that need a plan.
package plantest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// Planned is the plan of a configuration file with this text.
func Planned(t testing.TB, text string, settings ...string) *plan.Plan {
	t.Helper()
	s, err := spec.Parse("t.yaml", []byte(text), settings)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ReadAll is the text of a file.
func ReadAll(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
