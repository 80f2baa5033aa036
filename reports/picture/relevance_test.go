package picture

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Ten inputs with final length scales e^1, e^7, e^3, … (multiples of 7 modulo 11, all different),
// after a fixed amplitude and before a noise that belongs to no input. The eight smallest have
// names, the smallest first, and are drawn on top.
func TestRelevancePicture(t *testing.T) {
	m, lines := reporttest.Run(t)
	c := &m.Configurations[0]
	c.Hyperparameters = []record.Hyperparameter{{Name: "1.se.amplitude", Theta: "1.se.log_amplitude", Fixed: true}}
	start, end := make([]record.Number, 11), make([]record.Number, 11)
	natural := make([]record.Number, 12)
	for k := range 10 {
		c.Hyperparameters = append(c.Hyperparameters, record.Hyperparameter{
			Name: fmt.Sprintf("1.se.length_scale[%d]", k+1), Theta: fmt.Sprintf("1.se.log_length_scale[%d]", k+1), Column: fmt.Sprintf("input %d", k)})
		start[k], end[k] = 0.5, record.Number(7*(k+1)%11)
	}
	c.Hyperparameters = append(c.Hyperparameters, record.Hyperparameter{Name: "2.noise.amplitude", Theta: "2.noise.log_amplitude"})
	lines = slices.DeleteFunc(lines, func(l record.Line) bool {
		return l.Trial != nil && l.Trial.Configuration == 0 && l.Trial.Index > 0
	})
	for _, l := range lines {
		switch {
		case l.Trial != nil && l.Trial.Configuration == 0:
			l.Trial.Start, l.Trial.Points[0].Natural, l.Trial.Points[0].Theta = natural, natural, end
			l.Trial.Path = []record.Step{{Theta: start, Value: -9}, {Theta: end, Value: -3.25}}
		case l.Fit != nil && l.Fit.Configuration == 0:
			l.Fit.Natural = natural
		}
	}
	figures := pictured(t, "relevance", reporttest.Build(t, m, lines))
	if len(figures) != 1 || len(figures[0].Panels) != 2 {
		t.Fatalf("figures %+v", figures)
	}
	panel := figures[0].Panels[0]
	var names []string
	for i, l := range panel.Layers {
		line := l.(figure.Line)
		if line.Faint != (i < 2) || !slices.Equal(line.X, []float64{0, 1}) || line.Y[0] != -0.5 {
			t.Errorf("line %d: %+v", i, line)
		}
		ln := -line.Y[1]
		if (ln >= 9) != line.Faint {
			t.Errorf("the length scale e^%v is drawn as %+v", ln, line)
		}
		if !line.Faint {
			names = append(names, line.Name)
			if k := slices.Index(end, record.Number(ln)); line.Name != fmt.Sprintf("input %d", k) || ln != float64(i-1) {
				t.Errorf("line %d is %s with e^%v", i, line.Name, ln)
			}
		}
	}
	if len(names) != 8 {
		t.Errorf("names %q", names)
	}
	if l := figures[0].Panels[1].Layers[0].(figure.Line); !slices.Equal(l.Y, []float64{-9, -3.25}) || math.IsNaN(l.X[1]) {
		t.Errorf("log evidence %+v", l)
	}
	if panel.Title != "1.se.length scale, the 8 most relevant of 10 in colour" {
		t.Errorf("title %q", panel.Title)
	}
	// with the order of another configuration every input keeps its style
	second := m.Configurations[0]
	m.Configurations = append(m.Configurations, second)
	other := slices.Clone(end)
	slices.Reverse(other[:10])
	for _, l := range slices.Clone(lines) {
		switch {
		case l.Trial != nil && l.Trial.Configuration == 0:
			trial := *l.Trial
			trial.Configuration = len(m.Configurations) - 1
			trial.Path = []record.Step{trial.Path[0], {Theta: other, Value: -3.25}}
			l.Trial = &trial
		case l.Fit != nil && l.Fit.Configuration == 0:
			fit := *l.Fit
			fit.Configuration = len(m.Configurations) - 1
			l.Fit = &fit
		default:
			continue
		}
		l.Key = "second " + l.Key
		lines = append(lines, l)
	}
	figures = pictured(t, "relevance", reporttest.Build(t, m, lines))
	if len(figures) != 2 {
		t.Fatalf("%d figures", len(figures))
	}
	first, then := figures[0].Looks, figures[1].Looks
	for input, look := range first {
		if then[input] != look {
			t.Errorf("%s has the look %d, then %d", input, look, then[input])
		}
	}
	if len(first) != 8 || len(then) != 10 {
		t.Errorf("looks of %v, then of %v", first, then)
	}
}
