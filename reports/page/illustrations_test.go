package page

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func TestIllustrations(t *testing.T) {
	r, err := reports.Build(illustrating(), nil)
	if err != nil {
		t.Fatal(err)
	}
	figures := picture.All(r)
	want := map[string]int{"prior-0": 4, "likelihood-1": 1, "posterior-2": 2, "posterior-3": 2} // panels
	if len(figures) != len(want) {
		t.Errorf("%d figures", len(figures))
	}
	for _, f := range figures {
		if len(f.Panels) != want[f.Name] {
			t.Errorf("%s: %d panels", f.Name, len(f.Panels))
		}
	}
	if l := figures[0].Panels[0].Layers[0].(figure.Line); l.X[0] != 1 || l.Y[0] != 0 || l.Y[1] != -1 {
		t.Errorf("draws are not in the order of x: %+v", l)
	}
	// The ellipse of three standard deviations: (f - m)ᵀ Σ⁻¹ (f - m) = 9 with m = (4, 1) and
	// Σ = (4 1; 1 9), which has determinant 35.
	pair := figures[3]
	layers := pair.Panels[1].Layers
	ellipse := layers[len(layers)-1].(figure.Line)
	for k, x := range ellipse.X {
		a, b := x-4, ellipse.Y[k]-1
		if d := (9*a*a - 2*a*b + 4*b*b) / 35; math.Abs(d-9) > 1e-12 {
			t.Errorf("point %d of the ellipse is %v from the mean", k, d)
		}
	}
	if !strings.Contains(strings.Join(pair.Notes, "\n"), "ep fails: it broke") || pair.Panels[0].Title != "ep (fails)" {
		t.Errorf("%q, notes %q", pair.Panels[0].Title, pair.Notes)
	}

	var text bytes.Buffer
	if err := table.Text(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1e-12", "(the exact posterior)  4", " failed\n", "warning: approximations failed (1 time)", "first: illustration 4, ep: fails: it broke", "not converged", "note: updates were damped", "4, 1                2, 3       0.1667            -2           9  not converged"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, f := range FilesOf([]string{"html", "markdown", "latex", "svg", "predictions"}) {
		for _, file := range f.Files(r) {
			if err := file.Write(&text); err != nil {
				t.Errorf("%s: %v", file.Name, err)
			}
		}
	}
	page := string(Render(t, "html", r)) // units are those of results, of which there are none
	if !strings.Contains(page, headsNote) || strings.Contains(page, "Log evidence and log losses in nats") {
		t.Error("the page explains the numbers of results, or no heads of columns")
	}
	shown, err := r.Show(-1, -1)
	if err != nil {
		t.Fatal(err)
	}
	if text.Reset(); table.ShownForms[0].Render(&text, shown) != nil || !strings.Contains(text.String(), "shown #4  posterior") || !strings.Contains(text.String(), "-1.7976931348623157e+308") {
		t.Errorf("shown: %s", text.String())
	}
}

// A manifest with incomplete illustrations gives an error, not a figure.
func TestDamagedIllustrations(t *testing.T) {
	for name, damage := range map[string]func(all []record.Illustration){
		"no columns": func(all []record.Illustration) { all[0].Columns = nil },
		"no rows": func(all []record.Illustration) {
			all[2].Columns = []record.Column{{Name: "f"}, {Name: "log_likelihood"}}
		},
		"columns of lengths": func(all []record.Illustration) { all[0].Columns[1].Values = nil },
		"no label":           func(all []record.Illustration) { all[2].Labels = nil },
		"no moments":         func(all []record.Illustration) { all[3].Exact = nil },
		"no prior":           func(all []record.Illustration) { all[4].Prior = nil },
		"a column short":     func(all []record.Illustration) { all[3].Columns = all[3].Columns[:2] },
		"half a lattice": func(all []record.Illustration) {
			all[4].Columns[0].Values = all[4].Columns[0].Values[:2]
			all[4].Columns[1].Values = all[4].Columns[1].Values[:2]
			all[4].Columns[2].Values = all[4].Columns[2].Values[:2]
		},
		"a covariance short":   func(all []record.Illustration) { all[4].Approximations[1].Gaussian = all[3].Exact },
		"an iterate of others": func(all []record.Illustration) { all[4].Approximations[0].Iterates[0] = *all[3].Exact },
	} {
		m := illustrating()
		damage(m.Illustrations)
		if _, err := reports.Build(m, nil); err == nil || !strings.Contains(err.Error(), "do not fit together") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// illustrating is the manifest of a run without data that has an illustration of every kind.
func illustrating() record.Manifest {
	gaussian := func(covariance ...[]record.Number) *record.Gaussian {
		evidence := record.Number(-2)
		return &record.Gaussian{Mean: covariance[0], Covariance: covariance, LogEvidence: &evidence}
	}
	column := func(name string, values ...record.Number) record.Column {
		return record.Column{Name: name, Values: values}
	}
	g := gaussian([]record.Number{4, 1}, []record.Number{1, 9})
	return record.Manifest{Experiment: "shown", Illustrations: []record.Illustration{
		{Kind: "prior", Kernel: reporttest.Declared("se"), Mean: reporttest.Declared("zero"), Likelihood: reporttest.Declared("probit"), Hyperparameters: []record.Named{{Name: "amplitude", Value: 2}}, Jitter: 1e-12,
			Columns: []record.Column{column("x", 2, 1, 3), column("f1", -1, 0, 1), column("p1", 0.2, 0.5, 0.8)}},
		{Kind: "prior", Kernel: reporttest.Declared("noise"), Mean: reporttest.Declared("zero"), Likelihood: reporttest.Declared("softmax"), Classes: []string{"a", "b"},
			Columns: []record.Column{column("x", 1, 2), column("f1[a]", 1, 2), column("f1[b]", 3, 4), column("p1[a]", 0.1, 0.1), column("p1[b]", 0.9, 0.9)}},
		{Kind: "likelihood", Entry: 1, Likelihood: reporttest.Declared("step"), Labels: []record.Number{-1}, Columns: []record.Column{column("f", -1, 1), column("log_likelihood", 0, -math.MaxFloat64)}},
		{Kind: "posterior", Entry: 2, Likelihood: reporttest.Declared("probit"), Labels: []record.Number{1}, Prior: gaussian([]record.Number{9}), Exact: gaussian([]record.Number{4}),
			Columns:        []record.Column{column("f", 0, 1), column("prior", 0.1, 0.2), column("likelihood", 0.5, 0.8), column("exact", 0.1, 0.3)},
			Approximations: []record.Approximated{{Inference: reporttest.Declared("ep"), Gaussian: gaussian([]record.Number{4}), Converged: true, Iterations: 3}}},
		{Kind: "posterior", Entry: 3, Likelihood: reporttest.Declared("probit"), Labels: []record.Number{1, -1}, Prior: g, Exact: g,
			Columns: []record.Column{column("f1", 0, 1, 0, 1), column("f2", 0, 0, 1, 1), column("exact", 0, 0.1, 0.2, 0.3)},
			Approximations: []record.Approximated{{Inference: reporttest.Declared("ep"), Failure: cause.Failure.New("it broke"), Iterates: []record.Gaussian{*g}},
				{Inference: reporttest.Declared("pl"), Gaussian: g, Iterations: 9, Warnings: []cause.Notice{cause.Damped.New("in circles")}}}},
	}}
}
