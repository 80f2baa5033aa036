package query

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/search/schedule"
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
		if !errors.Is(err, schedule.ErrMemory) || !strings.HasPrefix(err.Error(), "many: ") ||
			!strings.Contains(err.Error(), "TiB are needed") || !strings.HasSuffix(err.Error(), "; give fewer cases") {
			t.Error(err)
		}
	}
}

// The correction of the log evidence of C classes takes 2C + 2 matrices more.
func TestMemoryOfTheCorrection(t *testing.T) {
	const thirds = 100_000
	q := Query{Data: written(t, "x,label\n"+strings.Repeat("1,a\n2,b\n3.5,c\n", thirds)), Test: noTest, Mean: "zero",
		Kernel: "se", Likelihood: "softmax", Inference: "ep", Classes: "joint"}
	var needs [2]float64 // TiB
	for i := range needs {
		q.Corrected = i > 0
		_, err := q.Evaluate(t.Context())
		if err == nil {
			t.Fatal("it is admitted")
		}
		if _, err := fmt.Sscanf(err.Error(), "t: not enough memory: %f TiB are needed", &needs[i]); err != nil {
			t.Fatal(err)
		}
	}
	matrices := float64(machine.Footprint(8*8*(3*thirds)*(3*thirds), machine.Percent())) / (1 << 40)
	if got := needs[1] - needs[0]; math.Abs(got-matrices) > 1 { // both are rounded
		t.Errorf("%v TiB more, want %v", got, matrices)
	}
}
