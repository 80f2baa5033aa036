package picture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// fittedRun is a run with one configuration of the given classes: a fit on all training data, and
// folds.
func fittedRun(t *testing.T, classes []string, whole record.Fit, folds ...record.Fit) *reports.Report {
	t.Helper()
	c := record.Configuration{Dataset: "toy", Label: record.Label{Preprocess: "none", Kernel: reporttest.Declared("se"), Mean: reporttest.Declared("zero"), Likelihood: reporttest.Declared("logit"), Inference: reporttest.Declared("laplace")}, Tune: "none", Classes: classes}
	train := len(whole.TrainLabels)
	if s := whole.Surface; s != nil {
		train = len(s.Inputs[0])
	}
	var lines []record.Line
	for i, f := range append([]record.Fit{whole}, folds...) {
		s := record.Study{Key: fmt.Sprint(i), Evaluation: "kfold", Fold: i - 1, Train: train, Test: len(f.Labels)}
		if i == 0 {
			s.Evaluation, s.Fold = "train", 0
		}
		c.Studies = append(c.Studies, s)
		f.Study, f.Chosen, f.LogEvidence, f.Converged, f.TrainCounts = i, -1, -1, true, nil
		for range classes {
			f.TrainCounts = append(f.TrainCounts, 1)
		}
		for row := range f.Labels {
			f.Rows = append(f.Rows, row)
		}
		lines = append(lines, record.Line{Key: "fit" + s.Key, Fit: &f})
	}
	return reporttest.Build(t, record.Manifest{Configurations: []record.Configuration{c}}, lines)
}

// single returns the only figure and checks that it can be drawn.
func single(t *testing.T, figures []figure.Figure) figure.Figure {
	t.Helper()
	if len(figures) != 1 {
		t.Fatalf("%d figures, want 1", len(figures))
	}
	if err := figure.SVG(io.Discard, figures[0]); err != nil {
		t.Fatal(err)
	}
	return figures[0]
}

func alike(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-12*max(1, math.Abs(y)) })
}

func sameAxis(a, b figure.Axis) bool { return a.Label == b.Label && a.Lo == b.Lo && a.Hi == b.Hi }

// With 5 training cases there are at most 4∛5 = 6.8 bins over -2.2 … 3.05, so their width is 1.
func TestLatentMeans(t *testing.T) {
	whole := record.Fit{TrainLabels: []int{0, 0, 0, 1, 1}, TrainLatentMean: [][]record.Number{{-2.2, -0.1, 0, 0.9, 3.05}}}
	fold := record.Fit{Labels: []int{1, 0}, Proba: [][]record.Number{{0.3, 0.7}, {0.5, 0.5}}, LatentMean: [][]record.Number{{-1.5, 1}}, LatentVariance: [][]record.Number{{1, 1}}}
	lost := record.Fit{Labels: []int{1}, Proba: [][]record.Number{{0.3, 0.7}}, LatentMean: [][]record.Number{{record.Number(math.Inf(1))}}, LatentVariance: [][]record.Number{{1}}}
	f := single(t, latentMeans(shown.New(fittedRun(t, []string{"no", "yes"}, whole, fold, lost), -1)))
	if f.Name != "latent-0" || f.Title != "Latent means" || f.Columns != 2 || len(f.Panels) != 2 ||
		!slices.Equal(f.Notes, []string{"toy, likelihood logit, inference laplace, kernel se, mean zero, preprocess none, tune none", "1 latent mean beyond the first and the last bin is counted there"}) {
		t.Errorf("%q, %q, notes %q, %d columns", f.Name, f.Title, f.Notes, f.Columns)
	}
	edges := []float64{-3, -2, -1, 0, 1, 2, 3, 4}
	for i, want := range []struct {
		title   string
		no, yes []float64
	}{
		{"5 training cases", []float64{1, 0, 1, 1, 0, 0, 0}, []float64{0, 0, 0, 1, 0, 0, 1}},
		{"3 held-out cases (kfold)", []float64{0, 0, 0, 0, 1, 0, 0}, []float64{0, 1, 0, 0, 0, 0, 1}},
	} {
		p := f.Panels[i]
		if p.Title != want.title || !sameAxis(p.X, figure.Axis{Label: "latent mean f", Lo: -3, Hi: 4}) || p.Y.Label != "cases" {
			t.Errorf("panel %d: %q, x %v", i, p.Title, p.X)
		}
		for k, heights := range [][]float64{want.no, want.yes} {
			b := p.Layers[k].(figure.Bars)
			if b.Name != []string{"class no", "class yes"}[k] || !alike(b.Edges, edges) || !slices.Equal(b.Heights, heights) {
				t.Errorf("%s: %+v, want %v", p.Title, b, heights)
			}
		}
	}

	// After MCMC the latent means of the training cases come from one fit.
	whole.Posterior = []record.Marginal{{Name: "log_amplitude", Mean: 1, SD: 1, RHat: 1, ESS: 100}}
	if f := single(t, latentMeans(shown.New(fittedRun(t, []string{"no", "yes"}, whole, fold), -1))); !slices.Contains(f.Notes, "training cases at the sample of largest posterior density") {
		t.Errorf("notes of chains %q", f.Notes)
	}

	// Without held-out cases there is one panel; without latent means (an old run or a comparator)
	// there is no figure.
	if f := single(t, latentMeans(shown.New(fittedRun(t, []string{"no", "yes"}, whole), -1))); f.Columns != 1 || len(f.Panels) != 1 {
		t.Errorf("%d panels without held-out cases", len(f.Panels))
	}
	if figures := latentMeans(shown.New(fittedRun(t, []string{"no", "yes"}, record.Fit{TrainLabels: []int{0, 1}}, fold), -1)); figures != nil {
		t.Errorf("%d figures without latent means", len(figures))
	}
}

// Three classes with one latent process share a panel.
func TestLatentMeansOfOrderedClasses(t *testing.T) {
	whole := record.Fit{TrainLabels: []int{0, 0, 1, 1, 2}, TrainLatentMean: [][]record.Number{{-2.2, -0.1, 0, 0.9, 3.05}}}
	f := single(t, latentMeans(shown.New(fittedRun(t, []string{"low", "mid", "high"}, whole), -1)))
	if len(f.Panels) != 1 || len(f.Panels[0].Layers) != 3 || f.Panels[0].X.Label != "latent mean f" {
		t.Errorf("%d panels, %+v", len(f.Panels), f.Panels[0])
	}
}

// Of five classes only the four with the most training cases have a row; the counts of each row
// cover all cases.
func TestLatentMeansOfSeveralClasses(t *testing.T) {
	whole := record.Fit{TrainLabels: []int{4, 3, 1, 0, 4, 3, 1, 0, 2}}
	for c := range 5 {
		var means []record.Number
		for i, label := range whole.TrainLabels {
			v := -1 - record.Number(i)/10
			if label == c {
				v = 2 + record.Number(c)
			}
			means = append(means, v)
		}
		whole.TrainLatentMean = append(whole.TrainLatentMean, means)
	}
	f := single(t, latentMeans(shown.New(fittedRun(t, []string{"a", "b", "c", "d", "e"}, whole), -1)))
	if len(f.Panels) != 4 || !slices.Contains(f.Notes, "the 4 of 5 classes with the most training cases") {
		t.Fatalf("%d panels, notes %q", len(f.Panels), f.Notes)
	}
	for k := range whole.TrainLabels {
		whole.TrainLabels[k] = min(whole.TrainLabels[k], 3)
	}
	four := whole
	four.TrainLatentMean = four.TrainLatentMean[:4]
	if f := single(t, latentMeans(shown.New(fittedRun(t, []string{"a", "b", "c", "d"}, four), -1))); len(f.Panels) != 4 || len(f.Notes) != 1 {
		t.Errorf("of four classes %d panels, notes %q", len(f.Panels), f.Notes)
	}
	for i, class := range []string{"a", "b", "d", "e"} {
		p := f.Panels[i]
		others, own := p.Layers[0].(figure.Bars), p.Layers[1].(figure.Bars)
		if p.Title != "class "+class+", 9 training cases" || others.Name != "cases of other classes" || own.Name != "cases of the class" {
			t.Errorf("panel %d: %q, %q and %q", i, p.Title, others.Name, own.Name)
		}
		sum := func(heights []float64) (s float64) {
			for _, h := range heights {
				s += h
			}
			return s
		}
		at := slices.Index(own.Edges, []float64{2, 3, 5, 6}[i])
		if sum(others.Heights) != 7 || sum(own.Heights) != 2 || at < 0 || own.Heights[at] != 2 {
			t.Errorf("class %s: %v and %v over %v", class, others.Heights, own.Heights, own.Edges)
		}
	}
}

// One edge of the bins is 0, and they contain all values and have a round width.
func TestBinEdges(t *testing.T) {
	for _, test := range []struct {
		lo, hi, most float64
		want         []float64
	}{
		{-0.3, 0.7, 4, []float64{-0.5, 0, 0.5, 1}},
		{-0.3, 0.7, 5, []float64{-0.4, -0.2, 0, 0.2, 0.4, 0.6, 0.8}},
		{0, 900, 10, []float64{0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}},
		{0, 0, 10, []float64{0, 1e-9}},
	} {
		if got := shown.BinEdges(test.lo, test.hi, test.most); !alike(got, test.want) || !(got[1]-got[0] > 0) {
			t.Errorf("%v to %v in %v: %v, want %v", test.lo, test.hi, test.most, got, test.want)
		}
	}
	for _, values := range [][]float64{{1e140, 1e140}, {-1e149, 1e149}, {0.1, 0.1}, {-7e-300, 3e-300}, {1 - 1e-15, 1}, {3, math.Inf(1)}, {math.NaN(), math.NaN()}} {
		lo, hi := shown.Bulk(values)
		edges := shown.BinEdges(lo, hi, 20)
		if n := len(edges); n > 23 || !(edges[0] <= lo) || !(edges[n-1] > hi) {
			t.Errorf("%v: %d edges from %v to %v", values, n, edges[0], edges[n-1])
		}
		sum := 0.0
		for _, h := range shown.Histogram("", edges, values).Heights {
			sum += h
		}
		if sum != 2 {
			t.Errorf("%v: %v cases", values, sum)
		}
	}
	many := []float64{-1e6, 900} // and ten from 0 to 9
	for v := range 10 {
		many = append(many, float64(v))
	}
	if lo, hi := shown.Bulk(many); lo != -9 || hi != 18 { // twelve values: one is cut off at each end
		t.Errorf("the bulk is from %v to %v", lo, hi)
	}
}

// With the logistic function and no variance both probabilities agree; a fold of an older run,
// without them, has no points.
func TestAveraged(t *testing.T) {
	squash := func(f float64) record.Number { return record.Number(1 / (1 + math.Exp(-f))) }
	fold := record.Fit{
		Labels: []int{1, 0, 1}, Proba: [][]record.Number{{0.25, 0.75}, {0.5, 0.5}, {0.875, 0.125}},
		LatentMean: [][]record.Number{{2, 0, -4}}, LatentVariance: [][]record.Number{{3, 1, 4}}, MAP: []record.Number{squash(2), squash(0), squash(-4)},
	}
	old := record.Fit{Labels: []int{1}, Proba: [][]record.Number{{0.25, 0.75}}}
	f := single(t, averaged(shown.New(fittedRun(t, []string{"no", "yes"}, record.Fit{TrainLabels: []int{0, 1}}, old, fold), -1)))
	p := f.Panels[0]
	if f.Name != "averaging-0" || len(f.Panels) != 3 || p.Title != "3 held-out cases (kfold)" || !p.Square ||
		!sameAxis(p.X, figure.Axis{Label: "p(y = yes), at the latent mean (MAP)", Lo: -0.03, Hi: 1.03}) || !sameAxis(p.Y, figure.Axis{Label: "p(y = yes), averaged", Lo: -0.03, Hi: 1.03}) {
		t.Errorf("%q: %q, %v, %v", f.Name, p.Title, p.X, p.Y)
	}
	if l := p.Layers[0].(figure.Line); !l.Dashed || !alike(l.X, l.Y) {
		t.Errorf("the diagonal is %+v", l)
	}
	no, yes := p.Layers[1].(figure.Points), p.Layers[2].(figure.Points)
	if no.Name != "class no" || !alike(no.X, []float64{0.5}) || !alike(no.Y, []float64{0.5}) ||
		yes.Name != "class yes" || !alike(yes.X, []float64{1 / (1 + math.Exp(-2))}) || !alike(yes.Y, []float64{0.75}) {
		t.Errorf("%+v, %+v", no, yes)
	}
	// The third case is wrong: above 0.95 at the latent mean, 0.875 averaged.
	if wrong := p.Layers[3].(figure.Points); len(p.Layers) != 4 || wrong.Name != "class yes taken for no" || !alike(wrong.X, []float64{1 / (1 + math.Exp(4))}) || !alike(wrong.Y, []float64{0.125}) || wrong.Hollow {
		t.Errorf("%+v", wrong)
	}
	all := f.Panels[1]
	for k, places := range [][]int{{0, 10, 17}, {2, 10, 15}} { // the indices of the bins, of twenty
		want := make([]float64, 20)
		for _, at := range places {
			want[at]++
		}
		if bars := all.Layers[k].(figure.Bars); !alike(bars.Heights, want) {
			t.Errorf("%+v", bars)
		}
	}
	q := f.Panels[2]
	if mean, average := q.Layers[0].(figure.Bars), q.Layers[1].(figure.Bars); q.Title != "wrong, and surer than 0.9: 1 of 1 at the latent mean, 0 of 1 averaged" ||
		!alike(mean.Heights, []float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) || !alike(average.Heights, []float64{0, 0, 0, 0, 0, 0, 0, 1, 0, 0}) {
		t.Errorf("%q: %+v", q.Title, q.Layers)
	}
	fold.Labels[2] = 0
	if f := single(t, averaged(shown.New(fittedRun(t, []string{"no", "yes"}, record.Fit{TrainLabels: []int{0, 1}}, fold), -1))); len(f.Panels) != 2 || len(f.Panels[0].Layers) != 3 {
		t.Errorf("nothing wrong: %+v", f.Panels)
	}
	if figures := averaged(shown.New(fittedRun(t, []string{"no", "yes"}, record.Fit{TrainLabels: []int{0, 1}}, old), -1)); figures != nil {
		t.Error("a figure without points")
	}
}

func TestDecisionsOverOneInput(t *testing.T) {
	axes, inputs := [][]record.Number{{0, 1, 3}}, [][]record.Number{{2, 1, record.Number(math.NaN())}}
	two := record.Fit{TrainLabels: []int{0, 1, 1}, Surface: &record.Surface{
		Names: []string{"height"}, Axes: axes, Inputs: inputs, Proba: [][]record.Number{{0.25, 0.5, 0.75}},
		LatentMean: [][]record.Number{{-1, 0, 2}}, LatentVariance: [][]record.Number{{4, 1, 0.25}},
	}}
	f := single(t, decisions(shown.New(fittedRun(t, []string{"no", "yes"}, two), -1)))
	if f.Name != "decision-0" || f.Columns != 2 || len(f.Panels) != 2 {
		t.Fatalf("%q: %d panels", f.Name, len(f.Panels))
	}
	top, bottom := f.Panels[0], f.Panels[1]
	x := figure.Axis{Label: "height", Hi: 3}
	if !sameAxis(top.X, x) || !sameAxis(bottom.X, x) || top.Y.Label != "p(y = yes)" || bottom.Y.Label != "latent f, mean and 2 sd" {
		t.Errorf("axes %v %v, %v %v", top.X, top.Y, bottom.X, bottom.Y)
	}
	line, no, yes := top.Layers[0].(figure.Line), top.Layers[1].(figure.Points), top.Layers[2].(figure.Points)
	if !alike(line.X, []float64{0, 1, 3}) || !alike(line.Y, []float64{0.25, 0.5, 0.75}) ||
		no.Name != "class no" || !alike(no.X, []float64{2}) || !alike(no.Y, []float64{0}) || yes.Name != "class yes" || yes.X[0] != 1 || !alike(yes.Y, []float64{1, 1}) {
		t.Errorf("%+v, %+v, %+v", line, no, yes)
	}
	b, mean := bottom.Layers[0].(figure.Band), bottom.Layers[1].(figure.Line)
	if !alike(b.Lo, []float64{-5, -2, 1}) || !alike(b.Hi, []float64{3, 2, 3}) || !alike(mean.Y, []float64{-1, 0, 2}) || b.Name != mean.Name || line.Name != mean.Name {
		t.Errorf("%+v, %+v", b, mean)
	}

	// A comparator has no latent function. With more than two classes each has a curve, and the
	// cases are drawn as ticks below.
	comparator := two
	comparator.Surface = &record.Surface{Names: []string{"height"}, Axes: axes, Inputs: inputs, Proba: [][]record.Number{{0.25, 0.5, 0.75}}}
	if f := single(t, decisions(shown.New(fittedRun(t, []string{"no", "yes"}, comparator), -1))); len(f.Panels) != 1 || f.Columns != 1 {
		t.Errorf("%d panels of a comparator", len(f.Panels))
	}
	three := record.Fit{TrainLabels: []int{2, 0, 1}, Surface: &record.Surface{Names: []string{"x"}, Axes: axes, Inputs: inputs, Proba: [][]record.Number{{1, 0.5, 0}, {0, 0.5, 0}, {0, 0, 1}}}}
	p := single(t, decisions(shown.New(fittedRun(t, []string{"a", "b", "c"}, three), -1))).Panels[0]
	for k, class := range []string{"class a", "class b", "class c"} {
		line, points := p.Layers[k].(figure.Line), p.Layers[3+k].(figure.Points)
		if line.Name != class || points.Name != class || !alike(line.Y, record.Floats(three.Surface.Proba[k])) || !alike(points.Y, []float64{-0.05 * float64(k+1)}) {
			t.Errorf("%s: %+v, %+v", class, line, points)
		}
	}
	if p.Y.Label != "p(y)" || !(p.Y.Lo < -0.15) {
		t.Errorf("axis %v", p.Y)
	}

	// Numeric targets have the band of a new target.
	numbers := record.Fit{Surface: &record.Surface{Names: []string{"x"}, Axes: axes, Inputs: inputs, Targets: []record.Number{5, 6, 7}, Mean: []record.Number{1, 2, 3}, Variance: []record.Number{1, 4, 9}}}
	p = single(t, decisions(shown.New(fittedRun(t, nil, numbers), -1))).Panels[0]
	b, mean = p.Layers[0].(figure.Band), p.Layers[1].(figure.Line)
	if points := p.Layers[2].(figure.Points); !alike(b.Lo, []float64{-1, -2, -3}) || !alike(b.Hi, []float64{3, 6, 9}) || !alike(mean.Y, []float64{1, 2, 3}) || !alike(points.Y, []float64{5, 6, 7}) {
		t.Errorf("%+v, %+v, %+v", b, mean, points)
	}
}

func TestDecisionsOverTwoInputs(t *testing.T) {
	surface := func(proba ...[]record.Number) *record.Surface {
		return &record.Surface{Names: []string{"u", "v"}, Axes: [][]record.Number{{0, 1, 2}, {10, 20}}, Inputs: [][]record.Number{{0.5, 1, 1.5}, {11, 12, 13}}, Proba: proba}
	}
	rising := []record.Number{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}
	p := single(t, decisions(shown.New(fittedRun(t, []string{"no", "yes"}, record.Fit{TrainLabels: []int{1, 0, 1}, Surface: surface(rising)}), -1))).Panels
	c := p[0].Layers[0].(figure.Contours)
	if len(p) != 1 || p[0].Title != "p(y = yes)" || !sameAxis(p[0].X, figure.Axis{Label: "u", Hi: 2}) || !sameAxis(p[0].Y, figure.Axis{Label: "v", Lo: 10, Hi: 20}) ||
		!alike(c.X, []float64{0, 1, 2}) || !alike(c.Y, []float64{10, 20}) || !alike(c.Z[0], []float64{0.1, 0.2, 0.3}) || !alike(c.Z[1], []float64{0.4, 0.5, 0.6}) ||
		len(c.Levels) != 9 || !slices.Equal(c.Bold, []float64{0.5}) || !slices.Contains(c.Levels, 0.5) {
		t.Errorf("%+v, %+v", p[0], c)
	}
	if yes := p[0].Layers[2].(figure.Points); yes.Name != "class yes" || !alike(yes.X, []float64{0.5, 1.5}) || !alike(yes.Y, []float64{11, 13}) {
		t.Errorf("%+v", yes)
	}

	// The borders of decisions, and a panel for each of the four classes, of five, that have the
	// most cases.
	zero := make([]record.Number, 6)
	five := record.Fit{TrainLabels: []int{4, 3, 1}, Surface: surface(rising, zero, zero, zero, zero)}
	f := single(t, decisions(shown.New(fittedRun(t, []string{"a", "b", "c", "d", "e"}, five), -1)))
	var titles []string
	for _, p := range f.Panels {
		titles = append(titles, p.Title)
	}
	if strings.Join(titles, ";") != "class of largest probability;p(y = a);p(y = b);p(y = d);p(y = e)" || f.Columns != 2 || len(f.Panels[0].Layers) != 1+4 || len(f.Panels[1].Layers) != 5 {
		t.Errorf("%q, %d columns, %d layers", titles, f.Columns, len(f.Panels[0].Layers))
	}

	if border := f.Panels[0].Layers[0].(figure.Line); border.Name == "" || border.X != nil {
		t.Errorf("the class a is ahead everywhere: %+v", border)
	}

	// Numeric targets have panels for mean and standard deviation.
	numbers := record.Fit{Surface: surface()}
	numbers.Surface.Targets, numbers.Surface.Mean, numbers.Surface.Variance = []record.Number{1, 2, 3}, rising, []record.Number{1, 4, 9, 16, 25, 36}
	f = single(t, decisions(shown.New(fittedRun(t, nil, numbers), -1)))
	if sd := f.Panels[1].Layers[0].(figure.Contours); len(f.Panels) != 2 || !alike(sd.Z[1], []float64{4, 5, 6}) || !slices.Contains(sd.Levels, 3) || sd.Bold != nil {
		t.Errorf("%+v", sd)
	}
}

// Configurations of two classes on the same data share a figure, together with the truth. Over one
// input their curves share panels, with bands if there are few; over two inputs each has its own
// panel.
func TestDecisionsTogether(t *testing.T) {
	together := func(classes []string, n int, s func(i int) *record.Surface) []figure.Figure {
		var m record.Manifest
		var lines []record.Line
		for i := range n {
			m.Configurations = append(m.Configurations, record.Configuration{Dataset: "toy", Label: record.Label{Likelihood: reporttest.Declared("logit"), Inference: reporttest.Declared(fmt.Sprint("method", i))}, Classes: classes, Studies: []record.Study{{Evaluation: "train", Train: 2}}})
			f := record.Fit{Configuration: i, Chosen: -1, TrainLabels: []int{0, 1}, Surface: s(i)}
			if classes == nil {
				f.TrainLabels = nil
			}
			lines = append(lines, record.Line{Key: fmt.Sprint(i), Fit: &f})
		}
		return decisions(shown.New(reporttest.Build(t, m, lines), -1))
	}
	one := func(i int) *record.Surface {
		p := record.Number(i) / 10
		return &record.Surface{Names: []string{"x"}, Axes: [][]record.Number{{0, 1}}, Inputs: [][]record.Number{{0, 1}}, Proba: [][]record.Number{{p, 1 - p}},
			LatentMean: [][]record.Number{{p, 2}}, LatentVariance: [][]record.Number{{1, 4}}, Truth: [][]record.Number{{0.25, 0.75}}}
	}
	for _, n := range []int{2, 4} {
		f := single(t, together([]string{"a", "b"}, n, one))
		top, bottom := f.Panels[0], f.Panels[1]
		lines := of[figure.Line](top)
		if len(lines) != n+1 || len(of[figure.Points](top)) != 2 || len(of[figure.Line](bottom)) != n || len(of[figure.Band](bottom)) != map[int]int{2: 2, 4: 0}[n] {
			t.Fatalf("%d configurations: %d lines, then %+v", n, len(lines), bottom.Layers)
		}
		if l := lines[1]; l.Name != "#1 method1" || !alike(l.Y, []float64{0.1, 0.9}) {
			t.Errorf("the second is %+v", l)
		}
		if l := lines[n]; l.Name != "truth" || !l.Dashed || !alike(l.X, []float64{0, 1}) || !alike(l.Y, []float64{0.25, 0.75}) {
			t.Errorf("the truth is %+v", l)
		}
	}
	if fs := together([]string{"a", "b"}, 9, one); len(fs) != 2 || fs[0].Name != "decision-0" || fs[1].Name != "decision-8" {
		t.Errorf("%d figures of nine configurations", len(fs))
	}
	numbers := func(i int) *record.Surface {
		return &record.Surface{Names: []string{"x"}, Axes: [][]record.Number{{0, 1}}, Inputs: [][]record.Number{{0, 1}}, Targets: []record.Number{3, 4},
			Mean: []record.Number{record.Number(i), 1}, Variance: []record.Number{1, 4}, Truth: [][]record.Number{{5, 6}}}
	}
	p := single(t, together(nil, 2, numbers)).Panels[0]
	if lines, bands := of[figure.Line](p), of[figure.Band](p); len(lines) != 3 || lines[2].Name != "truth" || !alike(lines[2].Y, []float64{5, 6}) || !alike(lines[1].Y, []float64{1, 1}) || !alike(bands[1].Lo, []float64{-1, -3}) {
		t.Errorf("numbers: %+v", p.Layers)
	}

	two := func(i int) *record.Surface {
		p := record.Number(i)/10 + 0.25
		return &record.Surface{Names: []string{"u", "v"}, Axes: [][]record.Number{{0, 1}, {0, 1}}, Inputs: [][]record.Number{{0, 1}, {0, 1}}, Proba: [][]record.Number{{p, p, 1, 1}}, Truth: [][]record.Number{{0, 0.25, 0.75, 1}}}
	}
	f := single(t, together([]string{"a", "b"}, 3, two))
	if len(f.Panels) != 3 || f.Columns != 3 || f.Panels[2].Title != "#2 method2, p(y = b)" {
		t.Fatalf("panels %+v", f.Panels)
	}
	levels := of[figure.Contours](f.Panels[2])
	if !alike(levels[0].Z[0], []float64{0.45, 0.45}) || levels[1].Name != "truth" || !levels[1].Dashed || !slices.Equal(levels[1].Levels, []float64{0.5}) || !alike(levels[1].Z[1], []float64{0.75, 1}) {
		t.Errorf("%+v", levels)
	}

	// With three classes every border of the truth is drawn once: the first class has its borders
	// with both others, the second its border with the third where the first class is not ahead.
	three := func(int) *record.Surface {
		truth := [][]record.Number{{0.8, 0.2, 0.3, 0}, {0.1, 0.6, 0.3, 0.3}, {0.1, 0.2, 0.4, 0.7}}
		return &record.Surface{Names: []string{"u", "v"}, Axes: [][]record.Number{{0, 1}, {0, 1}}, Inputs: [][]record.Number{{0, 1}, {0, 1}}, Proba: truth, Truth: truth}
	}
	f = single(t, together([]string{"a", "b", "c"}, 1, three))
	levels = of[figure.Contours](f.Panels[0])
	nan := math.NaN()
	for k, want := range [][]float64{{0.7, -0.4, -0.1, -0.7}, {nan, 0.4, -0.1, -0.4}, {nan, nan, 0.4, 0.7}} {
		got := slices.Concat(levels[k].Z...)
		for i := range want {
			if math.IsNaN(want[i]) != math.IsNaN(got[i]) || math.Abs(want[i]-got[i]) > 1e-12 {
				t.Errorf("level lines %d of %v, want %v", k, got, want)
				break
			}
		}
	}
}

// Only six configurations have a figure, and the last figure says how many more there are.
func TestFiguresOfManyConfigurations(t *testing.T) {
	var m record.Manifest
	var lines []record.Line
	for i := range 15 {
		m.Configurations = append(m.Configurations, record.Configuration{Dataset: "toy", Label: record.Label{Kernel: reporttest.Declared("se"), Likelihood: reporttest.Declared("logit"), Inference: reporttest.Declared("laplace")}, Classes: []string{"a", "b"}, Studies: []record.Study{{Evaluation: "train", Train: 2}}})
		f := record.Fit{Configuration: i, Chosen: -1, TrainCounts: []int{1, 1}, TrainLabels: []int{0, 1}, TrainLatentMean: [][]record.Number{{-1, 1}}}
		if i == 1 {
			f.Failure = cause.Failure.New("no fit")
		}
		lines = append(lines, record.Line{Key: fmt.Sprint(i), Fit: &f})
	}
	figures := latentMeans(shown.New(reporttest.Build(t, m, lines), -1))
	if len(figures) != 6 || figures[1].Name != "latent-2" || figures[5].Name != "latent-6" || len(figures[0].Notes) != 1 ||
		!slices.Contains(figures[5].Notes, "8 more configurations are not drawn; gpc-tune report DIR --figure latent-N draws #N") {
		t.Errorf("%d figures, the last is %q with notes %q", len(figures), figures[len(figures)-1].Name, figures[len(figures)-1].Notes)
	}
}

// Each value that a fit records for figures is in turn replaced by an odd one.
func TestDamagedFigures(t *testing.T) {
	f := reporttest.ShownFit()
	text, err := json.Marshal(record.Line{Key: "k", Fit: &f})
	if err != nil {
		t.Fatal(err)
	}
	built := 0
	reporttest.Damage(t, text, func(text []byte) {
		var line record.Line
		if json.Unmarshal(text, &line) != nil {
			return
		}
		r, err := reports.Build(reporttest.ShownManifest, []record.Line{line})
		if err != nil {
			return
		}
		built++
		var out bytes.Buffer
		if err := figure.SVG(&out, All(r)...); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		reporttest.Texts(t, out.Bytes())
	})
	if built < 100 {
		t.Errorf("only %d damaged fits could be drawn", built)
	}
}
