package experiments

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// trialled is a random table of one random experiment. Columns are inputs, then fold, group and class.
type trialled struct {
	names   []string
	rows    [][]string
	classes int
	file    string // without data
	inner   bool   // the method divides its training cases further
}

// drawn draws a table and an experiment.
func drawn(rng *rand.Rand) trialled {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	t := trialled{classes: 2}
	methods := []string{"laplace", "ep", "pl", "variational", "svm", "p1nn", "least_squares", "logistic_regression"}
	method, likelihood := methods[rng.IntN(len(methods))], pick("probit", "logit")
	if rng.IntN(3) == 0 {
		t.classes, method, likelihood = 3, pick("laplace", "p1nn", "logistic_regression"), "softmax"
	}
	t.inner = method == "svm" || method == "least_squares" || method == "logistic_regression"
	d, n := 1+rng.IntN(3), 18+3*rng.IntN(6)
	for j := range d {
		t.names = append(t.names, fmt.Sprintf("x%d", j))
	}
	t.names = append(t.names, "fold", "group", "class")
	for i := range n {
		k := i % t.classes
		var row []string
		for j := range d {
			row = append(row, fmt.Sprintf("%.3f", rng.NormFloat64()+float64(k*(j+1))/2))
		}
		t.rows = append(t.rows, append(row, fmt.Sprint(i/t.classes%3), fmt.Sprintf("g%d", i/t.classes%6), "abc"[k:k+1]))
	}
	tune := pick("none", "bfgs", "{method: random, trials: 3}")
	if t.inner || method == "p1nn" {
		tune = "none"
	}
	t.file = fmt.Sprintf("model: {kernel: %s, likelihood: %s, inference: %s}\ntune: %s\n",
		pick("se", "matern32", "rational_quadratic", "linear", "{sum: [se, linear]}"), likelihood, method, tune)
	if method == "least_squares" { // a climb of its own, along the noise alone
		t.file = "model: {kernel: {se: {amplitude: {fixed: 1}, length_scale: {fixed: 2}}}, likelihood: " + likelihood + ", inference: least_squares}\n"
	} else if t.inner {
		t.file = strings.Replace(t.file, "{sum: [se, linear]}", "se", 1)
	}
	return t
}

// with returns a copy whose rows are changed one by one.
func (t trialled) with(change func(row []string)) trialled {
	t.rows = slices.Clone(t.rows)
	for i, row := range t.rows {
		t.rows[i] = slices.Clone(row)
		change(t.rows[i])
	}
	return t
}

// delimited is the table as text with a delimiter.
func (t trialled) delimited(by string) string {
	b := strings.Join(t.names, by) + "\n"
	for _, row := range t.rows {
		b += strings.Join(row, by) + "\n"
	}
	return b
}

// jsonLines is the table as JSON lines.
func (t trialled) jsonLines() (b string) {
	for _, row := range t.rows {
		b += "{"
		for j, cell := range row {
			if j < len(row)-2 { // inputs and folds are numbers
				b += fmt.Sprintf("%q:%s,", t.names[j], cell)
			} else {
				b += fmt.Sprintf("%q:%q,", t.names[j], cell)
			}
		}
		b = strings.TrimSuffix(b, ",") + "}\n"
	}
	return b
}

// planOf is the plan of the experiment on a table.
func planOf(t *testing.T, table, file, groups string) *Plan {
	t.Helper()
	if err := os.WriteFile("t.csv", []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	data, evaluation := "fold, drop: [group]", "predefined"
	if groups == "group" {
		data, evaluation = "group, drop: [fold]", "{group_kfold: {k: 3}}"
	}
	text := "name: m\nseed: 1\ndata: {train: t.csv, label: class, preprocess: standardize, group: " + data + "}\n" +
		file + "evaluate: " + evaluation + "\n"
	p, err := Parse(t.Context(), "m.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// evaluated returns results.json of the experiment on a table.
func evaluated(t *testing.T, table, file, groups string, o Options, stop int) string {
	t.Helper()
	p := planOf(t, table, file, groups)
	folder := filepath.Join(t.TempDir(), "run")
	if stop > 0 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		first := o
		first.Progress = func(e schedule.Event) {
			if e.Done >= stop {
				cancel()
			}
		}
		if _, _, err := Run(ctx, p, folder, first); err == nil {
			stop = 0 // it was done before
		}
		o.Resume = true
	}
	if _, _, err := Run(t.Context(), p, folder, o); err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	b, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// inBatches returns the predictions of a fitted model for the cases of the table, in an order and
// in batches of some size, with the case that each row predicts in place of its number.
func (t trialled) inBatches(tt *testing.T, c *predict.Classifier, order []int, size int) map[int]string {
	tt.Helper()
	out := map[int]string{}
	for batch := range slices.Chunk(order, size) {
		rows := make([]string, len(batch))
		for i, k := range batch {
			cells := make([]string, len(t.names)-3)
			for j := range cells {
				cells[j] = fmt.Sprintf("%q:%s", t.names[j], t.rows[k][j])
			}
			rows[i] = "{" + strings.Join(cells, ",") + "}"
		}
		read, err := c.ReadRecords([]byte(`{"rows":[`+strings.Join(rows, ",")+"]}"), len(batch))
		if err != nil {
			tt.Fatal(err)
		}
		predicted, err := c.Records(read)
		if err != nil {
			tt.Fatal(err)
		}
		for i, row := range predicted.Rows {
			out[batch[i]] = fmt.Sprint(row[1:]...) // the first is the number of the case in the batch
		}
	}
	return out
}

// figures are the log evidence and the scores of results.json that do not depend on names.
func figures(t *testing.T, results string) map[string]float64 {
	t.Helper()
	var r struct {
		Configurations []struct {
			LogEvidence *float64 `json:"log_evidence"`
			Scores      map[string]json.RawMessage
			Failures    []json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(results), &r); err != nil {
		t.Fatal(err)
	}
	out, c := map[string]float64{}, r.Configurations[0]
	if out["failures"] = float64(len(c.Failures)); c.LogEvidence != nil {
		out["log_evidence"] = *c.LogEvidence
	}
	for _, name := range []string{"information_bits", "log_loss", "brier", "errors"} {
		var score struct{ Value *float64 }
		if json.Unmarshal(c.Scores[name], &score) == nil && score.Value != nil {
			out[name] = *score.Value
		}
	}
	return out
}

// Small random experiments have the same results after changes that should make no difference:
//
//   - 1 and 2 workers; one process, and one that is killed and resumed: every byte of results.json
//   - predictions of a fitted model for all cases at once, and for batches of another order: every bit
//   - CSV, TSV and JSON lines; other names of classes in the same order; other names of groups: every
//     figure
//   - other orders of rows, of columns and of classes: sums have another order, so that a fit differs
//     by rounding, up to 1e-6. A climb ends within its threshold of the optimum: up to 1e-3.
//
// Comparators that divide the training cases themselves do it by position, and keep the order of
// rows. With several hyperparameters the evidence of least_squares has ridges, on which rounding
// decides where a climb ends, so its kernel is fixed.
func TestMetamorphic(t *testing.T) {
	t.Chdir(t.TempDir())
	for seed := range exhaustive.Of(3, 72) {
		rng := rand.New(rand.NewPCG(uint64(seed), 26))
		of := drawn(rng)
		groups := []string{"fold", "group"}[rng.IntN(2)]
		last := len(of.names) - 1
		plain := evaluated(t, of.delimited(","), of.file, groups, Options{}, 0)
		want := figures(t, plain)
		if len(want) < 4 {
			t.Errorf("%d: %v", seed, want)
		}
		same := func(what, table, by string, o Options, stop int, tolerance float64) {
			t.Helper()
			got := evaluated(t, table, of.file, by, o, stop)
			if tolerance < 0 {
				if got != plain {
					t.Errorf("%d, %s: other bytes\n%s", seed, what, of.file)
				}
				return
			}
			for name, v := range figures(t, got) {
				if w := want[name]; !(math.Abs(v-w) <= tolerance*max(1, math.Abs(w))) {
					t.Errorf("%d, %s: %s %.12g, want %.12g\n%s", seed, what, name, v, w, of.file)
				}
			}
		}
		near := 1e-6
		if strings.Contains(of.file, "bfgs") || strings.Contains(of.file, "least_squares") {
			near = 1e-3
		}
		if _, _, err := Fit(t.Context(), planOf(t, of.delimited(","), of.file, groups), "m.json", FitOptions{}); err != nil {
			t.Fatalf("%d: %v\n%s", seed, err, of.file)
		}
		c, err := predict.LoadClassifier("m.json")
		if err != nil {
			t.Fatal(err)
		}
		n := len(of.rows)
		together := of.inBatches(t, c, rng.Perm(n), n)
		if apart := of.inBatches(t, c, rng.Perm(n), 1+rng.IntN(5)); !maps.Equal(together, apart) {
			t.Errorf("%d: other predictions in batches\n%s", seed, of.file)
		}
		same("TSV", of.delimited("\t"), groups, Options{}, 0, 0)
		same("JSON lines", of.jsonLines(), groups, Options{}, 0, 0)
		same("2 workers", of.delimited(","), groups, Options{Options: schedule.Options{Workers: 2}}, 0, -1)
		same("killed", of.delimited(","), groups, Options{Options: schedule.Options{Workers: 1}}, 1+rng.IntN(4), -1)
		names := of.with(func(row []string) { row[last] = "class " + row[last] })
		same("names of classes", names.delimited(","), groups, Options{}, 0, 0)
		if groups == "group" {
			others := of.with(func(row []string) {
				row[last-1] = map[string]string{"g0": "z", "g1": "m", "g2": "b", "g3": "k", "g4": "a", "g5": "q"}[row[last-1]]
			})
			same("names of groups", others.delimited(","), groups, Options{}, 0, 0)
		} else if !of.inner {
			permuted := of
			permuted.rows = slices.Clone(of.rows)
			rng.Shuffle(len(permuted.rows), func(i, j int) {
				permuted.rows[i], permuted.rows[j] = permuted.rows[j], permuted.rows[i]
			})
			same("rows", permuted.delimited(","), groups, Options{}, 0, near)
		}
		order := rng.Perm(last + 1)
		columns := of
		columns.names = pickAll(of.names, order)
		columns.rows = slices.Clone(of.rows)
		for i, row := range of.rows {
			columns.rows[i] = pickAll(row, order)
		}
		same("columns", columns.delimited(","), groups, Options{}, 0, near)
		reversed := of.with(func(row []string) { row[last] = string("zyx"[row[last][0]-'a']) })
		same("order of classes", reversed.delimited(","), groups, Options{}, 0, near)
	}
}

// pickAll returns the elements in an order.
func pickAll(of []string, order []int) (out []string) {
	for _, j := range order {
		out = append(out, of[j])
	}
	return out
}
