package classifier

import (
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// Classes in order are numbers; texts would be in alphabetical order.
func TestOrderedLabels(t *testing.T) {
	x, labels := cases(40, 3, 0.3)
	c, err := Train(t.Context(), x, labels, Restarts(1), Likelihood(likelihood.Ordinal{}), Inference(approx.EP{}))
	if err != nil {
		t.Fatal(err)
	}
	proba, err := c.Proba(t.Context(), x)
	if err != nil || len(proba[0]) != 3 {
		t.Fatalf("%v, %v", proba, err)
	}
	var texts []string
	for _, label := range labels {
		texts = append(texts, map[int]string{0: "low", 10: "mid", 20: "high"}[label])
	}
	_, err = Train(t.Context(), x, texts, Restarts(1), Likelihood(likelihood.Ordinal{}), Inference(approx.EP{}))
	if err == nil || !strings.Contains(err.Error(), "only alphabetical") {
		t.Errorf("texts: error %v", err)
	}
}
