package predict

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// Files of base_rate and logistic_regression hold no training row: neither labels nor any two
// values of one row. The same holds for models whose inducing inputs are no training cases. Other
// files hold all rows.
func TestModelFilesWithoutTrainingRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	var text strings.Builder
	text.WriteString("a,b,y\n")
	values := map[string]int{} // the row of each value
	for i := range 31 {
		a, b := fmt.Sprintf("%.9f", r.NormFloat64()), fmt.Sprintf("%.9f", r.NormFloat64())
		values[strings.TrimRight(a, "0")], values[strings.TrimRight(b, "0")] = i, i
		fmt.Fprintf(&text, "%s,%s,%s\n", a, b, []string{"no", "yes"}[r.IntN(2)])
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "train.csv"), []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for model, rows := range map[string]bool{
		"{inference: base_rate}":           false,
		"{inference: logistic_regression}": false,
		"{kernel: se, likelihood: probit, inference: {laplace: {inducing: {points: 4, select: kmeans}}}}": false,
		"{inference: p1nn}": true,
		"{kernel: se, likelihood: probit, inference: laplace}": true,
	} {
		s, err := spec.Parse(filepath.Join(dir, "t.yaml"), []byte("data: {train: train.csv, label: y}\nmodel: "+model+"\ntune: none\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		name := fitted(t, p, 0)
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := new(modelfile.File)
		if err := json.Unmarshal(content, f); err != nil {
			t.Fatal(err)
		}
		if got := len(f.Inputs)+len(f.Labels) > 0; got != rows {
			t.Errorf("%s: %d rows and %d labels", model, len(f.Inputs), len(f.Labels))
		}
		met := map[int]int{}
		for value, i := range values {
			if strings.Contains(string(content), value) {
				met[i]++
			}
		}
		for i, n := range met {
			if n > 1 && !rows {
				t.Errorf("%s: the file has row %d", model, i)
			}
		}
		if rows && len(met) < 31 {
			t.Errorf("%s: %d of 31 rows are found", model, len(met))
		}
	}
}
