package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPartsOfDates: where the classes depend on hour and weekday, these parts of a date have nearly the held-out log
// loss of the true probabilities, and without the date a model knows the rest alone.
func TestPartsOfDates(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	var text strings.Builder
	text.WriteString("at,size,y\n")
	const n = 240
	best := 0.0 // the mean log loss of the true probabilities
	for range n {
		at := time.Date(2024, 1, 1, r.IntN(24), r.IntN(60), 0, 0, time.UTC).AddDate(0, 0, r.IntN(364))
		size := r.NormFloat64()
		f := size + 2.5*math.Cos(2*math.Pi*(float64(at.Hour())-23)/24) // near midnight, where the ends of the day meet
		if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
			f -= 2
		}
		p, y := 1/(1+math.Exp(-f)), "no"
		if r.Float64() < p {
			y, p = "yes", 1-p
		}
		best -= math.Log(1-p) / n
		fmt.Fprintf(&text, "%s,%.3f,%s\n", at.Format("02.01.2006 15:04"), size, y)
	}
	loss := heldOutLoss(t, "visits.csv", text.String())
	without, with := loss("drop: [at]"), loss("columns: {at: {date: {form: dmy, parts: [weekday, hour]}}}")
	t.Logf("log loss %.3f without and %.3f with the date, %.3f of the true probabilities", without, with, best)
	if with > best+0.06 || without < best+0.1 {
		t.Errorf("log loss %.3f without and %.3f with the date, %.3f of the true probabilities", without, with, best)
	}
}

// heldOutLoss returns the held-out log loss of a model of a table, with the meanings of columns in
// the data section.
func heldOutLoss(t *testing.T, name, table string) func(meaning string) float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	const file = `
data:
  train: FILE
  label: y
  preprocess: standardize
  MEANING
model: {kernel: {se: {ard: true}}, likelihood: logit, inference: laplace}
tune: {method: bfgs, restarts: 1}
evaluate: {kfold: {k: 4}}
`
	return func(meaning string) float64 {
		t.Helper()
		report := runs(t, strings.NewReplacer("FILE", path, "MEANING", meaning).Replace(file))
		v, ok := report.Configurations[0].Scores.Value("log_loss")
		if !ok {
			t.Fatal("no log_loss")
		}
		return v.Value
	}
}
