package experiments

import (
	"os"
	"strings"
	"testing"
)

func TestDocumentedPairsAreThoseOfTheMethods(t *testing.T) {
	text, err := os.ReadFile("../docs/inference.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(string(text), "\n\n"+Pairs()) {
		t.Error("docs/inference.md must end with what gpc-tune list pairs prints")
	}
	for _, reason := range strings.Split(Pairs(), "\n") {
		if number, _, found := strings.Cut(reason, ". "); found && len(number) == 1 && !strings.Contains(reason, "use ") {
			t.Errorf("no way out: %s", reason)
		}
	}
}
