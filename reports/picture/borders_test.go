package picture

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// planes returns the probabilities a + b x + c y on the lattice.
func planes(axis []float64, of ...[3]float64) (proba [][]record.Number) {
	for _, p := range of {
		var z []record.Number
		for _, y := range axis {
			for _, x := range axis {
				z = append(z, record.Number(p[0]+p[1]*x+p[2]*y))
			}
		}
		proba = append(proba, z)
	}
	return proba
}

// The regions of x, y and 1-x-y in the unit square meet in (1/3, 1/3); from there the borders go to
// (1, 1), (1/2, 0) and (0, 1/2), for any lattice.
func TestBordersMeet(t *testing.T) {
	for _, axis := range [][]float64{{0, 1}, {0, 0.3, 1}, {0, 0.1, 0.2, 0.4, 0.8, 1}} {
		line := borders(axis, axis, planes(axis, [3]float64{0, 1, 0}, [3]float64{0, 0, 1}, [3]float64{1, -1, -1}))
		length := 0.0
		for i := 0; i < len(line.X); i += 3 {
			length += math.Hypot(line.X[i+1]-line.X[i], line.Y[i+1]-line.Y[i])
			if !math.IsNaN(line.X[i+2]) || !math.IsNaN(line.Y[i+2]) {
				t.Fatalf("piece %d does not end", i/3)
			}
			for k := i; k < i+2; k++ {
				x, y := line.X[k], line.Y[k]
				p := []float64{x, y, 1 - x - y}
				top := max(p[0], p[1], p[2])
				at := 0
				for _, v := range p {
					if v > top-1e-12 {
						at++
					}
				}
				if at < 2 {
					t.Errorf("%v, %v is within a region", x, y)
				}
			}
		}
		if want := 2./3*math.Sqrt2 + math.Sqrt(5)/3; math.Abs(length-want) > 1e-12 {
			t.Errorf("over %v: %v long, want %v", axis, length, want)
		}
	}
}

// If there are more lines than readers can distinguish, they are split into rows: the best line is
// in every row, each other line in one, in order; only the last row has room for more.
func TestCurveRows(t *testing.T) {
	testCurveRows(t, 4, nil)
	testCurveRows(t, 9, &record.Print{Lines: 9})
}

func testCurveRows(t *testing.T, mostCurves int, print *record.Print) {
	for n := 1; n <= 12; n++ {
		var group []shown.Member
		var names []string
		for i := range n {
			group, names = append(group, shown.Member{Index: 10 + i}), append(names, string(rune('a'+i)))
		}
		best := n / 2
		r := shown.Report{Report: &reports.Report{Manifest: record.Manifest{Print: print}}, LookNumber: make([]int, 10+n)}
		for i := range n {
			r.LookNumber[10+i] = i + 1
		}
		r.LookNumber[10+best] = 0
		rows, named := curveRows(r, group, names)
		if n <= mostCurves {
			if len(rows) != 1 || len(rows[0]) != n {
				t.Errorf("%d: %v", n, named)
			}
			continue
		}
		next := 0
		for i, row := range rows {
			if row[0].Index != 10+best || len(row) > mostCurves || len(row) < 2 || i < len(rows)-1 && len(row) < mostCurves {
				t.Errorf("%d: %v", n, named)
			}
			for k, m := range row[1:] {
				if next == best {
					next++
				}
				if m.Index != 10+next || named[i][k+1] != names[next] {
					t.Errorf("%d: %v", n, named)
				}
				next++
			}
		}
		if next != n && !(best == n-1 && next == n-1) {
			t.Errorf("%d: %d of them", n, next)
		}
	}
}

// A constant value is written, not drawn; an axis over decades is logarithmic.
func TestOneLevelAndLogarithms(t *testing.T) {
	p := figure.Panel{Layers: []figure.Layer{figure.Band{}, figure.Line{X: []float64{0.001, 0.05}, Y: []float64{3, 3}}, figure.Line{X: []float64{0.01}, Y: []float64{3}}}}
	if v, is := oneLevel(p); v != 3 || !is {
		t.Error(v, is)
	}
	p.Layers = append(p.Layers, figure.Line{X: []float64{0.01}, Y: []float64{4}})
	if v, is := oneLevel(p); is {
		t.Error(v)
	}
	if q := logarithmic(p); !q.X.Log || q.Layers[1].(figure.Line).X[1] != math.Log(0.05) {
		t.Errorf("%+v", q)
	}
	for _, x := range [][]float64{{0.01, 0.05}, {0, 5}, {-1, 1}} {
		p.Layers = []figure.Layer{figure.Line{X: x, Y: x}}
		if q := logarithmic(p); q.X.Log || q.Layers[0].(figure.Line).X[0] != x[0] {
			t.Errorf("%+v", q)
		}
	}
}
