package predict

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// pimas is a classifier fitted to Pima.
func pimas(t *testing.T) *Classifier {
	t.Helper()
	p := plantest.Planned(t, "data: {dataset: pima, preprocess: standardize}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n")
	c, err := LoadClassifier(fitted(t, p, 0))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// column returns a column of numbers or texts.
func column[T any](t *testing.T, p *Predicted, name string) (all []T) {
	t.Helper()
	for j, c := range p.Columns {
		if c == name {
			for _, row := range p.Rows {
				all = append(all, row[j].(T))
			}
			return all
		}
	}
	t.Fatalf("no column %s in %v", name, p.Columns)
	return nil
}

// A model file has the costs of the experiment. They decide unless flags give others; a cost of
// rejecting given alone is added to them.
func TestCostsOfTheFile(t *testing.T) {
	p := plantest.Planned(t, "data: {dataset: pima, preprocess: standardize}\n"+
		"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\npredict: {loss: {Yes: {No: 5}}}\n")
	c, err := LoadClassifier(fitted(t, p, 0))
	if err != nil {
		t.Fatal(err)
	}
	decided := func(c *Classifier, o spec.Deciding) []string {
		got, err := c.Predict("pima", o)
		if err != nil {
			t.Fatal(err)
		}
		return column[string](t, got, "decision")
	}
	plain, half, reject := pimas(t), 0.5, 0.4
	equal := decided(plain, spec.Deciding{})
	for _, test := range []struct {
		of   spec.Deciding
		want []string
	}{
		{spec.Deciding{}, decided(plain, spec.Deciding{Loss: "Yes,No,5"})},
		{spec.Deciding{Loss: "Yes,No,1"}, equal},
		{spec.Deciding{Threshold: &half}, equal},
		{spec.Deciding{Reject: &reject}, decided(plain, spec.Deciding{Loss: "Yes,No,5", Reject: &reject})},
	} {
		if got := decided(c, test.of); !slices.Equal(got, test.want) {
			t.Errorf("%+v: other decisions than with the costs as a flag", test.of)
		}
	}
	if slices.Equal(decided(c, spec.Deciding{}), equal) {
		t.Error("the costs of the file have no effect")
	}
	infinite := record.Number(math.Inf(1))
	for _, wrong := range []record.Costs{{}, {Loss: [][]record.Number{{0, 1}}}, {Loss: [][]record.Number{{0, 1}, {1}}},
		{Loss: [][]record.Number{{0, infinite}, {1, 0}}},
		{Loss: [][]record.Number{{0, 1}, {1, 0}}, Reject: &infinite}} {
		f := *c.file
		f.Costs = &wrong
		if _, err := restore(&f, "model.json"); err == nil || !strings.Contains(err.Error(), "costs: want a number") {
			t.Errorf("costs %+v: %v", wrong, err)
		}
	}
}

// Every decision has the least expected loss, in every notation of the costs, and mean_loss is the
// mean cost of the decisions.
func TestDecisionsHaveTheLeastExpectedLoss(t *testing.T) {
	c := pimas(t)
	dir := t.TempDir()
	matrix, mapping := filepath.Join(dir, "loss.csv"), filepath.Join(dir, "loss.yaml")
	for name, text := range map[string]string{matrix: "truth,No,Yes\nYes,5,0.25\nNo,0,1\n", mapping: "{Yes: {No: 5, Yes: 0.25}}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cheap := 0.5
	for _, reject := range []*float64{nil, &cheap} {
		for _, loss := range []string{"Yes,No,5 Yes,Yes,0.25", "{Yes: {No: 5, Yes: 0.25}}", matrix, mapping} {
			got, err := c.Predict("pima", spec.Deciding{Loss: loss, Reject: reject})
			if err != nil {
				t.Fatal(err)
			}
			ds, err := c.file.Columns.Read("pima")
			if err != nil {
				t.Fatal(err)
			}
			decisions, expected := column[string](t, got, "decision"), column[record.Number](t, got, "expected_loss")
			cost, rejections := 0.0, 0
			for i, yes := range column[record.Number](t, got, "p[Yes]") {
				no := column[record.Number](t, got, "p[No]")[i]
				risks := map[string]float64{"No": 5 * float64(yes), "Yes": 0.25*float64(yes) + float64(no)}
				costs := map[string][2]float64{"No": {0, 5}, "Yes": {1, 0.25}}
				if reject != nil {
					risks["reject"], costs["reject"] = *reject, [2]float64{*reject, *reject}
				}
				for _, r := range risks {
					if r < float64(expected[i])-1e-12 {
						t.Fatalf("case %d: %s at %v, and %v", i, decisions[i], expected[i], risks)
					}
				}
				if math.Abs(risks[decisions[i]]-float64(expected[i])) > 1e-12 {
					t.Fatalf("case %d: %s at %v, want %v", i, decisions[i], expected[i], risks[decisions[i]])
				}
				if decisions[i] == "reject" {
					rejections++
				}
				cost += costs[decisions[i]][ds.Labels[i]] / float64(len(decisions))
			}
			if reject != nil && (rejections == 0 || rejections == len(decisions)) || reject == nil && rejections > 0 {
				t.Errorf("%d of %d are rejected", rejections, len(decisions))
			}
			if found := float64(got.Scores["mean_loss"].Value); math.Abs(found-cost) > 1e-12 {
				t.Errorf("mean loss %v, want %v", found, cost)
			}
		}
	}
}

// A run makes the same decisions as predict.
func TestDecisionsOfARun(t *testing.T) {
	const text = "data: {dataset: pima, preprocess: standardize}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n"
	reject := 0.5
	got, err := pimas(t).Predict("pima", spec.Deciding{Loss: "Yes,No,5", Reject: &reject})
	if err != nil {
		t.Fatal(err)
	}
	r := reported(t, text+"predict: {loss: {Yes: {No: 5}}, reject_cost: 0.5}\n")
	c := r.Configurations[0]
	d := c.Evaluations[0].Decisions
	if want := float64(got.Scores["mean_loss"].Value); math.Abs(float64(d.Loss)-want) > 1e-12 || !(d.CI95[0] < d.Loss && d.Loss < d.CI95[1]) {
		t.Errorf("mean loss %v in %v, want %v", d.Loss, *d.CI95, want)
	}
	rejections, expected, likeliest, largest := 0, 0.0, 0.0, 0.0
	var table [2][3]int
	ds, err := data.Load(data.Spec{Dataset: "pima"}, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	losses, n := column[record.Number](t, got, "expected_loss"), float64(len(got.Rows))
	yes := column[record.Number](t, got, "p[Yes]")
	for i, decision := range column[string](t, got, "decision") {
		truth := ds.Test.Labels[i]
		k := map[string]int{"No": 0, "Yes": 1, "reject": 2}[decision]
		table[truth][k]++
		if k == 2 {
			rejections++
		}
		expected += float64(losses[i]) / n
		if yes[i] > 0.5 {
			likeliest += float64(1-truth) / n
		} else {
			likeliest += 5 * float64(truth) / n
		}
		largest = max(largest, float64(yes[i]))
	}
	if d.Rejected != rejections || rejections == 0 || math.Abs(float64(d.Expected)-expected) > 1e-12 || math.Abs(float64(d.Likeliest)-likeliest) > 1e-12 || fmt.Sprint(d.Table) != fmt.Sprint(table) {
		t.Errorf("got %+v, want %d rejected, %v expected, %v by the largest probability, %v", d, rejections, expected, likeliest, table)
	}
	for _, f := range page.Formats {
		var page strings.Builder
		if want := map[string]string{"text": fmt.Sprintf("test: decisions cost %.4g a case", float64(d.Loss)), "html": fmt.Sprintf("costs, test (%d of %d cases rejected)", rejections, int(n)), "json": `"largest_probability_loss"`}[f.Name]; want != "" {
			if err := f.Render(&page, r); err != nil || !strings.Contains(page.String(), want) {
				t.Errorf("%s lacks %q (%v)", f.Name, want, err)
			}
		}
	}
	if r := reported(t, text); r.Configurations[0].Evaluations[0].Decisions != nil {
		t.Error("decisions without costs")
	}
}

// A file with costs and a threshold decides by the threshold and tells what that costs; a loss that the user gives decides
// without the threshold.
func TestThresholdOfFileWithCosts(t *testing.T) {
	c := pimas(t)
	ds, err := c.file.Columns.Read("pima")
	if err != nil {
		t.Fatal(err)
	}
	loss := cv.Loss{{0, 1}, {10, 0}} // classes No and Yes
	c.costs, c.threshold = &cv.Costs{Loss: loss}, []float64{0.4}
	for _, o := range []spec.Deciding{{}, {Loss: "Yes,No,10"}} {
		got, err := c.Predict("pima", o)
		if err != nil {
			t.Fatal(err)
		}
		at, total := 0.4, 0.0
		if o.Loss != "" {
			at = 1 / 11.0
		}
		decisions, expected := column[string](t, got, "decision"), column[record.Number](t, got, "expected_loss")
		for i, p := range column[record.Number](t, got, "p[Yes]") {
			class, cost := 0, 10*float64(p)
			if float64(p) >= at {
				class, cost = 1, 1-float64(p)
			}
			if decisions[i] != ds.Classes[class] || math.Abs(float64(expected[i])-cost) > 1e-12 {
				t.Fatalf("%+v: %v is decided to be %s at %v, want %v", o, p, decisions[i], expected[i], cost)
			}
			total += loss[ds.Labels[i]][class]
		}
		want := total / float64(len(decisions))
		if mean := float64(got.Scores["mean_loss"].Value); math.Abs(mean-want) > 1e-12 {
			t.Errorf("%+v: the decisions cost %v per case, want %v", o, mean, want)
		}
	}
}

// The second class is chosen from the threshold on, and the scores count those decisions; single
// records are decided like files.
func TestThresholdOfPredictions(t *testing.T) {
	c := pimas(t)
	ds, err := c.file.Columns.Read("pima")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []float64{0, 0.2, 0.7, 1} {
		got, err := c.Predict("pima", spec.Deciding{Threshold: &at})
		if err != nil {
			t.Fatal(err)
		}
		errors := 0
		decisions := column[string](t, got, "decision")
		for i, yes := range column[record.Number](t, got, "p[Yes]") {
			want := map[bool]string{true: "Yes", false: "No"}[float64(yes) >= at]
			if decisions[i] != want {
				t.Fatalf("from %v on, %v is decided to be %s", at, yes, decisions[i])
			}
			if want != ds.Classes[ds.Labels[i]] {
				errors++
			}
		}
		if found := float64(got.Scores["errors"].Value); found != float64(errors) {
			t.Errorf("from %v on: %v errors, want %d", at, found, errors)
		}
	}
	half := 0.5
	for _, o := range []spec.Deciding{{}, {Threshold: &half}, {Loss: "Yes,No,5", Reject: &half}} {
		one, err := c.Deciding(o)
		if err != nil {
			t.Fatal(err)
		}
		all, err := c.Predict("pima", o)
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string][]map[string]float64{}
		for i := range ds.Rows {
			row := map[string]float64{}
			for j, column := range c.file.Columns.Inputs {
				row[column.Name] = ds.X.At(i, j)
			}
			rows["rows"] = append(rows["rows"], row)
		}
		text, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		read, err := one.ReadRecords(text, len(ds.Rows))
		if err != nil {
			t.Fatal(err)
		}
		got, err := one.Records(read)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Columns, all.Columns) || !reflect.DeepEqual(got.Rows, all.Rows) {
			t.Errorf("%+v: rows are predicted otherwise than the file: %v and %v", o, got.Rows[0], all.Rows[0])
		}
	}
}

func TestCostsAreChecked(t *testing.T) {
	c := pimas(t)
	infinite, half, two := math.Inf(1), 0.5, 2.0
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("truth,No,Yes\nNo,0,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		deciding spec.Deciding
		says     string
	}{
		{spec.Deciding{Loss: "Yse,No,5"}, `--loss: unknown class "Yse" (have No, Yes)`},
		{spec.Deciding{Loss: "Yes,No"}, `"Yes,No" must be truth,decision,cost, as in No,Yes,5`},
		{spec.Deciding{Loss: "Yes,No,five"}, `"Yes,No,five" must be`},
		{spec.Deciding{Loss: "Yes,No,NaN"}, `NaN is not a cost`},
		{spec.Deciding{Loss: "Yes,No,5 Yes,No,6"}, "is given twice"},
		{spec.Deciding{Loss: "{Yes: 5}"}, "--loss:1:7: expected a mapping"},
		{spec.Deciding{Loss: bad}, "2 of 4 costs are there"},
		{spec.Deciding{Reject: &infinite}, "--reject: +Inf is not a cost"},
		{spec.Deciding{Threshold: &two}, "--threshold: 2 is not a probability"},
		{spec.Deciding{Threshold: &half, Reject: &half}, "leave out --threshold, or --loss and --reject"},
	} {
		if _, err := c.Predict("pima", f.deciding); err == nil || !strings.Contains(err.Error(), f.says) {
			t.Errorf("%v, want %q", err, f.says)
		}
	}
}

// Predictions do not depend on the order of columns, on columns unknown to the model, on labels, or
// on whether cases come one by one.
func TestColumnsAreFoundByName(t *testing.T) {
	c := pimas(t)
	all, err := c.Predict("pima", spec.Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	if all.Labelled != 332 || all.Scores["errors"].Value == 0 {
		t.Errorf("%d labelled, scores %v", all.Labelled, all.Scores)
	}
	name := filepath.Join(t.TempDir(), "new.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{
		"age,ped,colour,bmi,skin,bp,glu,npreg\n50,0.627,red,33.6,35,72,148,6\n",
		"npreg,glu,bp,skin,bmi,ped,age,label\n6,148,72,35,33.6,0.627,50,?\n",
		"6,148,72,35,33.6,0.627,50\n",
	} {
		write(text)
		got, err := c.Predict(name, spec.Deciding{})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got.Labelled != 0 || got.Scores != nil {
			t.Errorf("%q: scores %v", text, got.Scores)
		}
		for _, column := range []int{1, 2, 3, 4} {
			a, b := float64(got.Rows[0][column].(record.Number)), float64(all.Rows[0][column].(record.Number))
			if math.Abs(a-b) > 1e-12 {
				t.Errorf("%q: %s is %v, and %v among the others", text, got.Columns[column], a, b)
			}
		}
	}
	write("npreg,glu,bp,skin,bmi,pedigree,age\n6,148,72,35,33.6,0.627,50\n")
	if _, err := c.Predict(name, spec.Deciding{}); err == nil || !strings.Contains(err.Error(), "has no column ped, which the training file has") {
		t.Errorf("a missing column: %v", err)
	}
	write("6,148,72,35,33.6,0.627\n")
	if _, err := c.Predict(name, spec.Deciding{}); err == nil || !strings.Contains(err.Error(), "has 6 columns, the training file 8") {
		t.Errorf("too few columns: %v", err)
	}
	write("npreg,glu,bp,skin,bmi,ped,age\n6,148,72,35,1e90,0.627,50\n")
	if got, err := c.Predict(name, spec.Deciding{}); err != nil || math.Abs(float64(got.Rows[0][1].(record.Number))-0.5) > 1e-12 {
		t.Errorf("far from all training cases: %v", err)
	}
}

// An id column keeps its name in the predictions of predict and of a run, whatever the name, and
// may be absent from new data.
func TestIDColumnsKeepTheirNames(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"train.csv": "case,x,decision,case_,y\np1,1,d1,,a\np2,2,d2,q,b\np3,3,d3,\"r, s\",a\np4,4,d4,t,b\np5,5,d5,u,a\np6,6,d6,v,b\n",
		"new.csv":   "x,case_,decision,case\n1,\"r, s\",007,p9\n",
		"no_id.csv": "decision,x\nd,1\n",
		"t.yaml":    "data: {train: train.csv, label: y, id: [case, decision, case_]}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\nreport: {formats: predictions}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := spec.Load(filepath.Join(dir, "t.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := LoadClassifier(fitted(t, p, 0))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]struct {
		columns, cells string
		warnings       int
	}{
		"new.csv":   {"case__ case decision case_ p[a] p[b] latent_mean latent_variance decision_", "0|p9|007|r, s", 0},
		"no_id.csv": {"case decision p[a] p[b] latent_mean latent_variance decision_", "0|d", 2},
	} {
		got, err := c.Predict(filepath.Join(dir, file), spec.Deciding{})
		if err != nil {
			t.Fatal(err)
		}
		cells := strings.Split(want.cells, "|")
		for j := range cells {
			if text := fmt.Sprint(got.Rows[0][j]); text != cells[j] {
				t.Errorf("%s: %s is %q, want %q", file, got.Columns[j], text, cells[j])
			}
		}
		if columns := strings.Join(got.Columns, " "); columns != want.columns || len(got.Warnings) != want.warnings {
			t.Errorf("%s: columns %s, warnings %q", file, columns, got.Warnings)
		}
	}
	folder := filepath.Join(dir, "run")
	if _, _, err := run.Run(t.Context(), p, folder, run.Options{Warn: t.Logf}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "predictions.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if want := "configuration,evaluation,repeat,fold,case__,case,decision,case_,label,decision_,p[a],p[b],latent_mean,latent_variance"; lines[0] != want {
		t.Errorf("%s, want %s", lines[0], want)
	}
	if !strings.Contains(string(text), `,2,p3,d3,"r, s",a,`) || !strings.Contains(string(text), ",0,p1,d1,,a,") {
		t.Errorf("ids are not carried through:\n%s", text)
	}
}

// A model file of version 1 with inducing inputs, which contains all cases, predicts the same as
// the build that wrote it.
func TestInducingOfVersion1(t *testing.T) {
	c, err := LoadClassifier(filepath.Join("testdata", "inducing_of_version_1.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(cases, []byte("fever,weight\n37,70\n39,64\n36.6,73\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := c.Predict(cases, spec.Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][3]float64{
		"p[ill]":          {0.3162036574312588, 0.6954750870883317, 0.2676834308550356},
		"latent_mean":     {0.5720478241295814, -0.6467135152706289, 0.7421737436771012},
		"latent_variance": {0.4301742037793661, 0.5990095963078862, 0.4337053760717695},
	} {
		for i, got := range column[record.Number](t, p, name) {
			if !(math.Abs(float64(got)-want[i]) <= 1e-14) {
				t.Errorf("case %d: %s = %v, want %v", i, name, got, want[i])
			}
		}
	}
}

// A case to predict is never refused for a missing value unless the experiment says error: it is
// predicted as if the median of the training cases stood there, or with whitening their mean. Files
// may have other columns, another order, delimiter and encoding, and levels that are unknown.
func TestMissingValuesOfCases(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// The medians are 3 and 0.5, the means 4 and 0.2; of the colours no level has half of the cases.
	train := write("train.csv", "a,b,colour,y\n1,0.5,grün,no\n2,-1,rot,yes\n3,0.5,blau,no\n4,2,grün,yes\n10,-1,rot,no\n")
	full := "a,b,colour\n3,0.5,rot\n3,2,lila\n5,0.5,grün\n3,0.5,lila\n"
	mean := "a,b,colour\n4,0.2,rot\n4,2,lila\n5,0.2,grün\n4,0.2,lila\n"
	dirty := "extra;colour;b;a\nx;rot;;n/a\n;lila;2;?\nx;gr\xfcn;prefer not to say;5\n;violett;-;NA\n"
	for _, of := range []struct{ missing, preprocess, equal string }{
		{"", "none", full}, {"", "standardize", full}, {", missing: drop", "standardize", full}, {"", "whiten", mean},
		{", missing: median", "standardize", full}, {", missing: mean", "standardize", mean}, {", missing: error", "standardize", ""},
	} {
		name := filepath.Join(dir, "model.json")
		p := plantest.Planned(t, fmt.Sprintf("data: {train: %s, categorical: one_hot, preprocess: %s%s}\nmodel: {kernel: se, "+
			"likelihood: probit, inference: laplace}\ntune: none\n", train, of.preprocess, of.missing))
		o := FitOptions{Options: run.Options{Warn: t.Logf}}
		o.Workers = 1
		if _, _, err := Fit(t.Context(), p, name, o); err != nil {
			t.Fatal(err)
		}
		c, err := LoadClassifier(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Predict(write("dirty.csv", dirty), spec.Deciding{})
		if of.equal == "" {
			if err == nil || !strings.Contains(err.Error(), `dirty.csv:2:7: column "b" has no value`) {
				t.Errorf("%+v: %v", of, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", of, err)
		}
		want, err := c.Predict(write("full.csv", of.equal), spec.Deciding{})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range column[record.Number](t, want, "p[yes]") {
			if q := column[record.Number](t, got, "p[yes]")[i]; math.Abs(float64(p-q)) > 1e-14 {
				t.Errorf("%+v: case %d has %v, want %v", of, i, q, p)
			}
		}
		warnings := strings.Join(got.Warnings, "\n")
		for _, part := range []string{`values of "a" are missing`, `values of "b" are missing`, "(cases: 3)", `values of "colour" that do not occur`,
			"(cases: 2)", "read as windows-1252"} {
			if !strings.Contains(warnings, part) {
				t.Errorf("%+v: no %q in %s", of, part, warnings)
			}
		}
		damaged := write("damaged.csv", "a,b,colour\n1,2,rot\n12x,2,rot\n")
		const named = `values of "a" that are no numbers: they are treated as missing; "12x" of case 1 (line 3) (cases: 1)`
		got, err = c.Predict(damaged, spec.Deciding{})
		if err != nil || len(got.Rows) != 2 || got.Warnings[0] != named {
			t.Errorf("%+v: %+v, %v", of, got, err)
		}
		if want, err = c.Predict(write("gap.csv", "a,b,colour\n1,2,rot\n,2,rot\n"), spec.Deciding{}); err != nil || !reflect.DeepEqual(got.Rows, want.Rows) {
			t.Errorf("%+v: %v, want %v, %v", of, got.Rows, want, err)
		}
		if _, err := c.Predict(damaged, spec.Deciding{Strict: true}); err == nil || !strings.Contains(err.Error(), named+"; correct them") {
			t.Errorf("%+v: strictly %v", of, err)
		}
		if _, err := c.Predict(write("new.csv", "a,b,colour\n1,2,rot\n1,2,lila\n"), spec.Deciding{Strict: true}); err == nil ||
			!strings.Contains(err.Error(), `"colour" that do not occur in the training file`) {
			t.Errorf("%+v: strictly %v", of, err)
		}
		var out strings.Builder // values of all parts are counted together
		many := write("many.csv", "a,b,colour\n"+strings.Repeat("1,2,rot\n", streamed)+"x,2,rot\n1,2,rot\ny,2,rot\n")
		got, err = c.Stream(t.Context(), many, nil, spec.Deciding{}, &out)
		if want := fmt.Sprintf(`"x" of case %d (line %d), "y" of case %d (line %d) (cases: 2)`, streamed, streamed+2, streamed+2, streamed+4); err != nil ||
			strings.Count(out.String(), "\n") != streamed+4 || !strings.HasSuffix(got.Warnings[0], want) {
			t.Errorf("%+v: %q, %v, want %q", of, got.Warnings, err, want)
		}
	}
}

// Scores of labelled cases have the same warnings as an evaluation: probabilities of 0 for the own
// class, and classes without training cases.
func TestWarningsOfScores(t *testing.T) {
	proba := mat.NewDense(2, 2, []float64{0.5, 0.5, 1, 0})
	for _, c := range []struct {
		labels []int
		counts []float64
		want   []string
	}{
		{[]int{0, 0}, []float64{3, 3}, nil}, {[]int{0, 1}, []float64{3, 3}, []string{"1 of 2 cases had a probability below"}},
		{[]int{1, 0}, []float64{3, 0}, []string{"1 of 2 cases are of a class without training cases"}},
		{[]int{0, 1}, []float64{3, 0}, []string{"1 of 2 cases had a probability below", "1 of 2 cases are of a class without"}},
	} {
		p, err := cv.NewPredictions([]int{0, 1}, c.labels, proba, c.counts)
		if err != nil {
			t.Fatal(err)
		}
		of := &Predicted{Warnings: []string{"an earlier one"}}
		if err := of.score(p, nil); err != nil {
			t.Fatal(err)
		}
		if len(of.Warnings) != 1+len(c.want) || of.Warnings[0] != "an earlier one" {
			t.Errorf("%+v: %q", c, of.Warnings)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(of.Warnings[1+i], want) {
				t.Errorf("%+v: %q", c, of.Warnings[1+i])
			}
		}
	}
}

// Groups of nearly equal cases: held-out groups have log odds of almost 0, and cases of the training
// set are far from that. What was learnt there never turns a prediction round, and the warning says
// that it is extrapolated; where held-out cases are like new ones there is none.
func TestExtrapolatedCalibration(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	near, text, apart := filepath.Join(t.TempDir(), "d.csv"), "a,b,g,y\n", "a,b,g,y\n"
	for g := range 24 {
		a, b := 3*r.NormFloat64(), 3*r.NormFloat64()
		for range 4 {
			text += fmt.Sprintf("%.5f,%.5f,g%d,%s\n", a+1e-3*r.NormFloat64(), b+1e-3*r.NormFloat64(), g, []string{"n", "p"}[g%2])
			x := r.NormFloat64()
			apart += fmt.Sprintf("%.5f,%.5f,g%d,%s\n", x, r.NormFloat64(), g, map[bool]string{true: "n", false: "p"}[x+r.NormFloat64() > 0])
		}
	}
	for name, learnt := range map[string]string{"platt": "{calibrate: platt}", "isotonic": "{calibrate: isotonic}",
		"threshold": "{threshold: {maximise: f1}}"} {
		for _, covered := range []bool{false, true} {
			content, length := text, 0.05
			if covered {
				content, length = apart, 1.5
			}
			if err := os.WriteFile(near, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := LoadClassifier(fitted(t, plantest.Planned(t, fmt.Sprintf("data: {train: %s, label: y, group: g}\n"+
				"model: {kernel: {se: {length_scale: {fixed: %v}, amplitude: {fixed: 3}}}, likelihood: probit, inference: laplace}\n"+
				"tune: none\npredict: %s\nevaluate: {training: {}}\n", near, length, learnt)), 0))
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Predict(near, spec.Deciding{})
			if err != nil {
				t.Fatal(err)
			}
			warned := slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, "extrapolated") })
			if warned == covered {
				t.Errorf("%s, covered %v: warnings %q", name, covered, got.Warnings)
			}
			p, mean, variance := column[record.Number](t, got, "p[p]"), column[record.Number](t, got, "latent_mean"), column[record.Number](t, got, "latent_variance")
			// Probit's average is Φ of this argument.
			argument := func(i int) float64 { return float64(mean[i]) / math.Sqrt(1+float64(variance[i])) }
			for i := range p {
				for j := range p {
					if argument(i) < argument(j)-1e-12 && p[i] > p[j] {
						t.Fatalf("%s: Φ of %v and %v, probabilities %v and %v", name, argument(i), argument(j), p[i], p[j])
					}
				}
			}
		}
	}
}
