package query

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/search"
)

// A question about more cases than the memory holds is an error before anything is computed.
func TestMemory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "many.csv")
	if err := os.WriteFile(name, []byte("x,label\n"+strings.Repeat("1,a\n2,b\n3.5,b\n", 200_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	q := Query{Data: name, Test: noTest, Mean: "zero", Classes: "joint"}
	q.Kernel, q.Likelihood, q.Inference = "se", "probit", "ep"
	_, evidence := q.Evaluate(t.Context())
	s := Sampling{Query: Query{Data: name, Mean: "zero"}, Count: 1}
	s.Kernel, s.Likelihood = "se", "probit"
	_, sample := s.Draw(t.Context())
	for _, err := range []error{evidence, sample} {
		if !errors.Is(err, search.ErrMemory) || !strings.Contains(err.Error(), "TiB are needed") {
			t.Error(err)
		}
	}
}
