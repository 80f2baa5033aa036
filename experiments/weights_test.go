package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
)

// TestWeightedFile: columns of weights and of counts give the results of a file with every row as often as they say, for
// models, tuning and comparators, in evidence, hyperparameters and scores. Folds and groups keep equal rows together.
func TestWeightedFile(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(3, 0))
	var weighted, counted, repeated strings.Builder
	weighted.WriteString("a,b,fold,case,n,y\n")
	counted.WriteString("a,b,fold,case,n,yes\n")
	repeated.WriteString("a,b,fold,case,y\n")
	for i := range 45 {
		a, b := r.NormFloat64(), r.NormFloat64()
		trials, yes := (i*i+i/3)%4, 0
		if a+b*b+0.5*r.NormFloat64() > 0.7 {
			yes = trials
		}
		if i%5 == 0 {
			yes = trials / 2
		}
		fmt.Fprintf(&counted, "%v,%v,%d,%d,%d,%d\n", a, b, i%3, i, trials, yes)
		for k := range 2 {
			y, w := []string{"no", "yes"}[k], []int{trials - yes, yes}[k]
			fmt.Fprintf(&weighted, "%v,%v,%d,%d,%d,%s\n", a, b, i%3, i, w, y)
			for range w {
				fmt.Fprintf(&repeated, "%v,%v,%d,%d,%s\n", a, b, i%3, i, y)
			}
		}
	}
	files := map[string]string{}
	for name, text := range map[string]string{"weighted.csv": weighted.String(), "counted.csv": counted.String(), "repeated.csv": repeated.String()} {
		files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(files[name], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const text = `
data: {train: FILE, label: y, id: [case], group: fold, preprocess: standardize}
model:
  kernel: {sum: [{se: {amplitude: 2}}, noise]}
  likelihood: probit
  inference: [ep, laplace, naive_mean_field, base_rate, logistic_regression, p1nn, {svm: {folds: 2}}]
tune: {method: bfgs}
evaluate: predefined
`
	run := func(file, label string) *reports.Report {
		return runs(t, strings.Replace(strings.Replace(text, "FILE", files[file], 1), "label: y", label, 1))
	}
	want := run("repeated.csv", "label: y")
	for name, got := range map[string]*reports.Report{
		"weights": run("weighted.csv", "label: y, weights: n"), "counts": run("counted.csv", "counts: {successes: yes, trials: n}"),
	} {
		if len(got.Configurations) != len(want.Configurations) || len(got.Configurations) < 7 {
			t.Fatal(name, len(got.Configurations), len(want.Configurations))
		}
		for i, c := range got.Configurations {
			d := want.Configurations[i]
			near := func(what string, a, b float64) {
				if !(math.Abs(a-b) <= 1e-5*max(1, math.Abs(b))) && !(math.IsNaN(a) && math.IsNaN(b)) {
					t.Errorf("%s, %s: %s %.9g, of repeated rows %.9g", name, c.Inference, what, a, b)
				}
			}
			near("log evidence", float64(c.LogEvidence), float64(d.LogEvidence))
			for _, s := range c.Scores.Results {
				v, ok := d.Scores.Value(s.Name)
				if !ok {
					t.Errorf("%s, %s: no score %s of repeated rows", name, c.Inference, s.Name)
				}
				near(s.Name, float64(s.Value), v.Value)
			}
		}
	}
}
