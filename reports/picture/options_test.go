package picture

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// tried is a configuration with two evaluations, which have an error rate, with an interval as wide
// as the rate, and an information in bits; the values of the second evaluation are ten times the
// values of the first.
func tried(dataset, kernel, inference string, rate, bits float64) reports.Configuration {
	c := reports.Configuration{Dataset: dataset, Label: record.Label{Kernel: reporttest.Declared(kernel), Likelihood: reporttest.Declared("probit"), Inference: reporttest.Declared(inference), TuneInference: reporttest.Declared(inference)}, Tune: "none", LogEvidence: record.Number(math.NaN())}
	for k, name := range []string{"kfold", "training"} {
		by := math.Pow(10, float64(k))
		var results []cv.Result
		for _, of := range []struct {
			name  string
			value float64
		}{{"information_bits", bits * by}, {"error_rate", rate * by}} {
			score, err := cv.ScoreNamed(of.name)
			if err != nil {
				panic(err)
			}
			results = append(results, cv.Result{Score: score, Estimate: cv.Estimate{Value: of.value, Lo: of.value / 2, Hi: of.value * 3 / 2}})
		}
		c.Evaluations = append(c.Evaluations, reports.Evaluation{Name: name, Scores: reports.Scores{N: 10, Results: results}})
	}
	return c
}

// Three values of an option give a line for each evaluation, in the order of the values; a
// configuration without the option is a horizontal line.
func TestOptionPicture(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{
		tried("a", "se", "{online: {seen: 40}}", 0.25, 1), tried("a", "se", "{online: {seen: 5}}", 0.5, 3), tried("a", "se", "ep", 0.125, 4), tried("a", "se", "{online: {seen: 10}}", 0.0625, 2),
		tried("b", "se", "{online: {seen: 5}}", 0.5, 3), tried("b", "se", "{online: {seen: 10}}", 0.5, 3), // too few
	}}
	for i := range r.Configurations {
		r.Configurations[i].Cases = 20
		r.Configurations[i].Studies = []reports.Study{{Study: record.Study{Train: 20}}, {Study: record.Study{Train: 18}}}
	}
	figures := pictured(t, "option", r)
	if len(figures) != 1 || figures[0].Name != "option-seen" || len(figures[0].Panels) != 2 {
		t.Fatalf("figures %+v", figures)
	}
	note := "likelihood probit, kernel se, tune none; with 95 % intervals where two lines at most share a panel"
	if notes := figures[0].Notes; !slices.Equal(notes, []string{note}) {
		t.Errorf("notes %q, want %q", notes, note)
	}
	x, ends := []float64{5, 10, 40}, []float64{5, 40}
	panel := func(y []float64, level float64) (layers []figure.Layer) {
		scaled := func(by float64) (out []float64) {
			for _, v := range y {
				out = append(out, v*by)
			}
			return out
		}
		for k, name := range []string{"online, kfold", "online, training"} {
			by := []float64{1, 10}[k]
			layers = append(layers, figure.Band{Name: name, X: x, Lo: scaled(by / 2), Hi: scaled(by * 3 / 2)})
		}
		return append(layers,
			figure.Line{Name: "online, kfold", X: x, Y: y, Markers: true}, figure.Line{Name: "online, training", X: x, Y: scaled(10), Markers: true},
			figure.Line{Name: "ep, kfold", X: ends, Y: []float64{level, level}}, figure.Line{Name: "ep, training", X: ends, Y: []float64{10 * level, 10 * level}})
	}
	for k, want := range [][]figure.Layer{panel([]float64{0.5, 0.0625, 0.25}, 0.125), panel([]float64{3, 2, 1}, 4)} {
		p := figures[0].Panels[k]
		lo, hi := []float64{0.03125, 0.5}[k], []float64{7.5, 45}[k]
		want = append(want, figure.Line{Name: "every training case seen once", X: []float64{18, 18}, Y: []float64{lo, hi}, Dashed: true})
		if !reflect.DeepEqual(p.Layers, want) {
			t.Errorf("layers %+v, want %+v", p.Layers, want)
		}
		if p.X.Label != "online: seen" || p.Y.Label != []string{"error rate (share of cases)", "information bits (bits per case)"}[k] || p.Title != "a" {
			t.Errorf("%q over %q and %q", p.Title, p.X.Label, p.Y.Label)
		}
	}
	r.Configurations[0].Evaluations[0].Scores.Partial = &reports.Partial{Done: 2, Planned: 5}
	note += "; 1 point is not drawn, of which not all folds are done"
	if notes := pictured(t, "option", r)[0].Notes; !slices.Equal(notes, []string{note}) {
		t.Errorf("notes %q, want %q", notes, note)
	}
}

// If three values of an option have a log evidence, there is a panel for it, which omits the
// others.
func TestOptionEvidence(t *testing.T) {
	var r reports.Report
	for k, order := range []string{"0", "1", "2", "3"} {
		c := tried("a", "se", "{online: {order_seed: "+order+"}}", 0.5, 1)
		if k != 1 {
			c.LogEvidence = record.Number(-float64(k))
		}
		r.Configurations = append(r.Configurations, c)
	}
	r.Configurations = append(r.Configurations, tried("a", "se", "ep", 0.25, 1))
	r.Configurations[4].LogEvidence = -1.5
	p := pictured(t, "option", &r)[0].Panels
	// seeds have no order: points without lines and intervals
	want := []figure.Layer{figure.Points{Name: "online", X: []float64{0, 2, 3}, Y: []float64{0, -2, -3}},
		figure.Line{Name: "ep", X: []float64{0, 3}, Y: []float64{-1.5, -1.5}}}
	if len(p) != 3 || !reflect.DeepEqual(p[2].Layers, want) || p[2].Y.Label != "log evidence (nats)" {
		t.Errorf("panels %+v", p)
	}
	if notes := pictured(t, "option", &r)[0].Notes; !slices.Equal(notes, []string{"a, likelihood probit, kernel se, tune none"}) {
		t.Errorf("notes %q", notes)
	}
	r.Configurations[0].LogEvidence = record.Number(math.NaN())
	if p := pictured(t, "option", &r)[0].Panels; len(p) != 2 {
		t.Errorf("%d panels where two values have a log evidence", len(p))
	}
}

// Lines are named by everything else that differs. With three lines no intervals are drawn. A
// number that changes together with another one gives no line.
func TestOptionLines(t *testing.T) {
	var r reports.Report
	for i, order := range []string{"1", "2", "3"} {
		for _, ard := range []string{"true", "false"} {
			r.Configurations = append(r.Configurations, tried("a", fmt.Sprintf("{sum: [{se: {ard: %s, length_scale: {fixed: %s}}}, noise]}", ard, order), "ep", float64(i), 0))
		}
		r.Configurations = append(r.Configurations, tried("a", "se", fmt.Sprintf("{pl: {quadrature: {order: %s}, damping: %s}}", order, order), 0, 0))
	}
	figures := pictured(t, "option", &r)
	if len(figures) != 1 || figures[0].Name != "option-length scale" || figures[0].Panels[0].X.Label != "se: length scale, fixed" {
		t.Fatalf("figures %+v", figures)
	}
	var names []string
	for _, l := range figures[0].Panels[0].Layers {
		names = append(names, l.(figure.Line).Name)
	}
	if len(names) != shown.MostTold || !slices.Contains(names, "ep, sum(se(ard: true), noise), training") || !slices.Contains(names, "ep, sum(se(ard: false), noise), kfold") {
		t.Errorf("lines %q", names)
	}
}
