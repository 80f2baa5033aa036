package illustration

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// If the density is known farther out than everything that is shown, the scale covers what is shown
// and a twentieth more.
func TestScaleOfWays(t *testing.T) {
	density := figure.Contours{X: []float64{-100, -1, 1, 100}, Y: []float64{-100, 0, 100}, Z: [][]float64{{0, 0, 0, 0}, {0, 1, 1, 0.01}, {0, 0, 0, 0}}}
	i := record.Illustration{Prior: &record.Gaussian{Mean: []record.Number{2, 3}},
		Approximations: []record.Approximated{{Iterates: []record.Gaussian{{Mean: []record.Number{0, 0}, Covariance: [][]record.Number{{1, 0}, {0, 4}}}}}}}
	left, right, low, high := where(i, density, 1)
	for k, pair := range [][2]float64{{left, -3.3}, {right, 3.3}, {low, -6.6}, {high, 6.6}} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("bound %d is %v, want %v", k, pair[0], pair[1])
		}
	}
}

// With few places each is marked, because nothing is known between them.
func TestFewPlacesAreMarked(t *testing.T) {
	for places, want := range map[int]bool{mostMarked: true, mostMarked + 1: false} {
		var x, f record.Column
		x.Name, f.Name = "x", "f1"
		for k := range places {
			x.Values, f.Values = append(x.Values, record.Number(k)), append(f.Values, 0)
		}
		line := Samples(record.Illustration{Kind: "prior", Columns: []record.Column{x, f}}).Panels[0].Layers[0].(figure.Line)
		if line.Markers != want || line.Name != "draw 1" {
			t.Errorf("%d places: markers %v of %q", places, line.Markers, line.Name)
		}
	}
}
