package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// ordinary is a table of a common kind.
type ordinary struct {
	name string
	rows int
	sign string // the delimiter
	// head has the names of the columns; row makes one row.
	head []string
	row  func(r *rand.Rand, i int) []string
	says []string // what the file written by init must contain
}

// normal draws n standard normal numbers.
func normal(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for j := range x {
		x[j] = r.NormFloat64()
	}
	return x
}

// happens draws an event whose probability has the given logit.
func happens(r *rand.Rand, logit float64) bool { return r.Float64() < 1/(1+math.Exp(-logit)) }

// bend is a logit that is not linear in x.
func bend(x []float64) float64 { return 2*x[0] - 1.5*x[1] + 2*math.Sin(2*x[2]) + x[0]*x[1] }

func texts(format string, x ...float64) []string {
	out := make([]string, len(x))
	for j, v := range x {
		out[j] = fmt.Sprintf(format, v)
	}
	return out
}

func word(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

func heads(prefix string, n int, more ...string) []string {
	var out []string
	for j := range n {
		out = append(out, fmt.Sprintf("%s%d", prefix, j+1))
	}
	return append(out, more...)
}

// german writes a number with a decimal comma and points between thousands.
func german(v float64) string {
	whole, fraction, _ := strings.Cut(fmt.Sprintf("%.2f", v), ".")
	for k := len(whole) - 3; k > 0; k -= 3 {
		whole = whole[:k] + "." + whole[k:]
	}
	return whole + "," + fraction
}

// ordinaryTables are twelve tables of usual kinds.
var ordinaryTables = []ordinary{
	{"text_id", 303, ",", append([]string{"patient_id"}, heads("marker", 5, "state")...),
		func(r *rand.Rand, i int) []string {
			x := normal(r, 5)
			return append(append([]string{fmt.Sprintf("P-%04x-%d", i*7919%65536, i)}, texts("%.3f", x...)...),
				word(happens(r, bend(x)), "ill", "well"))
		}, []string{"  id: #", "    - patient_id # identifier"}},
	{"dates", 400, ",", []string{"visited", "age", "pressure", "born", "sugar", "outcome"},
		func(r *rand.Rand, i int) []string {
			x, day := normal(r, 3), time.Date(2021, 3, 1, 0, 0, 0, 0, time.UTC)
			return []string{day.AddDate(0, 0, r.IntN(900)).Format("2006-01-02"), fmt.Sprintf("%.0f", 50+12*x[0]),
				fmt.Sprintf("%.1f", 120+15*x[1]), day.AddDate(-20-r.IntN(60), 0, r.IntN(365)).Format("02.01.2006"),
				fmt.Sprintf("%.2f", 5+x[2]), word(happens(r, bend(x)), "1", "0")}
		}, []string{"    visited: {date: {form: ymd, parts: [year, month, weekday], since: born}}", "    born: {date: {form: dmy, parts: [year]}}"}},
	{"decimal_commas", 350, ";", []string{"Nr", "Umsatz", "Anteil", "Dauer", "Filiale", "gekauft"},
		func(r *rand.Rand, i int) []string {
			x := normal(r, 3)
			return []string{fmt.Sprint(i + 1), german(5000 * math.Exp(0.8*x[0])),
				german(50+15*x[1]) + " %", german(3 + x[2]),
				[]string{"Kiel", "Ulm", "Trier"}[r.IntN(3)], word(happens(r, bend(x)), "ja", "nein")}
		}, []string{"  decimal: comma", "    - Nr # row number", "  categorical: one_hot"}},
	{"categories", 500, ",", []string{"colour", "region_code", "smoker", "x1", "x2", "x3", "remark", "class"},
		func(r *rand.Rand, i int) []string {
			x, colour, region, smoker := normal(r, 3), r.IntN(5), r.IntN(6), r.IntN(2)
			logit := bend(x) + []float64{-2, 0, 0, 1, 2}[colour] + []float64{1.5, -1.5, 0, 0, 1, -1}[region] + float64(smoker)
			return append(append([]string{[]string{"red", "blue", "green", "black", "white"}[colour],
				fmt.Sprint([]int{101, 102, 205, 307, 310, 444}[region]), []string{"no", "yes"}[smoker]},
				texts("%.3f", x...)...), fmt.Sprintf("seen %d times, \"as before\", note %d", r.IntN(9), i),
				word(happens(r, logit), "B", "A"))
		}, []string{"    - region_code # 6 categories", "    - remark # text", "smoker: no ("}},
	{"missing", 400, ",", heads("v", 8, "diagnosis"),
		func(r *rand.Rand, i int) []string {
			x := normal(r, 8)
			row := append(texts("%.3f", x...), word(happens(r, bend(x)), "positive", "negative"))
			for j := range x {
				if r.Float64() < 0.4 {
					row[j] = []string{"", "NA", "n/a"}[r.IntN(3)]
				}
			}
			return row
		}, []string{"  missing: median # of 1", "  missing_values: [n/a]"}},
	{"imbalance", 2040, ",", heads("f", 6, "fraud"),
		func(r *rand.Rand, i int) []string {
			x := normal(r, 6)
			if i%51 == 0 {
				x[0], x[1] = x[0]+1.5, x[1]-1.5
			}
			return append(texts("%.3f", x...), word(i%51 == 0, "1", "0"))
		}, []string{"0 (2000), 1 (40)"}},
	{"four_classes", 500, "\t", heads("m", 5, "kind"),
		func(r *rand.Rand, i int) []string {
			x := normal(r, 5)
			at := math.Atan2(x[0], x[1]) + 0.3*r.NormFloat64()
			k := int(math.Floor(at/(math.Pi/2))) + 4
			return append(texts("%.3f", x...), []string{"ash", "beech", "oak", "willow"}[k%4])
		}, []string{"4 classes", "likelihood: softmax"}},
	{"duplicates", 420, ",", heads("q", 4, "answer"),
		func(r *rand.Rand, i int) []string {
			if i%3 == 0 { // repeats the same rows
				r = rand.New(rand.NewPCG(9, uint64(i%30)))
			}
			x := normal(r, 4)
			for j := range x {
				x[j] = math.Round(2 * x[j])
			}
			return append(texts("%.0f", x...), word(happens(r, bend(x)/2), "yes", "no"))
		}, []string{"  duplicates: together # ", "group_kfold: {k: 5, stratified: true}"}},
	{"wide", 3000, ",", heads("gene", 40, "response"),
		func(r *rand.Rand, i int) []string {
			x := normal(r, 40)
			return append(texts("%.4f", x...), word(happens(r, bend(x)), "responder", "other"))
		}, []string{"3000 rows"}},
	{"long", 40000, ",", heads("s", 12, "target"),
		func(r *rand.Rand, i int) []string {
			x := normal(r, 12)
			return append(texts("%.4f", x...), word(happens(r, bend(x)), "1", "0"))
		}, []string{"40000 rows"}},
	{"numeric_id", 300, ",", []string{"", "CustomerID", "unit", "spend", "visits", "age", "churned"},
		func(r *rand.Rand, i int) []string {
			x := normal(r, 3)
			return append(append([]string{fmt.Sprint(i), fmt.Sprint(100000 + i*37%70000), "EUR"}, texts("%.2f", x...)...),
				word(happens(r, bend(x)), "True", "False"))
		}, []string{"    - CustomerID # identifier", "    - unit # constant", "    - x1 # row number"}},
	{"label_first", 400, ",", append([]string{"species"}, heads("w", 6)...),
		func(r *rand.Rand, i int) []string {
			x := normal(r, 6)
			return append([]string{word(happens(r, bend(x)), "gentoo", "adelie")}, texts("%.3f", x...)...)
		}, []string{"  label: species # guessed, by its name"}},
}

// write writes the first rows to a file.
func (o ordinary) write(t *testing.T, path string, rows int) {
	t.Helper()
	var text bytes.Buffer
	line := func(fields []string) {
		for j, f := range fields {
			if strings.ContainsAny(f, `",;`) && (o.sign != ";" || strings.Contains(f, ";")) {
				fields[j] = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
		}
		text.WriteString(strings.Join(fields, o.sign) + "\n")
	}
	line(append([]string(nil), o.head...))
	r := rand.New(rand.NewPCG(2024, uint64(len(o.name))))
	for i := range rows {
		line(o.row(r, i))
	}
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// does runs a command, which must succeed, and returns its standard output and its messages.
func does(t *testing.T, args ...string) (out, messages string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), nil, args, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("gpc-tune %s: exit code %d\n%s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// Init writes a study of each ordinary table that runs without changes; large tables are subsampled
// here.
func TestTables(t *testing.T) {
	for i, o := range ordinaryTables {
		t.Run(o.name, func(t *testing.T) {
			dir := t.TempDir()
			file, study := filepath.Join(dir, o.name+".csv"), filepath.Join(dir, "study.yaml")
			rows := o.rows
			if rows > 2000 {
				rows = max(rows/20, 500)
			}
			o.write(t, file, rows)
			if exhaustive.Tries(4, i) {
				does(t, "data", file)
			}
			does(t, "init", study, "--data", file)
			text, err := os.ReadFile(study)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range o.says {
				if rows == o.rows && !strings.Contains(string(text), want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			if columns := len(o.head); bytes.Count(text, []byte("\n")) > columns+60 {
				t.Errorf("more lines than columns:\n%s", text)
			}
			if exhaustive.Tries(2, i) {
				does(t, "validate", study)
			}
			if exhaustive.Tries(4, i) { // it measures how fast the machine is
				does(t, "plan", study, "-o", filepath.Join(dir, "run"))
			}
			if o.name == "duplicates" {
				noCopies(t, study)
			}
		})
	}
}

// noCopies checks that no held-out case of a study has the same inputs as one of its training
// cases.
func noCopies(t *testing.T, study string) {
	t.Helper()
	p, err := plan.Load(t.Context(), study, nil)
	if err != nil {
		t.Fatal(err)
	}
	held := 0
	for _, s := range p.Studies {
		set, trained := s.Job.Set, map[string]bool{}
		for _, i := range set.Train {
			trained[fmt.Sprint(set.Source.X.RawRowView(i))] = true
		}
		for _, i := range set.Test {
			if held++; trained[fmt.Sprint(set.Source.X.RawRowView(i))] {
				t.Errorf("%s, fold %d: case %d has a copy in the training part", set.Evaluation, set.Fold, i)
			}
		}
	}
	if held == 0 {
		t.Error("nothing is held out")
	}
}

// peers computes scikit-learn's results on the same folds: the log loss of each of its classifiers,
// with probabilities of at least 1e-15.
const peers = `
import sys, json, warnings
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
warnings.filterwarnings("ignore")
task = json.load(open(sys.argv[1]))
X = np.array([[np.nan if v is None else v for v in row] for row in task["x"]])
y = np.array(task["y"])
made = {
    "logistic regression": lambda: make_pipeline(SimpleImputer(strategy="median"), StandardScaler(),
                                                 LogisticRegression(max_iter=1000)),
    "random forest": lambda: make_pipeline(SimpleImputer(strategy="median"),
                                           RandomForestClassifier(random_state=0, n_jobs=2)),
    "histogram boosting": lambda: HistGradientBoostingClassifier(random_state=0),
}
out = {}
for name, make in made.items():
    total = cases = 0
    for f in task["folds"]:
        train, test = np.array(f["train"]), np.array(f["test"])
        p = make().fit(X[train], y[train]).predict_proba(X[test])
        p = np.clip(p, 1e-15, 1)
        p /= p.sum(axis=1, keepdims=True)
        total += -np.log(p[np.arange(len(test)), y[test]]).sum()
        cases += len(test)
    out[name] = total / cases
print(json.dumps(out))
`

// beside computes the log losses of scikit-learn's classifiers on the folds of a plan.
func beside(t *testing.T, study string) map[string]float64 {
	t.Helper()
	p, err := plan.Load(t.Context(), study, nil)
	if err != nil {
		t.Fatal(err)
	}
	type fold struct {
		Train []int `json:"train"`
		Test  []int `json:"test"`
	}
	task := struct {
		X     [][]*float64 `json:"x"`
		Y     []int        `json:"y"`
		Folds []fold       `json:"folds"`
	}{Y: p.Configured[0].Set.Source.Labels}
	x := p.Configured[0].Set.Source.X
	for i := range task.Y {
		var row []*float64
		for _, v := range x.RawRowView(i) {
			if math.IsNaN(v) {
				row = append(row, nil)
			} else {
				row = append(row, &v)
			}
		}
		task.X = append(task.X, row)
	}
	for _, s := range p.Studies {
		if s.Configuration == 0 && s.Index > 0 {
			task.Folds = append(task.Folds, fold{s.Job.Set.Train, s.Job.Set.Test})
		}
	}
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "task.json")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Getenv("GPC_TUNE_PEERS"), "-c", peers, file)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	losses := map[string]float64{}
	if err := json.Unmarshal(out, &losses); err != nil {
		t.Fatal(err)
	}
	return losses
}

// losses returns the log losses of the configurations of a run.
func losses(t *testing.T, folder string) (all []float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	var results struct {
		Configurations []struct {
			Scores struct {
				Loss struct{ Value float64 } `json:"log_loss"`
			}
		}
	}
	if err := json.Unmarshal(text, &results); err != nil {
		t.Fatal(err)
	}
	for _, c := range results.Configurations {
		all = append(all, c.Scores.Loss.Value)
	}
	return all
}

// Every study of every complete table runs without changes, is fitted and predicts; its best log
// loss is logged together with the log losses of scikit-learn. It takes half an hour:
// GPC_TUNE_PEERS names a Python with scikit-learn, and GPC_TUNE_TABLE one table.
func TestTablesBesideScikitLearn(t *testing.T) {
	needs.That(t, os.Getenv("GPC_TUNE_PEERS") != "", "a Python with scikit-learn and many minutes: GPC_TUNE_PEERS=/usr/bin/python3 go test ./cmd/gpc-tune -run Tables")
	for _, o := range ordinaryTables {
		if only := os.Getenv("GPC_TUNE_TABLE"); only != "" && only != o.name {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			dir := t.TempDir()
			file, study, folder := filepath.Join(dir, o.name+".csv"), filepath.Join(dir, "study.yaml"),
				filepath.Join(dir, "run")
			o.write(t, file, o.rows)
			_, said := does(t, "init", study, "--data", file)
			start, computed := time.Now(), machine.ProcessTime()
			first, _ := does(t, "run", study, "-o", folder)
			first, _, _ = strings.Cut(first, "\n")
			took := time.Since(start).Round(time.Second)
			computed = (machine.ProcessTime() - computed).Round(time.Second)
			best, of := math.Inf(1), -1
			for i, loss := range losses(t, folder) {
				if loss > 0 && loss < best {
					best, of = loss, i
				}
			}
			peers := beside(t, study)
			least := math.Inf(1)
			for _, loss := range peers {
				least = min(least, loss)
			}
			t.Logf("%s took %v, %v of processor time (%s): %s; log loss %.4f of configuration %d, %.4f of "+
				"scikit-learn's best %v", o.name, took, computed, strings.TrimSpace(said), first, best, of+1, least, peers)
			if !(best <= 1.02*least) {
				t.Errorf("log loss %.4f, more than 2 %% above %.4f", best, least)
			}
			model := filepath.Join(dir, "model.json")
			does(t, "fit", study, "-o", folder, "--resume", "-m", model)
			does(t, "predict", model, file, "-o", filepath.Join(dir, "predicted.csv"))
		})
	}
}

// A number and a category with many levels each add to the logit. Then the sum of a kernel of the
// number and hamming predicts better than one kernel of the number and of indicators.
func TestMixedKernelBeatsIndicators(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(4, 2))
	var text strings.Builder
	text.WriteString("shop,good,x,sold\n")
	shops := normal(r, 40)
	for i := range 320 {
		shop, good, x := i%len(shops), r.IntN(10), 2*r.NormFloat64()
		fmt.Fprintf(&text, "s%d,g%d,%.3f,%s\n", shop, good, x, word(happens(r, 3*math.Sin(2*x)+2*shops[shop]), "yes", "no"))
	}
	if err := os.WriteFile(filepath.Join(dir, "sales.csv"), []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	loss := map[string]float64{}
	for categorical, kernel := range map[string]string{"one_hot": "{se: {ard: true}}",
		"kernel": "{sum: [se, {hamming: {ard: true}}]}"} {
		study, folder := filepath.Join(dir, categorical+".yaml"), filepath.Join(dir, categorical)
		file := "version: 1\nname: sales\ndata: {train: sales.csv, preprocess: standardize, categorical: " + categorical +
			"}\nmodel: {kernel: " + kernel + ", likelihood: probit, inference: laplace}\ntune: {restarts: 1}\n" +
			"evaluate: {kfold: {k: 4}}\n"
		if err := os.WriteFile(study, []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
		does(t, "run", study, "-o", folder)
		loss[categorical] = losses(t, folder)[0]
	}
	if !(loss["kernel"] < 0.95*loss["one_hot"]) {
		t.Errorf("log losses %v", loss)
	}

	// An unknown level and a missing one can be predicted too.
	model, fresh := filepath.Join(dir, "model.json"), filepath.Join(dir, "fresh.csv")
	does(t, "fit", filepath.Join(dir, "kernel.yaml"), "-m", model)
	if err := os.WriteFile(fresh, []byte("shop,good,x\ns1,g1,0.5\ns99,g1,0.5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out, messages := does(t, "predict", model, fresh)
	if strings.Count(out, "\n") < 3 || !strings.Contains(messages, "treats them as different from all training cases") {
		t.Errorf("%s\n%s", out, messages)
	}
}

// Categories that a model would treat as numbers, and inputs that no kernel uses, are mistakes in
// the file.
func TestMixedMistakes(t *testing.T) {
	dir := t.TempDir()
	table := "x,shop,sold\n1,a,0\n2,b,1\n3,a,0\n4,b,1\n"
	if err := os.WriteFile(filepath.Join(dir, "sales.csv"), []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ data, model, want string }{
		{"", "kernel: se, likelihood: probit, inference: laplace", "no kernel uses the categories; add hamming"},
		{"", "inference: logistic_regression", "would treat the categories as numbers"},
		{", preprocess: whiten", "kernel: hamming, likelihood: probit, inference: laplace", "whiten would mix categories"},
		{", columns: [shop]", "kernel: {sum: [se, hamming]}, likelihood: probit, inference: laplace",
			"all inputs are categories, and only hamming uses them"},
		{", categories: [sold]", "kernel: hamming, likelihood: probit, inference: laplace", `"sold" is already`},
		{", missing_indicators: true", "kernel: hamming, likelihood: probit, inference: laplace",
			"needs missing: mean or median"},
		{", decimal: dot", "kernel: hamming, likelihood: probit, inference: laplace", `unknown value "dot"`},
	} {
		study := filepath.Join(dir, "study.yaml")
		file := "version: 1\nname: sales\ndata: {train: sales.csv, label: sold, categorical: kernel" + of.data +
			"}\nmodel: {" + of.model + "}\ntune: none\n"
		if err := os.WriteFile(study, []byte(file), 0o666); err != nil {
			t.Fatal(err)
		}
		var out, messages bytes.Buffer
		code := run(t.Context(), nil, []string{"validate", study}, strings.NewReader(""), &out, &messages)
		if code != 3 || !strings.Contains(messages.String(), of.want) {
			t.Errorf("exit code %d, %q is not in\n%s", code, of.want, messages.String())
		}
	}
}
