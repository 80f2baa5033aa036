package picture

import (
	"slices"
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

// The levels of several grids reach the peak of each.
func TestCommonLevels(t *testing.T) {
	surface := func(top float64) (values []float64) {
		for i := range 200 {
			values = append(values, top-float64(i)/200)
		}
		return values
	}
	levels := commonLevels([][]float64{surface(0.844), surface(0.892)})
	if !slices.IsSorted(levels) {
		t.Errorf("%v", levels)
	}
	for _, top := range []float64{0.844, 0.892} {
		k, _ := slices.BinarySearch(levels, top)
		if k == 0 || top-levels[k-1] > 0.0151 {
			t.Errorf("below %v the highest of %v is %v", top, levels, levels[max(0, k-1)])
		}
	}
	if only := surface(0.844); !slices.Equal(commonLevels([][]float64{only}), figure.Levels(only)) {
		t.Errorf("%v for one, not %v", commonLevels([][]float64{only}), figure.Levels(only))
	}
}
