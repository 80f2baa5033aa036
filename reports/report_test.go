package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// If the parts of a fit recorded for figures are inconsistent, Build returns an error that names
// the fault.
func TestShownErrors(t *testing.T) {
	good := reporttest.ShownFit
	try := func(f record.Fit) error {
		_, err := reports.Build(reporttest.ShownManifest, []record.Line{{Key: "k", Fit: &f}})
		return err
	}
	if err := try(good()); err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		damage func(f *record.Fit)
		want   string
	}{
		"map":                 {func(f *record.Fit) { f.MAP = append(f.MAP, 1) }, "2 probabilities at the latent means, want one for each of 1 held-out cases"},
		"labels":              {func(f *record.Fit) { f.TrainLabels = f.TrainLabels[1:] }, "2 labels of 3 training cases"},
		"an unknown label":    {func(f *record.Fit) { f.TrainLabels[0] = 2 }, "each to be one of 2 classes"},
		"latent means":        {func(f *record.Fit) { f.TrainLatentMean[0] = f.TrainLatentMean[0][1:] }, "at 3 labelled training cases"},
		"latent processes":    {func(f *record.Fit) { f.TrainLatentMean = slices.Repeat(f.TrainLatentMean, 3) }, "latent means of 3 processes"},
		"three inputs":        {func(f *record.Fit) { f.Surface.Axes = slices.Repeat(f.Surface.Axes, 3) }, "over 3 inputs it has 8 points"},
		"a descending axis":   {func(f *record.Fit) { f.Surface.Axes[0][0] = 2 }, "do not fit together"},
		"an axis of NaN":      {func(f *record.Fit) { f.Surface.Axes[0][0] = record.Number(math.NaN()) }, "do not fit together"},
		"an axis of one":      {func(f *record.Fit) { f.Surface.Axes[0] = f.Surface.Axes[0][1:] }, "over 1 inputs it has 1 points"},
		"names":               {func(f *record.Fit) { f.Surface.Names = nil }, "do not fit together"},
		"inputs":              {func(f *record.Fit) { f.Surface.Inputs[0] = nil }, "3 training cases"},
		"no inputs":           {func(f *record.Fit) { f.Surface.Inputs = nil }, "do not fit together"},
		"labels of inputs":    {func(f *record.Fit) { f.TrainLabels, f.TrainLatentMean = nil, nil }, "do not fit together"},
		"targets":             {func(f *record.Fit) { f.Surface.Targets = []record.Number{1, 2, 3} }, "do not fit together"},
		"probabilities":       {func(f *record.Fit) { f.Surface.Proba[0] = f.Surface.Proba[0][1:] }, "do not fit together"},
		"of both classes":     {func(f *record.Fit) { f.Surface.Proba = slices.Repeat(f.Surface.Proba, 2) }, "do not fit together"},
		"means":               {func(f *record.Fit) { f.Surface.Mean = f.Surface.Proba[0] }, "do not fit together"},
		"no latent variances": {func(f *record.Fit) { f.Surface.LatentVariance = nil }, "do not fit together"},
	} {
		f := good()
		test.damage(&f)
		if err := try(f); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", what, err, test.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		what string
		do   func(m *record.Manifest, lines []record.Line) []record.Line
		want string
	}{
		{"a configuration too many", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Configuration = 4; return l }, `job "a0": it is of configuration 4; the manifest has 4`},
		{"a negative configuration", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Configuration = -1; return l }, "configuration -1"},
		{"a study too many", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Study = 1; return l }, "study 1 of configuration 0, which has 1"},
		{"a negative index", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Index = -1; return l }, "the index is out of range"},
		{"an index that overflows", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Index = math.MaxInt; return l }, "the index is out of range"},
		{"a winner that overflows", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Chosen = math.MaxInt; return l }, "out of range"},
		{"an empty line", func(m *record.Manifest, l []record.Line) []record.Line { return append(l, record.Line{Key: "x"}) }, `(job "x") must have a trial or a fit`},
		{"a trial and a fit", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Fit = l[4].Fit; return l }, "and not both"},
		{"two results of a job", func(m *record.Manifest, l []record.Line) []record.Line {
			fit := *l[4].Fit
			fit.LogEvidence++
			return append(l, record.Line{Key: "af", Fit: &fit})
		}, "fit of study 0 of configuration 0 has two different results"},
		{"two keys of a job", func(m *record.Manifest, l []record.Line) []record.Line {
			return append(l, record.Line{Key: "other", Fit: l[4].Fit})
		}, `of jobs "af" and "other"`},
		{"one key of two jobs", func(m *record.Manifest, l []record.Line) []record.Line { l[1].Key = "a0"; return l }, `job "a0" is both the trial 0`},
		{"a short start", func(m *record.Manifest, l []record.Line) []record.Line {
			l[0].Trial.Start = []record.Number{1}
			return l
		}, "the start has 1 hyperparameters, want 3"},
		{"a short step", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Path[1].Theta = nil; return l }, "step 1 has 0 free hyperparameters, want 2"},
		{"a short point", func(m *record.Manifest, l []record.Line) []record.Line { l[0].Trial.Points[0].Theta = nil; return l }, "point 0 has 3 hyperparameters, 0 of them free; want 3 and 2"},
		{"a short question", func(m *record.Manifest, l []record.Line) []record.Line {
			l[0].Trial.Asked = [][]record.Number{{1}}
			return l
		}, "asked for 1 free hyperparameters, want 2"},
		{"a short winner", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Natural = nil; return l }, "0 hyperparameters, want 3"},
		{"a case too few", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.Labels = l[4].Fit.Labels[1:]
			return l
		}, "4 held-out cases with 3 labels and 4 predictions; the study holds out 4"},
		{"a latent value too few", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.LatentMean = [][]record.Number{{1, 2, 3}}
			return l
		}, "of 1 and 1 processes, one with 3 cases"},
		{"a confidence too few", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.Confidence = []record.Number{1, 2, 3}
			return l
		}, "the confidence of 3 cases; 4 are held out"},
		{"other cases than planned", func(m *record.Manifest, l []record.Line) []record.Line {
			m.Configurations[0].Studies[0].Test = 5
			return l
		}, "holds out 5"},
		{"counts of one class", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.TrainCounts = []int{6}; return l }, "training counts of 1 classes, want 2"},
		{"probabilities of one class", func(m *record.Manifest, l []record.Line) []record.Line {
			l[4].Fit.Proba[1] = l[4].Fit.Proba[1][:1]
			return l
		}, "case 1 has probabilities of 1 classes, want 2"},
		{"a label too large", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Labels[0] = 2; return l }, "case 0 is of class 2"},
		{"no probabilities", func(m *record.Manifest, l []record.Line) []record.Line { l[4].Fit.Proba[2][0] = 1; return l }, "sum to 2"},
		{"no studies", func(m *record.Manifest, l []record.Line) []record.Line { m.Configurations[3].Studies = nil; return l }, "configuration 3: no studies"},
		{"negative cases", func(m *record.Manifest, l []record.Line) []record.Line {
			m.Configurations[3].Studies[0].Test = -1
			return l
		}, "holds out -1 cases"},
		{"one name twice", func(m *record.Manifest, l []record.Line) []record.Line {
			m.Configurations[0].Hyperparameters[1].Name = "length_scale"
			return l
		}, `two hyperparameters are named "length_scale"`},
		{"an unknown curve", func(m *record.Manifest, l []record.Line) []record.Line { m.Curves = []string{"roc"}; return l }, `unknown curve "roc"`},
		{"an unknown confidence", func(m *record.Manifest, l []record.Line) []record.Line { m.Reject = "gapp"; return l }, `did you mean "gap"?`},
	} {
		m, lines := reporttest.Run(t)
		lines = test.do(&m, lines)
		if _, err := reports.Build(m, lines); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.what, err, test.want)
		}
	}
}

// A trial that failed before it had a point is reported with the point proposed.
func TestFailedTrialSaysWhere(t *testing.T) {
	m, lines := reporttest.Run(t)
	lines[0].Trial = &record.Trial{Index: lines[0].Trial.Index, Failure: cause.TimedOut.New("timed out"), Asked: [][]record.Number{{0.5, -1}}}
	for _, f := range reporttest.Build(t, m, lines).Configurations[0].Failures {
		if f.Message == "timed out" {
			if len(f.Theta) != 2 || f.Theta[0].Value != 0.5 || f.Theta[1].Value != -1 {
				t.Errorf("failed at %v", f.Theta)
			}
			return
		}
	}
	t.Error("the failure is not reported")
}

func TestOptima(t *testing.T) {
	ends := []float64{-5, -3, math.NaN(), -3.0004, -4.9993, math.Inf(1), -3.0012, -7}
	var c reports.Configuration
	for _, v := range ends {
		c.Restarts = append(c.Restarts, reports.Restart{Value: reports.Number(v)})
	}
	// -7 | -5, -4.9993 | -3.0012, -3.0004, -3
	if got, want := c.Optima(), (reports.Optima{Restarts: 8, Failed: 2, Distinct: 3, AtBest: 3, Lo: -7, Hi: -3, Second: -4.9993}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Only restarts with the choices of the best count: others tune another model.
func TestOptimaOfAChoice(t *testing.T) {
	var c reports.Configuration
	for i, v := range []float64{-9, -5, -7, -5, -8, math.NaN(), math.NaN()} {
		start := reports.Values{{Name: "choice", Value: reports.Number(i % 2), Text: []string{"1.se", "2.linear"}[i%2]}, {Name: "amplitude", Value: reports.Number(i)}}
		c.Restarts = append(c.Restarts, reports.Restart{Start: start, Value: reports.Number(v)})
	}
	if got, want := c.Optima(), (reports.Optima{Restarts: 3, Failed: 1, Distinct: 1, AtBest: 2, Lo: -5, Hi: -5, Second: -5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{
		"se":   "se",
		"{se:": "{se:", // not YAML: as it is
		"{sum: [{se: {length_scale: {init: 1}, amplitude: 2}}, {noise: {amplitude: {fixed: 0.3}}}]}": "sum(se, noise)",
		"{active: {dims: [1, 2], kernel: {se: {ard: true}}}}":                                        "active(dims: 1, 2, kernel: se(ard: true))",
		"{per_class: se}": "per_class(se)",
		"{pl: {schedule: parallel, max_iterations: 10}}":           "pl(schedule: parallel)",
		"{pl: {inducing: {points: 60, correction: {power: 0.5}}}}": "pl(inducing: points(60), correction(power: 0.5))",
	} {
		r := reports.Report{Configurations: []reports.Configuration{{Label: record.Label{Kernel: reporttest.Declared(text)}}}}
		if got := r.ShortNames()[text]; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	// Labels that would be equal show the settings in which they differ; if they are still equal,
	// the full text.
	for _, want := range []map[string]string{
		{"{noisy_threshold: {epsilon: 0.1}}": "noisy_threshold(epsilon: 0.1)", "{noisy_threshold: {epsilon: {init: 0.1, bounds: [0.01, 0.2]}}}": "noisy_threshold(epsilon: init 0.1 bounds 0.01 to 0.2)", "{se: {amplitude: 1}}": "se"},
		{"{sum: [{se: {amplitude: 3, length_scale: {fixed: 10.485569}}}, noise]}": "sum(se(length_scale: fixed 10.49), noise)", "{sum: [{se: {amplitude: 3, length_scale: {fixed: 2}}}, noise]}": "sum(se(length_scale: fixed 2), noise)"},
		{"ep": "ep", "{ep: {damping: 0.5}}": "ep(damping: 0.5)", "{ep: {damping: 0.5, tolerance: 1e-9}}": "ep(damping: 0.5, tolerance: 1e-09)"},
		{"{ep: {damping: 0.50001}}": "{ep: {damping: 0.50001}}", "{ep: {damping: 0.50002}}": "{ep: {damping: 0.50002}}", "{ep: {damping: 0.4}}": "ep(damping: 0.4)"},
		{"{se: {length_scale: {prior: {inverse_gamma: {shape: 3}}}}}": "se(length_scale: prior inverse_gamma shape 3)", "se": "se"},
	} {
		if got := reports.ShortNames(slices.Collect(func(yield func(record.Component) bool) {
			for text := range want {
				if !yield(reporttest.Declared(text)) {
					return
				}
			}
		})); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// Results do not contain times, whatever the clock did.
func TestResultsHaveNoTimes(t *testing.T) {
	var want, got bytes.Buffer
	m, lines := reporttest.Run(t)
	for _, out := range []*bytes.Buffer{&want, &got} {
		r, err := reports.Build(m, lines)
		if err != nil {
			t.Fatal(err)
		}
		if err := reports.WriteJSON(out, r); err != nil {
			t.Fatal(err)
		}
		for i := range lines {
			lines[i].Seconds = -3600
		}
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("results.json depends on how long jobs took")
	}
}

func TestTimings(t *testing.T) {
	m, lines := reporttest.Run(t)
	again := lines[0]
	again.Seconds = 10
	timings, err := reports.BuildTimings(m, append(lines, again))
	if err != nil {
		t.Fatal(err)
	}
	c := timings.Configurations[0]
	if c.Seconds != 25 || !slices.Equal(c.Studies[0].Trials, []float64{1, 10, 2, 3, 4}) || !slices.Equal(c.Studies[0].Fits, []float64{5}) {
		t.Errorf("%+v", c)
	}
	if timings.Jobs != len(lines)+1 || timings.Seconds != 25+15 || timings.Build.Arch != "amd64" {
		t.Errorf("%d jobs, %v seconds", timings.Jobs, timings.Seconds)
	}
	var out bytes.Buffer
	if err := timings.WriteJSON(&out); err != nil || !json.Valid(out.Bytes()) {
		t.Error("the JSON is not valid", err)
	}
	lines[0].Trial.Configuration = 9
	if _, err := reports.BuildTimings(m, lines); err == nil {
		t.Error("a configuration too many: no error")
	}
}

// NaN is null in JSON and infinities are strings; all other numbers are read back exactly.
func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0.1: "0.1", -0.25: "-0.25", 1e300: "1e+300", math.Inf(1): `"+Inf"`, math.Inf(-1): `"-Inf"`, math.NaN(): "null"} {
		if got, err := json.Marshal(reports.Number(x)); err != nil || string(got) != want {
			t.Errorf("%v is %s, want %s", x, got, want)
		}
	}
	got, err := json.Marshal(reports.Values{{Name: "b", Value: 1}, {Name: "a<\"", Value: 2}})
	if err != nil || string(got) != `{"b":1,"a\u003c\"":2}` {
		t.Errorf("%s, %v", got, err)
	}
}

// The report names jobs that were computed by more than one build; equal lines of several builds
// are one job.
func TestMixedBuilds(t *testing.T) {
	m, lines := reporttest.Run(t)
	m.Build = record.Build{Version: "1", Go: "go1", Arch: "here"}
	mixing := func() (found []string) {
		r, err := reports.Build(m, lines)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range r.Warnings {
			if w.Kind == cause.Builds && strings.HasPrefix(w.Text, "computed by more than one build") {
				found = append(found, w.String())
			}
		}
		return found
	}
	if got := mixing(); got != nil {
		t.Errorf("one build: %q", got)
	}
	lines[0].Build = m.Build.String()
	if got := mixing(); got != nil {
		t.Errorf("one build, which a line names: %q", got)
	}
	lines[0].Build = "1 go1 there"
	want := fmt.Sprintf(": 1 go1 here (jobs: %d), 1 go1 there (jobs: 1)", len(lines)-1)
	if got := mixing(); len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("two builds: %q, want %q", got, want)
	}
}
