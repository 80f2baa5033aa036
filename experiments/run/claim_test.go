package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// A folder of another plan is refused with a list of the differences, each once. A plan that only
// adds to the plan of the folder may extend it.
func TestWhatDiffersIsNamed(t *testing.T) {
	const (
		model   = crabs30 + "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\n"
		program = "program: {command: [sh, a.sh, '{x}'], hyperparameters: {x: {linear: {from: 0, to: 1}}}}\ntune: {method: random, trials: 2}\n"
		tuned   = crabs30 + "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: {restarts: 2}\n"
		prior   = "illustrate: {prior: {inputs: {from: 0, to: 1, points: 2}}}\nmodel: {kernel: se, likelihood: probit}\n"
	)
	for _, c := range []struct{ before, was, is, want string }{
		{model, "kernel: se", "kernel: [se, linear]", ""},
		{model, "kernel: se", "kernel: [linear, se]", ""},
		{model, "kernel: se", "kernel: [linear, matern32]", "model.kernel: se in the folder, linear here"},
		{model, "kernel: se", "kernel: se, mean: constant", "model.mean: zero in the folder, constant here"},
		{model, "likelihood: probit", "likelihood: logit", "model.likelihood: probit in the folder, logit here"},
		{model, "inference: laplace", "inference: ep",
			"model.inference: laplace in the folder, ep here; tune.inference: laplace in the folder, ep here"},
		{model, "{k: 2}}", "{k: 2}, training: {}}", ""},
		{prior, "kernel: se", "kernel: [se, linear]", ""},
		{prior, "kernel: se", "kernel: linear", "illustrate: prior, se, probit in the folder, others here"},
		{program, "trials: 2", "trials: 3", ""},
		{program, "a.sh, '{x}']", "b.sh, '{x}']", "program: sh a.sh '{x}' in the folder, sh b.sh '{x}' here"},
		{program, "a.sh, '{x}']", "'a b.sh', '{x}']", "program: sh a.sh '{x}' in the folder, sh 'a b.sh' '{x}' here"},
		{program, "a.sh, '{x}']", "a.sh, '{x}'], input: json", "program: sh a.sh '{x}' in the folder, sh a.sh '{x}', input: json here"},
		{program, "a.sh, '{x}']", "a.sh, '{x}'], field: loss", "program: sh a.sh '{x}' in the folder, sh a.sh '{x}', field: loss here"},
		{program, "a.sh, '{x}']", "a.sh, '{x}'], field: loss, minimize: true",
			"program: sh a.sh '{x}' in the folder, sh a.sh '{x}', field: loss, minimize: true here"},
		{tuned, "restarts: 2", "restarts: 2, standard_errors: true",
			"tune: {restarts: 2} in the folder, {restarts: 2, standard_errors: true} here"},
		{program, "to: 1}}", "to: 2}}", "program.hyperparameters: x from 0 to 1, first 0.5 in the folder, x from 0 to 2, first 1 here"},
	} {
		dir := t.TempDir()
		if _, err := LayOut(plantest.Planned(t, c.before), dir, LayOutOptions{Blocks: 1}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(c.before, c.was) {
			t.Fatalf("no %s", c.was)
		}
		p := plantest.Planned(t, strings.Replace(c.before, c.was, c.is, 1))
		_, err := LayOut(p, dir, LayOutOptions{})
		var extends *extension
		switch {
		case !errors.Is(err, ErrOtherConfiguration):
			t.Errorf("%s: error %v", c.is, err)
		case c.want == "":
			if !errors.As(err, &extends) {
				t.Errorf("%s: error %v", c.is, err)
			}
			if n, extends, err := Done(p, dir); n != 0 || !extends || err != nil {
				t.Errorf("%s: %d jobs done, extends is %v, error %v", c.is, n, extends, err)
			}
			if _, err := LayOut(p, dir, LayOutOptions{Extend: true}); err != nil {
				t.Errorf("%s, extended: %v", c.is, err)
			}
			if _, extends, err := Done(p, dir); extends || err != nil {
				t.Errorf("%s, extended: extends is %v, error %v", c.is, extends, err)
			}
		case errors.As(err, &extends) || !strings.Contains(err.Error(), "): "+c.want+"; choose another folder"):
			t.Errorf("%s: error %v, want %s", c.is, err, c.want)
		}
	}
}

// The message about a lost evaluation also names the evaluations of the configuration that has most
// in common with the old one.
func TestWhatIsMostAlike(t *testing.T) {
	study := func(evaluations ...string) (all []record.Study) {
		for _, e := range evaluations {
			all = append(all, record.Study{Evaluation: e})
		}
		return all
	}
	of := func(kernel, inference string, evaluations ...string) record.Configuration {
		return record.Configuration{Studies: study(evaluations...),
			Label: record.Label{Kernel: record.Plain(kernel), Inference: record.Plain(inference)}}
	}
	if got := others(of("se", "ep", "train", "kfold 1", "kfold 2", "test", "kfold 3")); got != "kfold, test" {
		t.Error(got)
	}
	all := []record.Configuration{of("linear", "laplace", "1"), of("se", "laplace", "2"), of("se", "ep", "3"), of("se", "ep", "4")}
	for want, other := range map[string]record.Configuration{"3": of("se", "ep"), "2": of("se", "pl"), "1": of("linear", "pl")} {
		if got := mostLike(all, other).Studies[0].Evaluation; got != want {
			t.Errorf("%+v: %s, want %s", other, got, want)
		}
	}
	const model = crabs30 + "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n"
	for _, c := range []struct{ was, is, want string }{
		{"evaluate: {kfold: {k: 2}}\n", "evaluate: training\n", "evaluate: kfold"},
		{"evaluate: {kfold: {k: 2}}\n", "evaluate: {kfold: {k: 3}}\n", "cases held out in repeat 0 fold 0 in the folder, other cases here"},
		{"seed: 1\n", "seed: 2\n", "seed: 1 in the folder, 2 here"},
		{"predict: {average: map}\n", "", "predict.average: map in the folder, averaged here"},
		{"", "predict: {average: map}\n", "predict.average: averaged in the folder, map here"},
	} {
		dir := t.TempDir()
		if _, err := LayOut(plantest.Planned(t, model+c.was), dir, LayOutOptions{Blocks: 1}); err != nil {
			t.Fatal(err)
		}
		_, err := LayOut(plantest.Planned(t, model+c.is), dir, LayOutOptions{})
		if !errors.Is(err, ErrOtherConfiguration) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q then %q: %v, want %s", c.was, c.is, err, c.want)
		}
	}
}

// Expected times are measured if every rate is; otherwise they are the nominal ones.
func TestEstimates(t *testing.T) {
	p := plantest.Planned(t, crabs30+"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\n")
	nominal, measured := estimate(p, plan.Nominal)
	if !measured || len(nominal) != len(p.Studies) || !(nominal[0].Later > 0) {
		t.Errorf("%+v, measured %v", nominal, measured)
	}
	unknown, measured := estimate(p, nil)
	if measured || !slices.Equal(unknown, nominal) {
		t.Errorf("%+v, measured %v", unknown, measured)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	unknown, measured = estimate(p, plan.Measured(stopped))
	if measured || !slices.Equal(unknown, nominal) {
		t.Errorf("not measured: %+v, measured %v", unknown, measured)
	}
}

// Workers need the files of the data and of a program, by absolute paths.
func TestFilesOfWorkers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	err := errors.Join(os.WriteFile("a.csv", []byte("x,y\n1,a\n2,b\n3,a\n4,b\n"), 0o666), os.WriteFile("a.sh", nil, 0o666))
	if err != nil {
		t.Fatal(err)
	}
	const model = "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n"
	for text, want := range map[string][]string{
		"data: {dataset: crabs}\n" + model:                              nil,
		"data: {train: a.csv, label: y}\n" + model:                      {"a.csv"},
		"data: [{train: a.csv}, {test: a.csv, train: a.csv}]\n" + model: {"a.csv", "a.csv", "a.csv"},
		"program: {command: [sh, a.sh, '{x}'], files: [a.sh], hyperparameters: {x: {linear: {from: 0, to: 1}}}}\n" +
			"tune: {method: random, trials: 2}\n": {"a.sh"},
	} {
		l, err := LayOut(plantest.Planned(t, text), t.TempDir(), LayOutOptions{Blocks: 1})
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			want[k] = filepath.Join(dir, want[k])
		}
		if got := l.Files(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Last waves that are together no more work than the largest block of the wave before them are
// left to the rest. The work is the same for any number of blocks.
func TestLastWavesAreLeftToTheRest(t *testing.T) {
	left, kept := 0, 0
	for name, text := range divided {
		p := plantest.Planned(t, crabs30+text)
		total := 0.0
		for blocks := 1; blocks <= 64; blocks *= 4 {
			l, err := LayOut(p, t.TempDir(), LayOutOptions{Blocks: blocks})
			if err != nil {
				t.Fatal(err)
			}
			w, err := l.Missing()
			if err != nil {
				t.Fatal(err)
			}
			all := w.Rest
			for k, wave := range w.Waves {
				all += wave.All
				if wave.Index != k || len(wave.Blocks) == 0 || wave.Longest > wave.Seconds || wave.Seconds > wave.All {
					t.Errorf("%s, %d blocks: wave %d is %+v", name, blocks, k, wave)
				}
			}
			last := w.Waves[len(w.Waves)-1]
			if w.Rest > last.Seconds {
				t.Errorf("%s, %d blocks: the rest takes %g, a block before it %g", name, blocks, w.Rest, last.Seconds)
			}
			if w.Rest > 0 {
				left++
			}
			if n := len(w.Waves); n > 1 {
				kept++
				if w.Rest+last.All <= w.Waves[n-2].Seconds {
					t.Errorf("%s, %d blocks: wave %d takes %g, a block before it %g", name, blocks, n-1, last.All,
						w.Waves[n-2].Seconds)
				}
			}
			if total == 0 {
				total = all
			}
			if math.Abs(all-total) > 1e-9*total {
				t.Errorf("%s: %d blocks take %g, one %g", name, blocks, all, total)
			}
		}
	}
	if left == 0 || kept == 0 {
		t.Errorf("of all divisions %d leave waves to the rest, %d keep several", left, kept)
	}
}

// Jobs get the free memory, or the limit. A process that runs only them adjusts garbage collection
// to their needs, unless GOGC is set. Afterwards it has its previous settings again.
func TestGovern(t *testing.T) {
	settings := func() (percent int, limit int64) {
		percent = debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
		return percent, debug.SetMemoryLimit(-1)
	}
	for _, c := range []struct {
		name    string
		memory  int64 // memory of a job
		process bool
		gogc    string
		own     int // percentage before
		want    int // during the run
	}{
		{"a part of a program", 1 << 30, false, "", 100, 100},
		{"large jobs", leeway, true, "", 100, machine.Slack},
		{"large jobs, GOGC by the program", leeway, true, "", 0, machine.Slack},
		{"large jobs, garbage never collected before", leeway, true, "", -1, machine.Slack},
		{"small jobs", leeway - 1, true, "", 100, 100},
		{"GOGC by the user", 1 << 30, true, "100", 100, 100},
	} {
		if t.Setenv("GOGC", c.gogc); c.gogc == "" {
			os.Unsetenv("GOGC")
		}
		was := debug.SetGCPercent(c.own)
		_, limit := settings()
		p := &plan.Plan{Studies: []plan.Study{{}, {}}}
		p.Studies[0].Memory = c.memory
		o := Options{Process: c.process, Options: schedule.Options{MemoryLimit: 1 << 30}}
		undo := Govern(p, &o)
		percent, during := settings()
		if percent != c.want || (during < limit) != c.process || during < 1<<30 || o.MemoryLimit != 1<<30 || o.Threads == nil {
			t.Errorf("%s: GC at %d %%, limit %d, before %d; %+v", c.name, percent, during, limit, o)
		}
		undo()
		if percent, after := settings(); percent != c.own || after != limit {
			t.Errorf("%s: GC is left at %d %%, the limit at %d, before %d", c.name, percent, after, limit)
		}
		debug.SetGCPercent(was)
	}
	o := Options{}
	Govern(&plan.Plan{}, &o)
	if free, known := machine.Available(); known && o.MemoryLimit <= 0 {
		t.Errorf("a limit of %d with %d free", o.MemoryLimit, free)
	}
}

// A study of more than half a block whose trials are known beforehand is divided into them, unless
// there is one block only.
func TestLargeStudiesAreDivided(t *testing.T) {
	p := plantest.Planned(t, crabs30+divided["grid"])
	divisible := func(i int) bool { return p.Studies[i].RunsTrialsOf == i && p.Studies[i].First > 1 }
	estimates := make([]Estimate, len(p.Studies))
	large := slices.IndexFunc(p.Studies, func(s plan.Study) bool { return divisible(s.RunsTrialsOf) })
	for i := range estimates {
		estimates[i] = Estimate{Trials: 1, Later: 1}
	}
	for _, c := range []struct {
		blocks  int
		share   float64 // fraction of the large study, in blocks
		divided bool
	}{{1, 0.9, false}, {2, 0.49, false}, {2, 0.51, true}, {9, 4, true}} {
		others := 2 * float64(len(estimates)-1)
		all := others / (1 - c.share/float64(c.blocks))
		estimates[large] = Estimate{Trials: all - others - 1, Later: 1}
		d := divide(p, estimates, c.blocks)
		first := d.first[large]
		if (first != nil) != c.divided || c.divided && len(first) != p.Studies[large].First {
			t.Errorf("%+v: divided into %d of %d trials", c, len(first), p.Studies[large].First)
		}
		for _, k := range first {
			if got, want := d.units[k].seconds, (all-others-1)/float64(len(first)); math.Abs(got-want) > 1e-12*all {
				t.Errorf("%+v: a trial takes %g, want %g", c, got, want)
			}
		}
	}
}

// A finished run is reported again without --resume, also where a configuration was dropped; taken
// back, its jobs are missing. A folder that another build began is continued with a warning.
func TestDroppedConfigurationsAreNotMissing(t *testing.T) {
	p := plantest.Planned(t, crabs30+"model: {kernel: [se, linear], likelihood: probit, inference: laplace}\ntune: none\n")
	dir := t.TempDir()
	m := p.Manifest
	m.Build.Go = "go1.0"
	if err := journal.WriteManifest(dir, m, ""); err != nil {
		t.Fatal(err)
	}
	order := func(verb string) {
		t.Helper()
		command := journal.Command{Verb: verb, Key: p.Manifest.Configurations[1].Studies[0].Key}
		if err := journal.AppendCommand(dir, command); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	o := Options{Warn: func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }}
	order("drop")
	for k, done := range []int{1, 0} {
		report, summary, err := Run(t.Context(), p, dir, o)
		if err != nil || summary.Done != done || report.Missing > 0 || !slices.Equal(report.Manifest.Dropped, []int{1}) {
			t.Fatalf("run %d: %+v, error %v", k, summary, err)
		}
		if report.Manifest.Build.Go != "go1.0" { // as in a report of the folder
			t.Errorf("run %d: the report is of the build %v", k, report.Manifest.Build)
		}
	}
	if folder, err := ReadFolder(dir); err != nil || !slices.Equal(folder.Manifest.Dropped, []int{1}) {
		t.Errorf("the folder: %+v, error %v", folder, err)
	}
	if len(told) != 2 || !strings.Contains(told[0], "was started by another build (") || !strings.Contains(told[0], "go1.0") {
		t.Errorf("it says %q", told)
	}
	order("resume")
	if _, _, err := Run(t.Context(), p, dir, o); !errors.Is(err, ErrUnfinished) {
		t.Errorf("taken back: error %v", err)
	}
	o.Resume = true
	if report, summary, err := Run(t.Context(), p, dir, o); err != nil || summary.Done != 1 || len(report.Manifest.Dropped) > 0 {
		t.Errorf("continued: %+v, error %v", summary, err)
	}
}

// A report names each file that it has written once: the files of its formats and the files that
// are always written.
func TestReportNamesItsFiles(t *testing.T) {
	p := plantest.Planned(t, crabs30+"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\nevaluate: {training: {}}\n")
	dir := t.TempDir()
	if _, _, err := Run(t.Context(), p, dir, quiet(t)); err != nil {
		t.Fatal(err)
	}
	folder, err := ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	report, err := folder.Report()
	if err != nil {
		t.Fatal(err)
	}
	files, err := folder.Write(report, []string{"html", "svg"})
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(files)))
	if len(sorted) != len(files) {
		t.Errorf("some are named twice: %q", files)
	}
	figures := 0
	for _, name := range files {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
		if filepath.Dir(name) == filepath.Join(dir, "figures") {
			figures++
		}
	}
	for _, name := range []string{"results.json", "results.csv", "timings.json", "report.html"} {
		if !slices.Contains(files, filepath.Join(dir, name)) {
			t.Errorf("%s is not named: %q", name, files)
		}
	}
	if drawn, _ := filepath.Glob(filepath.Join(dir, "figures", "*.svg")); figures == 0 || len(drawn) != figures {
		t.Errorf("%d figures are named, %d drawn", figures, len(drawn))
	}
	// A list of figures that cannot be written is an error: a later report could not delete them.
	list := filepath.Join(dir, "figures", ownName)
	if err := errors.Join(os.Remove(list), os.Mkdir(list, 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Write(report, []string{"svg"}); err == nil {
		t.Error("a list that cannot be written is no error")
	}
}

// small is an experiment of one fit.
const small = crabs30 + "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n"

// A damaged manifest is written again when the run is resumed, and the damaged one is kept too. It
// is not written if the journal belongs to another experiment.
func TestDamagedManifests(t *testing.T) {
	p := plantest.Planned(t, small)
	other := plantest.Planned(t, strings.Replace(small, "kernel: se", "kernel: linear", 1))
	for name, before := range map[string]*plan.Plan{"no journal": nil, "its journal": p, "another journal": other} {
		dir := t.TempDir()
		if before != nil {
			if _, _, err := Run(t.Context(), before, dir, quiet(t)); err != nil {
				t.Fatal(err)
			}
		}
		const damaged = "no manifest"
		if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Begin(p, dir, p.Search(), quiet(t)); !errors.Is(err, ErrFolder) ||
			!strings.Contains(err.Error(), "--resume") {
			t.Errorf("%s: error %v", name, err)
		}
		var told []string
		o := Options{Resume: true, Warn: func(format string, args ...any) {
			told = append(told, fmt.Sprintf(format, args...))
		}}
		_, err := Begin(p, dir, p.Search(), o)
		if before == other {
			if err == nil || !strings.Contains(err.Error(), "the journal does not match this file either") {
				t.Errorf("%s: error %v", name, err)
			}
			continue
		}
		if err != nil || len(told) != 1 || !strings.Contains(told[0], "it was written again") {
			t.Fatalf("%s: error %v, told %q", name, err, told)
		}
		m, err := journal.ReadManifest(dir)
		if kept := plantest.ReadAll(t, dir, "manifest-damaged.json"); err != nil || m.Key != p.Manifest.Key ||
			kept != damaged {
			t.Errorf("%s: error %v, key %q, kept %q", name, err, m.Key, kept)
		}
	}
}

// Damaged lines of a journal are a problem while jobs are missing, and none after the run.
func TestDamagedLines(t *testing.T) {
	p := plantest.Planned(t, small)
	for _, finished := range []bool{false, true} {
		dir := t.TempDir()
		if finished {
			if _, _, err := Run(t.Context(), p, dir, quiet(t)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "journal"), 0o777),
			os.WriteFile(filepath.Join(dir, "journal", "a.jsonl"), []byte("no line\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
		var told []string
		o := Options{Resume: true, Warn: func(format string, args ...any) {
			told = append(told, fmt.Sprintf(format, args...))
		}}
		if _, err := Begin(p, dir, p.Search(), o); err != nil {
			t.Fatal(err)
		}
		if finished != (len(told) == 0) || !finished &&
			!strings.HasPrefix(told[0], "1 line(s) of the journal are incomplete or damaged") {
			t.Errorf("finished %v: told %q", finished, told)
		}
	}
}

// A journal that cannot be read is an error of the count of recorded jobs.
func TestUnreadableJournal(t *testing.T) {
	p, dir := plantest.Planned(t, small), t.TempDir()
	if _, _, err := Run(t.Context(), p, dir, quiet(t)); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "journal")
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	if n, extends, err := Done(p, dir); n != 0 || extends || err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("%d recorded, extends %v, error %v", n, extends, err)
	}
}

// With Retry failed jobs run again, and a message says how many. A new folder has no records.
func TestFailedJobsRunAgain(t *testing.T) {
	p := plantest.Planned(t, small)
	for name, again := range map[string]func(dir string, retry bool, warn func(string, ...any)) error{
		"run": func(dir string, retry bool, warn func(string, ...any)) error {
			_, err := Begin(p, dir, p.Search(), Options{Resume: true, Retry: retry, Warn: warn})
			return err
		},
		"submit": func(dir string, retry bool, warn func(string, ...any)) error {
			_, err := LayOut(p, dir, LayOutOptions{Blocks: 1, Retry: retry, Warn: warn})
			return err
		},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		if n, extends, err := Done(p, dir); n != 0 || extends || err != nil {
			t.Errorf("a new folder: %d jobs are done, extends is %v, error %v", n, extends, err)
		}
		recorded := func(want int) {
			t.Helper()
			if f, err := ReadFolder(dir); err != nil || len(f.Lines) != want {
				t.Errorf("%s: %+v, error %v, want %d jobs", name, f, err, want)
			}
		}
		j, err := Begin(p, dir, p.Search(), quiet(t))
		if err == nil {
			err = j.Append(failed(p))
		}
		if err == nil {
			err = j.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		recorded(1)
		var told []string
		warn := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
		if err := again(dir, false, warn); err != nil || len(told) > 0 {
			t.Errorf("%s: error %v, told %q", name, err, told)
		}
		recorded(1)
		if err := again(dir, true, warn); err != nil ||
			!slices.Equal(told, []string{"failed jobs that are run again: 1"}) {
			t.Errorf("%s again: error %v, told %q", name, err, told)
		}
		recorded(0)
	}
}

// failed is the line of a journal that the fit of the experiment small has failed.
func failed(p *plan.Plan) record.Line {
	f := &record.Fit{Chosen: -1, Natural: []record.Number{1, 1}, TrainCounts: []int{15, 15},
		Failure: cause.Failure.New("lost")}
	return record.Line{Plan: p.Manifest.Key, Key: p.Manifest.Configurations[0].Studies[0].Key, Fit: f}
}

// Results that cannot be written are an error that says that all jobs are done.
func TestResultsThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "results.json", "a"), 0o777); err != nil {
		t.Fatal(err)
	}
	report, summary, err := Run(t.Context(), plantest.Planned(t, small), dir, quiet(t))
	if !errors.Is(err, ErrUnreported) || report == nil || summary.Done != 1 {
		t.Errorf("error %v, %+v", err, summary)
	}
}
