package predict

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// The message of fit about its configuration counts the configurations with a value, names equal
// ones, and shows a score with its own sign.
func TestWinnerAmong(t *testing.T) {
	for _, test := range []struct {
		objective           string
		value               float64
		fitted, all, equals int
		want                string
	}{
		{"log_evidence", -102.25, 2, 2, 1, "log_evidence of -102.25 is the largest of 2"},
		{"log_evidence", -102.25, 2, 3, 1, "log_evidence of -102.25 is the largest of 2, without the 1 that have failed"},
		{"cv_error_rate", -0.0625, 4, 4, 2, "cv_error_rate of 0.0625 is the smallest of 4; 2 are equal, and this is the first of them in the file"},
		{"cv_information_bits", 0.5, 4, 4, 1, "cv_information_bits of 0.5 is the largest of 4"},
	} {
		if got := (winner{value: record.Number(test.value)}).among(test.objective, test.fitted, test.all, test.equals); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// scoredReport is a report of configurations with these values of a score; classes is 0 for numeric
// targets.
func scoredReport(classes int, score string, values ...float64) *reports.Report {
	r := &reports.Report{}
	for _, v := range values {
		e := reports.Evaluation{Name: "kfold", Scores: reports.Scores{N: 10, Results: []cv.Result{{Score: cv.Score{Name: score}, Estimate: cv.Estimate{Value: v}}}}}
		r.Configurations = append(r.Configurations, reports.Configuration{Classes: make([]string, classes), Evaluations: []reports.Evaluation{e}})
	}
	return r
}

// The best configuration is the winner of the race or of most outer folds. Otherwise it is the
// first one with the best score, among configurations with a value for all held-out cases.
func TestBestOfAStudy(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		r    *reports.Report
		by   string
		best int
		why  string
	}{
		{scoredReport(2, "information_bits", 0.25, 0.5, 0.5), "", 1, "its information_bits of 0.5 (kfold) is the largest of 3; 2 are equal, and this is the first of them in the file"},
		{scoredReport(2, "information_bits", nan, -0.5, -0.75), "", 1, "its information_bits of -0.5 (kfold) is the largest of 2, without the 1 that have failed"},
		{scoredReport(2, "error_rate", 0.25, 0.125), "error_rate", 1, "its error_rate of 0.125 (kfold) is the smallest of 2"},
		{scoredReport(2, "mean_loss", 4, 3, 5), "mean_loss", 1, "its mean_loss of 3 (kfold) is the smallest of 3"},
		{scoredReport(0, "standardized_log_loss", -1, -2), "", 1, "its standardized_log_loss of -2 (kfold) is the smallest of 2"},
		{scoredReport(2, "auc", 0.75, 0.5), "auc", 0, "its auc of 0.75 (kfold) is the largest of 2"},
	} {
		best, why, err := studied(c.r, c.by)
		if err != nil || best != c.best || why != c.why {
			t.Errorf("%s: %d, %s, %v; want %d, %s", c.by, best, why, err, c.best, c.why)
		}
	}
	r := scoredReport(2, "auc", 0.75, 0.5)
	r.Configurations[0].Evaluations[0].Scores.Partial = &reports.Partial{}
	if best, _, err := studied(r, "auc"); best != 1 || err != nil {
		t.Errorf("a part of the folds: %d, %v", best, err)
	}
	r.Configurations[1].Evaluations[0].Scores.Partial = &reports.Partial{}
	if _, _, err := studied(r, "auc"); !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), "no configuration has auc for all") {
		t.Error(err)
	}
	r = scoredReport(2, "information_bits", 0.25, 0.5, 0.75)
	zero, one, two := 0, 1, 2
	r.Nested = []reports.Nested{{Score: "auc", OuterFolds: []reports.OuterFold{{Winner: &two}, {Winner: nil}, {Winner: &one}, {Winner: &one}, {Winner: &two}}}}
	if best, why, err := studied(r, ""); best != 1 || why != "it won 2 of 5 outer folds of nested cross-validation by auc" || err != nil {
		t.Errorf("nested: %d, %s, %v", best, why, err)
	}
	if best, _, err := studied(r, "information_bits"); best != 2 || err != nil {
		t.Errorf("a score that was asked for: %d, %v", best, err)
	}
	r.Races = []reports.Race{{Winner: nil}, {Winner: &zero, Evaluation: "kfold", Score: "brier"}}
	if best, why, err := studied(r, ""); best != 0 || why != "it won the race over kfold by brier" || err != nil {
		t.Errorf("race: %d, %s, %v", best, why, err)
	}
	r.Races, r.Nested = r.Races[:1], []reports.Nested{{OuterFolds: []reports.OuterFold{{}}}}
	if best, _, err := studied(r, ""); best != 2 || err != nil {
		t.Errorf("nobody has won: %d, %v", best, err)
	}
}

// Configurations are compared by held-out cases where there are any, else by an objective that they
// have in common.
func TestHowConfigurationsAreCompared(t *testing.T) {
	const data, both = "data: {dataset: crabs, subsample: 30}\n", "model: {kernel: [se, linear], likelihood: probit, inference: laplace}\n"
	for _, c := range []struct {
		text, by    string
		studied     bool
		byObjective bool
		want        string // text of the error
	}{
		{both + "tune: none\n", "", true, true, ""}, {both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "", true, false, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "", false, true, ""}, {both + "tune: none\nevaluate: training\n", "", true, true, ""},
		{both + "tune: none\nevaluate: leave_one_out\n", "", true, false, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "log_evidence", true, true, ""}, {both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "auc", false, false, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "mean_loss", false, false, ""},
		{both + "tune: none\nevaluate: {kfold: {k: 2}}\n", "ac", false, false, `--by: unknown score "ac"`},
		{both + "tune: none\n", "auc", true, false, "--by auc needs held-out cases"},
		{both + "tune: {method: nelder_mead, objective: {cv: {score: auc}}}\n", "cv_auc", true, true, ""},
		{"model: {kernel: se, likelihood: probit, inference: [laplace, base_rate]}\ntune: none\n", "", true, false, "is a comparator, which has no objective in common"},
		{"model: {kernel: se, likelihood: probit, inference: [laplace, base_rate]}\ntune: none\nevaluate: {kfold: {k: 2}}\n", "", false, false, ""},
		{"model: {kernel: se, likelihood: probit, inference: [laplace, base_rate]}\ntune: none\n", "log_evidence", true, false, "--by log_evidence: configuration 1"},
		{both + "tune: [{method: bfgs}, {method: nelder_mead, objective: {cv: {score: auc}}}]\n", "", true, false, "configurations 0 (crabs, se, probit, laplace) and 2"},
	} {
		got, err := byObjective(plantest.Planned(t, data+c.text), c.by, c.studied)
		if got != c.byObjective || c.want == "" && err != nil || c.want != "" && (!errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s by %q, studied %v: %v, %v; want %v, %s", c.text, c.by, c.studied, got, err, c.byObjective, c.want)
		}
	}
}

// A folder is finished if all jobs of this very plan are on record; then fit needs no --resume.
func TestFinishedRuns(t *testing.T) {
	const text = "data: {dataset: crabs, subsample: 30}\n" +
		"model: {kernel: [se, linear], likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\n"
	p, dir := plantest.Planned(t, text), filepath.Join(t.TempDir(), "run")
	longer := plantest.Planned(t, strings.Replace(text, "linear]", "linear, matern32]", 1))
	if Finished(p, "") || Finished(p, dir) {
		t.Error("no folder is finished")
	}
	if _, _, err := run.Run(t.Context(), p, dir, run.Options{}); err != nil {
		t.Fatal(err)
	}
	if !Finished(p, dir) || Finished(longer, dir) {
		t.Errorf("finished: %v, with another configuration %v", Finished(p, dir), Finished(longer, dir))
	}
	f, s, err := Fit(t.Context(), p, filepath.Join(t.TempDir(), "m.json"), FitOptions{Dir: dir})
	if err != nil || f == nil || s.Done > 0 {
		t.Errorf("fit after a run: %+v, error %v", s, err)
	}

	folder, err := run.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		studies *int
		all     bool
		with    func(f *record.Fit) bool
		done    bool
	}{
		{nil, true, func(*record.Fit) bool { return true }, true},
		{nil, true, func(f *record.Fit) bool { return f.Study == 0 }, false},
		{nil, false, func(f *record.Fit) bool { return f.Study == 0 }, true},
		{nil, false, func(f *record.Fit) bool { return f.Study > 0 }, false},
		{nil, false, func(f *record.Fit) bool { return f.Configuration == 0 }, false},
		{new(0), false, func(f *record.Fit) bool { return f.Configuration == 0 }, true},
		{new(0), false, func(f *record.Fit) bool { return f.Configuration == 1 }, false},
	} {
		studies, _, err := candidates(p, c.studies)
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(slices.Clone(folder.Lines), func(l record.Line) bool { return !c.with(l.Fit) })
		if err := unfinished(p, dir, studies, c.all, lines); (err == nil) != c.done ||
			!c.done && !errors.Is(err, run.ErrUnfinished) {
			t.Errorf("%d studies, all %v, %d lines: error %v", len(studies), c.all, len(lines), err)
		}
	}
}

// The best configuration by held-out cases is kept, even if others have no log evidence.
func TestFitKeepsTheBestByItsScore(t *testing.T) {
	p := plantest.Planned(t, "data: {dataset: crabs, subsample: 30, preprocess: standardize}\n"+
		"model: {kernel: linear, likelihood: probit, inference: [base_rate, laplace]}\n"+
		"tune: none\nevaluate: {kfold: {k: 2}}\n")
	f, _, err := Fit(t.Context(), p, filepath.Join(t.TempDir(), "m.json"), FitOptions{})
	if err != nil || f.Model.Inference != "laplace" {
		t.Errorf("%+v, error %v", f, err)
	}
}

// Of failed jobs those run again that fit needs: of the fits to all data, or with a score of
// held-out cases all.
func TestFitRunsFailedJobsAgain(t *testing.T) {
	p := plantest.Planned(t, "data: {dataset: crabs, subsample: 30}\n"+
		"model: {kernel: [se, linear], likelihood: probit, inference: laplace}\n"+
		"tune: none\nevaluate: {kfold: {k: 2}}\n")
	dir := t.TempDir()
	o := FitOptions{Dir: dir, Options: run.Options{Resume: true}}
	j, err := run.Begin(p, dir, p.Search(), o.Options)
	if err != nil {
		t.Fatal(err)
	}
	failed := record.Fit{Study: 1, Chosen: -1, Natural: []record.Number{1, 1}, TrainCounts: []int{7, 8},
		Failure: cause.Failure.New("lost")}
	line := record.Line{Plan: p.Manifest.Key, Key: p.Manifest.Configurations[0].Studies[1].Key, Fit: &failed}
	if err := errors.Join(j.Append(line), j.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ by, want string }{{"log_evidence", "0"}, {"error_rate", "1"}} {
		told := ""
		o.By, o.Retry = c.by, true
		o.Warn = func(format string, args ...any) { told += fmt.Sprintf(format, args...) + "\n" }
		if _, _, err := Fit(t.Context(), p, filepath.Join(t.TempDir(), "m.json"), o); err != nil ||
			!strings.Contains(told, "failed jobs that are run again: "+c.want+"\n") {
			t.Errorf("%s: told %s, error %v", c.by, told, err)
		}
	}
}

// Where the model file cannot be written in the end, the jobs are done: they are on record if there
// is a run folder.
func TestModelFilesThatCannotBeWritten(t *testing.T) {
	p := plantest.Planned(t, "data: {dataset: crabs, subsample: 30}\n"+
		"model: {kernel: [se, linear], likelihood: probit, inference: laplace}\ntune: none\n")
	for _, dir := range []string{"", t.TempDir()} {
		gone := filepath.Join(t.TempDir(), "gone")
		if err := os.Mkdir(gone, 0o777); err != nil {
			t.Fatal(err)
		}
		o := FitOptions{Dir: dir, Options: run.Options{Warn: func(format string, _ ...any) {
			if strings.Contains(format, "is selected") { // when only the file is left to write
				os.RemoveAll(gone)
			}
		}}}
		if _, _, err := Fit(t.Context(), p, filepath.Join(gone, "m.json"), o); err == nil ||
			errors.Is(err, run.ErrUnreported) != (dir != "") {
			t.Errorf("with the folder %q: error %v", dir, err)
		}
	}
}

// A fit has its own warnings and the warnings of the trial that it starts from.
func TestWarningsOfAFit(t *testing.T) {
	trial := func(index int, value record.Number, warning string) record.Line {
		at := record.Point{Theta: []record.Number{1}, Value: value}
		return record.Line{Trial: &record.Trial{Index: index, Points: []record.Point{at},
			Warnings: []cause.Notice{{Text: warning}}}}
	}
	fit := &record.Fit{Converged: true, Warnings: []cause.Notice{{Text: "of the fit"}}}
	w := outcomeOf(schedule.Study{}, []record.Line{trial(0, 1, "of the first"), trial(1, 2, "of the second"), {Fit: fit}})
	if got := cause.Texts(w.warnings); w.chosen != 1 || !slices.Equal(got, []string{"of the fit", "of the second"}) {
		t.Errorf("trial %d with %q", w.chosen, got)
	}
}
