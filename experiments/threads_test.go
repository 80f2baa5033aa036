package experiments

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// One job on two cores uses two threads, and the results are identical to the bit.
func TestThreadsInsideJobs(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("a,b,label\n")
	for i := range 1000 {
		a, b := math.Sin(float64(i)), math.Cos(1.7*float64(i))
		csv.WriteString(strings.Join([]string{strconv.FormatFloat(a, 'g', 6, 64), strconv.FormatFloat(b, 'g', 6, 64), map[bool]string{true: "x", false: "y"}[a+b*b+0.3*math.Sin(float64(i*i)) > 0.4]}, ",") + "\n")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large.csv"), []byte(csv.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	text := "data: {train: " + filepath.Join(dir, "large.csv") + ", preprocess: standardize}\nmodel: {kernel: se, likelihood: logit, inference: laplace}\ntune: none\n"
	p := plantest.Planned(t, text)
	var results [][]byte
	for _, workers := range []int{1, 2} {
		folder := t.TempDir()
		if _, _, err := run.Run(t.Context(), p, folder, run.Options{Options: schedule.Options{Workers: workers}}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(folder, "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, text)
	}
	golden.Equal(t, "one thread and two give different results", results[1], results[0])
}
