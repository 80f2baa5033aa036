package experiments

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

func TestDocumentedPairsAreThoseOfTheMethods(t *testing.T) {
	text, err := os.ReadFile("../docs/inference.md")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(catalogue.Pairs(), "\n")
	end := text[max(0, bytes.LastIndex(text, []byte("\n\n"+first))):]
	golden.Equal(t, "docs/inference.md must end with what gpc-tune list pairs prints", end, "\n\n"+catalogue.Pairs())
	for _, reason := range strings.Split(catalogue.Pairs(), "\n") {
		if number, _, found := strings.Cut(reason, ". "); found && len(number) == 1 && !strings.Contains(reason, "use ") {
			t.Errorf("no way out: %s", reason)
		}
	}
}
