package predict

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// visits writes a table of visits: the label follows dose and kind; day and noise mean nothing. part
// is the number of the fold. It returns the plan of an experiment on it.
func visits(t *testing.T, dir, more string) *plan.Plan {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	text, folds := "dose,kind,day,noise,part,ill\n", [2]string{"dose,kind,day,noise,ill\n", "dose,kind,day,noise,ill\n"}
	for i := range 120 {
		dose, kind := rng.NormFloat64(), i%3
		row := fmt.Sprintf("%.3f,%c,2024-%02d-%02d,%.3f,", dose, "abc"[kind], 1+rng.IntN(12), 1+rng.IntN(28), rng.NormFloat64())
		ill := 2*dose+1.5*float64(kind-1)+rng.NormFloat64() > 0
		text += fmt.Sprintf("%s%d,%v\n", row, i/3%2, ill)
		folds[1-i/3%2] += fmt.Sprintf("%s%v\n", row, ill)
	}
	for name, text := range map[string]string{"visits.csv": text, "without0.csv": folds[0], "without1.csv": folds[1]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	part := "drop: [part]"
	if strings.Contains(more, "predefined") {
		part = "group: part, drop: [day]"
	}
	return plantest.Planned(t, "name: visits\nseed: 3\ndata: {train: "+filepath.Join(dir, "visits.csv")+", label: ill, "+
		"categorical: one_hot, "+part+", preprocess: none}\n"+
		"model: {kernel: {se: {ard: true}}, likelihood: probit, inference: [laplace, base_rate]}\n"+more)
}

// drivenRun runs an experiment, and returns the drivers of its answer.
func drivenRun(t *testing.T, p *plan.Plan, dir string, workers int) *record.Drivers {
	t.Helper()
	o := run.Options{Resume: true}
	o.Workers = workers
	r, _, err := Run(t.Context(), p, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Answer.Drivers
}

const noTuning = "tune: none\nevaluate: predefined\n"

// The importances are those of two models that are fitted to the cases of the other fold, by their own
// files, and that predict the same permutations of all cases.
func TestDriversAreOfTheFitsThatDoNotKnowTheCases(t *testing.T) {
	dir := t.TempDir()
	p := visits(t, dir, noTuning)
	got := drivenRun(t, p, filepath.Join(dir, "run"), 1)
	var models []*Classifier
	for k := range 2 {
		fold := plantest.Planned(t, fmt.Sprintf("name: fold\ndata: {train: %s, label: ill, drop: [day], categorical: one_hot, "+
			"preprocess: none}\nmodel: {kernel: {se: {ard: true}}, likelihood: probit, inference: laplace}\ntune: none\n",
			filepath.Join(dir, fmt.Sprintf("without%d.csv", k))))
		f, _, err := Fit(t.Context(), fold, filepath.Join(dir, "fold.json"), FitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c, err := restore(f, "fold")
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, c)
	}
	source := p.Studies[0].Job.Set.Source
	// the rows in the order of the held-out predictions: the cases of fold 0, then of fold 1
	var of [2][]int
	for i := range source.Rows {
		of[i/3%2] = append(of[i/3%2], i)
	}
	all := slices.Concat(of[0], of[1])
	folds := slices.Concat(make([]int, len(of[0])), slices.Repeat([]int{1}, len(of[1]))) // the groups of the file
	want, err := explain.Importances(data.PickRows(source.X, all), folds, models[0].inputs(), func(x *mat.Dense) (out []float64,
		err error) {
		for k, cases := range of {
			rows := make([]int, len(cases))
			for i := range rows {
				rows[i] = i + k*len(of[0])
			}
			held, err := models[k].predicted(data.PickRows(x, rows))
			if err != nil {
				return nil, err
			}
			for i, at := range cases {
				out = append(out, math.Log2(held.Proba.At(i, source.Labels[at])))
			}
		}
		return out, nil
	}, got.Repeats, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Inputs) != 3 || got.Cases != 120 {
		t.Fatalf("%d inputs, %d cases", len(got.Inputs), got.Cases)
	}
	for _, w := range want {
		k := slices.IndexFunc(got.Inputs, func(i record.Importance) bool { return i.Input == w.Input })
		if k < 0 || math.Abs(float64(got.Inputs[k].Bits-w.Bits)) > 1e-9 || math.Abs(float64(got.Inputs[k].Lo-w.Lo)) > 1e-9 {
			t.Errorf("%+v, want %+v", got.Inputs, w)
		}
	}
}

// A category and a date are one input each; what means nothing is not above noise, and the sentence
// and the page say what drives the answer.
func TestDriversNameTheColumnsOfTheFile(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "run")
	d := drivenRun(t, visits(t, dir, "evaluate: {kfold: {k: 4}}\nreport: {formats: [html]}\n"), folder, 2)
	var names []string
	for _, i := range d.Inputs {
		names = append(names, i.Input)
		if means := i.Input == "dose" || i.Input == "kind"; (i.Bits > i.Noise && i.Lo > 0) != means {
			t.Errorf("%+v", i)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"day", "dose", "kind", "noise"}) || d.Inputs[0].Input != "dose" {
		t.Errorf("%v", d.Inputs)
	}
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	rest := string(page)
	for _, part := range []string{`id="answer"`, "dose drives it most: shuffling it costs ", "; then kind (",
		"; not above noise: ", `id="drivers"`, "level of noise", "<nav", `id="results"`} {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("no %q in its place", part)
		}
		rest = after
	}
}

// A run has the same bytes with one worker, with two, and after a stop at any of some jobs; report
// writes them again without computing anything. Damage is an error that says what to do.
func TestDriversAreTheSameAfterAStop(t *testing.T) {
	dir := t.TempDir()
	const study = "tune: {restarts: 2}\nevaluate: {kfold: {k: 3}}\nreport: {formats: [html]}\n"
	p := visits(t, dir, study)
	files := func(name string) (all [][]byte) {
		for _, file := range []string{"importance.json", "results.json", "report.html"} {
			text, err := os.ReadFile(filepath.Join(dir, name, file))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return all
	}
	equal := func(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
	drivenRun(t, p, filepath.Join(dir, "one"), 1)
	want := files("one")
	drivenRun(t, visits(t, dir, study), filepath.Join(dir, "two"), 2)
	if !equal(files("two"), want) {
		t.Error("two workers have other bytes")
	}
	ctx, stop := context.WithCancel(t.Context())
	stopped := visits(t, dir, study)
	o := run.Options{}
	o.Workers = 1
	o.Drivers = func(context.Context, []record.Line, *reports.Report, reports.Answer) (*record.Drivers, error) {
		stop() // as a kill before the importances are written
		return nil, ctx.Err()
	}
	if _, _, err := run.Run(ctx, stopped, filepath.Join(dir, "three"), o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	drivenRun(t, visits(t, dir, study), filepath.Join(dir, "three"), 2)
	if !equal(files("three"), want) {
		t.Error("a resumed run has other bytes")
	}
	if err := os.Remove(filepath.Join(dir, "three", "report.html")); err != nil {
		t.Fatal(err)
	}
	folder, err := run.ReadFolder(filepath.Join(dir, "three"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := folder.Report()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Write(report, []string{"html"}); err != nil || !equal(files("three"), want) {
		t.Error("the report written again has other bytes", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "three", "importance.json"), []byte("[{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Report(); !errors.Is(err, run.ErrFolder) || !strings.Contains(err.Error(), "delete it") {
		t.Error(err)
	}
}

// Labels that are counts have no importances, and the page says so.
func TestDriversThatAreNotMeasured(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "counts.csv")
	text := "x,dead,n\n"
	for i := range 30 {
		text += fmt.Sprintf("%d,%d,5\n", i, i%6)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, "name: counts\ndata: {train: "+file+", counts: {successes: dead, trials: n}}\nmodel: {kernel: se, "+
		"likelihood: probit, inference: laplace}\ntune: none\nevaluate: {group_kfold: {k: 3}}\n")
	if d := drivenRun(t, p, filepath.Join(dir, "run"), 1); d.Inputs != nil || !strings.Contains(d.Missing, "counts") {
		t.Errorf("%+v", d)
	}
}

// Importances that cannot be written leave a run whose jobs are all on record, and the error says so.
func TestDriversThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "run")
	o := run.Options{Drivers: func(context.Context, []record.Line, *reports.Report, reports.Answer) (*record.Drivers, error) {
		return &record.Drivers{}, os.MkdirAll(filepath.Join(folder, "importance.json", "in the way"), 0o777)
	}}
	p := visits(t, dir, noTuning)
	if _, summary, err := run.Run(t.Context(), p, folder, o); !errors.Is(err, run.ErrUnreported) || summary.Done != summary.Total {
		t.Fatalf("%+v, %v", summary, err)
	}
	if err := os.RemoveAll(filepath.Join(folder, "importance.json")); err != nil {
		t.Fatal(err)
	}
	if d := drivenRun(t, p, folder, 1); len(d.Inputs) == 0 {
		t.Errorf("%+v", d)
	}
}

// Where the base rate is the best there are no drivers, because it has no inputs.
func TestTheBaseRateHasNoDrivers(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "noise.csv")
	rng := rand.New(rand.NewPCG(1, 2))
	text := "x,y\n"
	for i := range 60 {
		text += fmt.Sprintf("%.3f,%c\n", rng.NormFloat64(), "ab"[i%2])
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, "name: noise\nseed: 1\ndata: {train: "+file+", label: y}\nmodel: {kernel: {se: {amplitude: 9, length_scale: 0.1}}, "+
		"likelihood: probit, inference: [laplace, base_rate]}\ntune: none\nevaluate: {kfold: {k: 3}}\n")
	o := run.Options{}
	r, _, err := Run(t.Context(), p, filepath.Join(dir, "run"), o)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.Answer; a.Configuration != 1 || a.Drivers != nil {
		t.Errorf("#%d is the best, with the drivers %+v", a.Configuration, a.Drivers)
	}
}

// A regression whose noise grows with dose, while its mean is symmetric in it, is doubted for dose
// alone, with the share of targets in the intervals of the lowest and of the highest third.
func TestErrorsThatDependOnAnInputAreDoubted(t *testing.T) {
	for _, growth := range []float64{1, 6} {
		dir, rng, text := t.TempDir(), rand.New(rand.NewPCG(5, 5)), "dose,other,y\n"
		for range 150 {
			dose := rng.Float64()
			noise := math.Pow(growth, dose-0.5) * rng.NormFloat64()
			text += fmt.Sprintf("%.4f,%.4f,%.4f\n", dose, rng.Float64(), 20*(dose-0.5)*(dose-0.5)+noise)
		}
		if err := os.WriteFile(filepath.Join(dir, "doses.csv"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		p := plantest.Planned(t, "name: doses\ndata: {train: "+filepath.Join(dir, "doses.csv")+", label: y}\n"+
			"model: {kernel: se, likelihood: {gaussian: {noise: {init: 1}}}, inference: exact}\nevaluate: {kfold: {k: 3}}\n")
		r, _, err := Run(t.Context(), p, filepath.Join(dir, "run"), run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.Answer.Trust, func(t reports.Trust) bool { return t.Kind == cause.UnequalNoise })
		if growth == 1 {
			if at >= 0 || r.Answer.Drivers.Unequal != nil {
				t.Errorf("equal noise: %+v", r.Answer.Trust)
			}
			continue
		}
		u := r.Answer.Drivers.Unequal
		if u == nil || u.Input != "dose" || at < 0 {
			t.Fatalf("%+v, trust %+v", u, r.Answer.Trust)
		}
		low, high, rows := 0, 0, []int{}
		inside := map[int]bool{}
		for _, s := range r.Answer.Scored() {
			for i, row := range s.Predictions.Cases {
				rows = append(rows, row)
				inside[row] = math.Abs(s.Predictions.Targets[i]-s.Predictions.Mean[i]) < 1.96*math.Sqrt(s.Predictions.Variance[i])
			}
		}
		source := p.Studies[0].Job.Set.Source
		slices.SortFunc(rows, func(i, j int) int { return cmp.Compare(source.X.At(i, 0), source.X.At(j, 0)) })
		for i := range 50 {
			if inside[rows[i]] {
				low++
			}
			if inside[rows[100+i]] {
				high++
			}
		}
		want := fmt.Sprintf("depends on dose: predicted intervals of 95 %% hold %d %% of the targets where it is lowest "+
			"(a third of the cases), and %d %% where it is highest", 2*low, 2*high)
		if !strings.Contains(r.Answer.Trust[at].Text, want) || low <= high {
			t.Errorf("%s\nwant %s", r.Answer.Trust[at].Text, want)
		}
	}
}
