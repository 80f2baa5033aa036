package picture

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// Error curves are drawn to the place from which half of them stay at 0. Curves of information do
// not stay at 0.
func TestSettled(t *testing.T) {
	x := []float64{0, 0.1, 0.2, 0.3, 0.4}
	panel := func(lines ...[]float64) (p figure.Panel) {
		for _, y := range lines {
			p.Layers = append(p.Layers, figure.Line{X: x, Y: y})
		}
		p.Layers = append(p.Layers, figure.Line{X: x, Y: make([]float64, 5), Dashed: true})
		return p
	}
	early, late, never := []float64{1, 0, 0, 0, 0}, []float64{1, 0, 1, 0, 0}, []float64{1, 1, 1, 1, 1}
	for i, c := range []struct {
		p  figure.Panel
		at float64
		ok bool
	}{
		{panel(early, late, never), 0.3, true},
		{panel(early, late), 0.3, true},
		{panel(early, early, never), 0.1, true},
		{panel(early, never, never), 0, false},
		{panel(early), 0, false},
		{panel(never[:0], early), 0, false},
		{panel(make([]float64, 5), make([]float64, 5)), 0, false},
	} {
		if at, ok := settled(c.p); ok != c.ok || ok && at != c.at {
			t.Errorf("%d: %v %v, want %v %v", i, at, ok, c.at, c.ok)
		}
	}
}
