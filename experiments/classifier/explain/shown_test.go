package explain

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// Every input, alone or at values of a second one, has a figure of its curves, with a panel for each
// kind and scale.
func TestFiguresOfCurves(t *testing.T) {
	curve := func(input, kind, scale, beside, given string) Curve {
		return Curve{Input: input, Kind: kind, Scale: scale, Class: "yes", Beside: beside, Given: given,
			X: []record.Number{0, 1}, Mean: []record.Number{2, 3}}
	}
	e := Effects{Curves: []Curve{
		curve("a", partialDependence, probabilityScale, "", ""), curve("a", accumulatedLocal, probabilityScale, "", ""),
		curve("a", partialDependence, latentScale, "", ""), curve("b", partialDependence, probabilityScale, "", ""),
		curve("a", partialDependence, probabilityScale, "b", "b = 1"), curve("a", partialDependence, probabilityScale, "b", "b = 2"),
	}}
	var got []string
	for _, f := range e.Figures() {
		got = append(got, f.Name+": "+f.Title)
		for _, p := range f.Panels {
			got = append(got, fmt.Sprintf("%s, %s against %s", p.Title, p.Y.Label, p.X.Label))
			for _, l := range p.Layers {
				got = append(got, l.(figure.Line).Name)
			}
		}
	}
	if want := []string{
		"effect-0: Effect of a",
		"Partial dependence, probability of yes against a", "all cases",
		"Partial dependence, latent function of yes against a", "all cases",
		"Accumulated local effects, change of the probability of yes against a", "all cases",
		"effect-1: Effect of b",
		"Partial dependence, probability of yes against b", "all cases",
		"effect-2: Effect of a at values of b",
		"Partial dependence, probability of yes against a", "b = 1", "b = 2",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
