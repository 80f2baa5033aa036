package tuning

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

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

func TestLatticeOf(t *testing.T) {
	points := func(keep func(i, j int) bool, place func(i, j int) reports.Values) (out []reports.GridPoint) {
		v := reports.Number(1)
		for i := range 4 {
			for j := range 3 {
				if keep(i, j) {
					out = append(out, reports.GridPoint{Point: place(i, j), LogEvidence: &v})
				}
			}
		}
		return out
	}
	all := func(int, int) bool { return true }
	plane := func(i, j int) reports.Values {
		return reports.Values{{Name: "a", Value: reports.Number(1 + j)}, {Name: "b", Value: reports.Number(1 + i)}}
	}
	for _, test := range []struct {
		what string
		grid []reports.GridPoint
		want bool
	}{
		{"a grid", points(all, plane), true},
		{"with gaps", points(func(i, j int) bool { return (i+j)%2 == 0 }, plane), true},
		{"too few points", points(func(i, j int) bool { return i == j }, plane), false},
		{"one axis", points(all, func(i, j int) reports.Values {
			return reports.Values{{Name: "a", Value: 1}, {Name: "b", Value: reports.Number(1 + i)}}
		}), false},
		{"random points", points(all, func(i, j int) reports.Values {
			return reports.Values{{Name: "a", Value: reports.Number(1 + 3*i + j)}, {Name: "b", Value: reports.Number(math.Exp(float64(j + 3*i)))}}
		}), false},
		{"three axes", points(all, func(i, j int) reports.Values {
			return reports.Values{{Name: "a", Value: reports.Number(1 + i)}, {Name: "b", Value: reports.Number(1 + j)}, {Name: "c", Value: reports.Number(1 + i + j)}}
		}), false},
		{"infinity", points(all, func(i, j int) reports.Values {
			return reports.Values{{Name: "a", Value: reports.Number(math.Inf(1 - 2*(i%2)))}, {Name: "b", Value: reports.Number(1 + j)}}
		}), false},
		{"nothing", nil, false},
	} {
		l, ok := latticeOf(test.grid)
		if ok != test.want {
			t.Errorf("%s: %v", test.what, ok)
		}
		if !ok {
			continue
		}
		if l.across.label != "ln b" || l.up.label != "ln a" {
			t.Errorf("%s: %q across, which changes more slowly, and %q", test.what, l.across.label, l.up.label)
		}
		for k, p := range test.grid {
			i, j := l.find(k)
			if i < 0 || math.Abs(math.Exp(l.across.values[i])-float64(p.Point[1].Value)) > 1e-12 ||
				math.Abs(math.Exp(l.up.values[j])-float64(p.Point[0].Value)) > 1e-12 {
				t.Errorf("%s: point %d is at %d, %d", test.what, k, i, j)
			}
		}
	}
	// A failed point is missing from the lattice.
	grid := points(all, plane)
	failed := reports.Number(math.NaN())
	grid[5].LogEvidence = &failed
	if l, ok := latticeOf(grid); !ok || l.point[1][2] != -1 {
		t.Errorf("a failed point: %v, %v", ok, l.point)
	}
}

// A lattice is found by the names of the values, in whatever order they are.
func TestLatticeByName(t *testing.T) {
	var grid []reports.GridPoint
	for i := range 9 {
		value := reports.Number(i)
		at := reports.Values{{Name: "a", Value: reports.Number(1 + i/3)}, {Name: "b", Value: reports.Number(10 + i%3)}}
		if i%2 == 1 {
			slices.Reverse(at)
		}
		grid = append(grid, reports.GridPoint{Point: at, Value: &value})
	}
	l, ok := latticeOf(grid)
	if !ok || l.across.label != "ln a" || l.up.label != "ln b" || !slices.Equal(l.across.values, []float64{0, math.Log(2), math.Log(3)}) {
		t.Fatalf("%v, %+v", ok, l)
	}
	for i := range grid {
		if x, y := l.find(i); x != i/3 || y != i%3 {
			t.Errorf("point %d is at %d, %d", i, x, y)
		}
	}
	grid[4].Point = grid[4].Point[:1]
	if l, ok := latticeOf(grid); ok {
		t.Errorf("with a hyperparameter that does not matter everywhere: %+v", l)
	}
	for i := range grid {
		grid[i].Point = reports.Values{{Name: "a", Value: reports.Number(1 + i/3)}, {Name: "k", Value: reports.Number(i % 3), Text: "pqr"[i%3 : i%3+1]}}
	}
	if l, ok := latticeOf(grid); ok {
		t.Errorf("over a choice: %+v", l)
	}
}

// Values far below most do not flatten the best so far; of what is minimised, values far above.
func TestProgressIsNotFlattened(t *testing.T) {
	values := []float64{-90, -80, -1e6, -70, -60, -50, -1e5, -45, -44, -43, -42, -41}
	best := slices.Clone(values)
	for i := range best {
		best[i] = slices.Max(values[:i+1])
	}
	c := reporttest.Scored("d", "probit", "laplace", 0)
	a := valuesAxis(c, values, best)
	if a.Lo > -90 || a.Lo < -1000 || a.Hi < -41 || !strings.HasSuffix(a.Label, "and below it down to −1000000") {
		t.Errorf("%+v", a)
	}
	if whole := valuesAxis(c, values[3:6], best[3:6]); whole.Lo != whole.Hi {
		t.Errorf("%+v", whole)
	}
}
