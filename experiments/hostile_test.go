package experiments

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/search"
)

// half trains on the first half of the cases and tests on the second, unless Spoil changes this.
type half struct {
	Spoil func(f *split.Fold, labels []int)
}

func (h half) Split(n int, labels []int, _ []string, _ uint64) ([]split.Fold, error) {
	var f split.Fold
	for i := range n {
		if i%2 == 0 {
			f.Train = append(f.Train, i)
		} else {
			f.Test = append(f.Test, i)
		}
	}
	h.Spoil(&f, labels)
	return []split.Fold{f}, nil
}

const base = `
data: {dataset: crabs}
model: {kernel: se, likelihood: probit, inference: laplace}
tune: {method: none}
`

// TestHostileSplitters: a splitter of another program that breaks its promises is a mistake at its
// place in the file, which names splitter and fold, wherever it is used.
func TestHostileSplitters(t *testing.T) {
	defer func() { split.Table = split.Table[:len(split.Table)-1] }()
	var now func(f *split.Fold, labels []int)
	split.Register("mine", "a hostile one", 1, half{Spoil: func(f *split.Fold, labels []int) { now(f, labels) }})
	calls := 0
	for want, spoil := range map[string]func(f *split.Fold, labels []int){
		"fold 0 has case 1 in both parts":           func(f *split.Fold, _ []int) { f.Train = append(f.Train, 1) },
		"fold 0 has case 200 in its test part":      func(f *split.Fold, _ []int) { f.Test[0] = 200 },
		"fold 0 has case -3 in its training part":   func(f *split.Fold, _ []int) { f.Train[0] = -3 },
		"fold 0 would have 0 training and 100 test": func(f *split.Fold, _ []int) { f.Train = nil },
		"fold 0 would have 100 training and 0 test": func(f *split.Fold, _ []int) { f.Test = nil },
		"fold 0 has case 1 twice in its test part":  func(f *split.Fold, _ []int) { f.Test[1] = 1 },
		"panic: index 7":                            func(*split.Fold, []int) { panic("index 7") },
		"gives other folds":                         nil,
		"fold 3 comes where repeat 0 fold 0 is due": func(f *split.Fold, _ []int) { f.Fold = 3 },
		"fold 0 would train without class": func(f *split.Fold, labels []int) {
			f.Train = slices.DeleteFunc(f.Train, func(i int) bool { return labels[i] == 0 })
		},
	} {
		if now = spoil; spoil == nil {
			want, now = "other folds the second time", func(f *split.Fold, _ []int) {
				if calls++; calls%2 == 0 {
					f.Test = f.Test[1:]
				}
			}
		}
		for text, place := range map[string]string{
			base + "evaluate: mine\n": "crabs.yaml:5:11",
			base + "evaluate: {nested: {outer: mine, score: log_evidence}}\n":                     "crabs.yaml:5:12",
			strings.Replace(base, "none", "random, objective: {cv: {score: brier, mine: {}}}", 1): "crabs.yaml:4:",
		} {
			_, err := Parse(t.Context(), "crabs.yaml", []byte(text))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "splitter mine") ||
				!strings.Contains(err.Error(), place) {
				t.Errorf("%s: %v, want %s and %q", text, err, place, want)
			}
		}
	}
}

// TestHostileScores: a score of another program that breaks its promises ends a run with an error
// that names it, and the fits stay on record.
func TestHostileScores(t *testing.T) {
	defer func(all []cv.Score) { cv.Scores = all }(cv.Scores)
	calls, now := 0., func(cv.Predictions) float64 { return 1 }
	cv.RegisterScore(cv.Score{Name: "mine", Doc: "a hostile one", Version: 1,
		Func: func(p cv.Predictions) (cv.Estimate, bool) {
			return cv.Estimate{Value: now(p), Lo: math.NaN(), Hi: math.NaN()}, true
		}})
	for i, c := range []struct {
		want string
		of   func(cv.Predictions) float64
	}{
		{"score mine: panic: no score", func(cv.Predictions) float64 { panic("no score") }},
		{"score mine: its value is NaN", func(cv.Predictions) float64 { return math.NaN() }},
		{"score mine: its value is -Inf", func(cv.Predictions) float64 { return math.Inf(-1) }},
		{"for the same predictions", func(cv.Predictions) float64 { calls++; return calls }},
		{"score mine: panic: runtime error: index out of range", func(p cv.Predictions) float64 { return p.Base[1000] }},
	} {
		for k, text := range []string{base + "evaluate: {kfold: {k: 2}}\n",
			base + "evaluate: {nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 2}}, score: mine}}\n"} {
			now = c.of
			plan, err := Parse(t.Context(), "crabs.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(t.TempDir(), fmt.Sprint(i, k))
			report, _, err := Run(t.Context(), plan, folder, Options{})
			if err == nil || report != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", text, err, c.want)
			}
			now = func(cv.Predictions) float64 { return 1 }
			if r, err := Report(folder); err != nil || k == 0 && r.Configurations[0].Scores.N != 200 {
				t.Errorf("%s: the mended score: %v", text, err)
			}
		}
	}
}

// broken is a kernel whose Spoil changes what it declares.
type broken struct {
	kernel.Kernel
	Spoil func(p *param.Spec)
}

func (k broken) Params(dim int) []param.Spec {
	p := k.Kernel.Params(dim)
	k.Spoil(&p[0])
	return p
}

// nowhere is a prior with an option that is not a number by default.
type nowhere struct {
	param.Prior
	Mean float64 `yaml:"mean"`
}

// odd is a splitter with options that a file cannot give.
type odd struct {
	split.KFold `yaml:",inline"`
	F           func()  `yaml:"f"`
	Share       float32 `yaml:"share"`
}

// late is a strategy that panics when it is asked a second time.
type late struct{ search.Strategy }

func (l late) Ask(s search.Space, done []record.Trial, seed uint64) []search.Proposal {
	if len(done) > 0 {
		panic("no second batch")
	}
	return l.Strategy.Ask(s, done, seed)
}

// TestHostileComponents: wrong declarations or actions of another program's components are errors
// of Parse or Run, not panics.
func TestHostileComponents(t *testing.T) {
	defer func(k registry.Table[kernel.Kernel], p registry.Table[param.Prior], s registry.Table[search.Strategy],
		v registry.Table[split.Splitter], f []page.Format) {
		kernel.Table, param.Priors, search.Table, split.Table, page.Formats = k, p, s, v, f
	}(kernel.Table, param.Priors, search.Table, split.Table, page.Formats)
	var spoil func(p *param.Spec)
	kernel.Register("broken", "it breaks", 1, broken{kernel.Table.Default("se"), func(p *param.Spec) { spoil(p) }})
	param.Register("nowhere", "at NaN", 1, nowhere{param.Priors.Default("half_normal"), math.NaN()})
	search.Register("late", "it panics", 1, late{search.Table.Default("nelder_mead")})
	split.Register("odd", "odd options", 1, odd{})
	page.Register(page.Format{Name: "blank", Doc: "it panics", File: "blank.txt",
		Render: func(io.Writer, *reports.Report) error { panic("no ink") }})
	none := func(*param.Spec) {}
	for _, c := range []struct {
		want, old, text string
		spoil           func(p *param.Spec)
	}{
		{"a.yaml:3:17: crabs: the start and the bounds of hyperparameter", "kernel: se", "kernel: broken",
			func(p *param.Spec) { p.Hi = math.Inf(1) }},
		{"must be finite numbers", "kernel: se", "kernel: broken", func(p *param.Spec) { p.Init = math.NaN() }},
		{"a.yaml: a component cannot be used: panic: no bounds", "kernel: se", "kernel: broken",
			func(*param.Spec) { panic("no bounds") }},
		{"the options of its prior, must be finite", "kernel: se", "kernel: {se: {amplitude: {prior: nowhere}}}", none},
		{"a.yaml:5:27: the component declares an option of type func(), which no file can give", "method: none}",
			"method: none}\nevaluate: {odd: {k: 2, f: 3}}", none},
		{"configuration 0: method late: panic: no second batch", "method: none", "method: late", none},
		{"format blank: panic: no ink", "method: none}", "method: none}\nreport: {formats: [blank]}", none},
		{"", "method: none}", "method: none}\nevaluate: {odd: {k: 2, share: 0.5}}", none},
	} {
		spoil = c.spoil
		plan, err := Parse(t.Context(), "a.yaml", []byte(strings.Replace(base, c.old, c.text, 1)))
		if err == nil {
			_, _, err = Run(t.Context(), plan, filepath.Join(t.TempDir(), "run"), Options{})
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
