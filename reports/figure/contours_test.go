package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestLevels(t *testing.T) {
	ramp := func(lo, hi float64) (out []float64) {
		for i := range 101 {
			out = append(out, lo+(hi-lo)*float64(i)/100)
		}
		return out
	}
	for _, test := range []struct {
		values []float64
		want   string
	}{
		{ramp(0, 100), "50 80 90 95 98 99"},                 // 5 % and less are omitted, so 100 is too far below
		{ramp(-300, -90.4), "−200 −150 −120 −105 −100 −93"}, // 100, 50, 20, … nats below -90.4, rounded down
		{ramp(-0.2, 0.852), "0 0.6 0.75 0.8 0.83 0.84"},     // 0.5, 0.2, 0.1, … below 0.852
		{ramp(-3e-7, 5e-7), "0 3e−07 4e−07 4.5e−07 4.8e−07 4.9e−07"},
		{[]float64{3, 3, 3}, ""},
		{[]float64{1e6, 1e6 + 1e-6}, ""}, // flat up to rounding errors
	} {
		at, labels := levels(test.values)
		if got := strings.Join(labels, " "); got != test.want || len(at) != len(labels) {
			t.Errorf("%v … %v: levels %q, want %q", test.values[0], slices.Max(test.values), got, test.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		values := make([]float64, 2+r.IntN(100))
		scale, shift := math.Exp(10*r.NormFloat64()), math.Exp(5*r.NormFloat64())*r.NormFloat64()
		for i := range values {
			values[i] = shift + scale*r.NormFloat64()
		}
		at, _ := levels(values)
		for k, v := range at {
			if k > 0 && v <= at[k-1] || v >= slices.Max(values) {
				t.Fatalf("levels %v of values up to %v", at, slices.Max(values))
			}
		}
	}
}

// The region enclosed by the loops contains exactly the grid points whose value is at least the
// level. With a level of -∞ it is the whole grid.
func TestOutline(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 300 {
		nx, ny := 3+r.IntN(6), 3+r.IntN(6)
		z := make([][]float64, nx)
		for i := range z {
			z[i] = make([]float64, ny)
			for j := range z[i] {
				z[i][j] = float64(r.IntN(7)) // ties with the level are common
			}
		}
		if trial%3 == 0 {
			z[r.IntN(nx)][r.IntN(ny)] = math.NaN()
		}
		level := 3.0
		if trial%5 == 0 {
			level = 3.5
		}
		loops := outlines(z, level)
		at := func(n node) place {
			p := place{float64(n.i), float64(n.j)}
			switch n.along {
			case 'i':
				p.x += (level - z[n.i][n.j]) / (z[n.i+1][n.j] - z[n.i][n.j])
			case 'j':
				p.y += (level - z[n.i][n.j]) / (z[n.i][n.j+1] - z[n.i][n.j])
			}
			return p
		}
		for i := range nx - 2 {
			for j := range ny - 2 {
				i, j := i+1, j+1 // inner points
				unknown := false
				for di := -1; di <= 1; di++ {
					for dj := -1; dj <= 1; dj++ {
						unknown = unknown || math.IsNaN(z[i+di][j+dj])
					}
				}
				if unknown || z[i][j] == level {
					continue // on the boundary, or next to an unknown value
				}
				if got, want := winding(loops, at, place{float64(i), float64(j)}), z[i][j] >= level; got != 0 != want {
					t.Fatalf("%v: point %d, %d, level %v: winding number %v", z, i, j, level, got)
				}
			}
		}
	}
	square := [][]float64{{1, 2}, {3, 4}}
	if loops := outlines(square, math.Inf(-1)); len(loops) != 1 || len(loops[0]) != 4 {
		t.Errorf("all of a cell: %v", loops)
	}
	// Opposite corners are separate regions if the mean of the cell is below the level.
	for level, want := range map[float64]int{4: 1, 6: 2} {
		if got := len(outlines([][]float64{{10, 0}, {0, 10}}, level)); got != want {
			t.Errorf("level %v: %d regions, want %d", level, got, want)
		}
	}
	if loops := outlines([][]float64{{1, 2}, {3, math.NaN()}}, 0); loops != nil {
		t.Errorf("around an unknown point: %v", loops)
	}
}

type place struct{ x, y float64 }

// winding is the winding number of the loops around a point.
func winding(loops [][]node, at func(node) place, p place) int {
	angle := 0.0
	for _, loop := range loops {
		for k, n := range loop {
			a, b := at(n), at(loop[(k+1)%len(loop)])
			ax, ay, bx, by := a.x-p.x, a.y-p.y, b.x-p.x, b.y-p.y
			angle += math.Atan2(ax*by-ay*bx, ax*bx+ay*by)
		}
	}
	return int(math.Round(angle / (2 * math.Pi)))
}

// Worse values are darker, in grey too.
func TestShade(t *testing.T) {
	for last := 1; last < 12; last++ {
		before := -1.0
		for k := range last + 1 {
			c := shade(k, last)
			luminance := 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B)
			if luminance <= before || luminance < 110 {
				t.Errorf("colour %d of %d has luminance %v after %v", k, last, luminance, before)
			}
			before = luminance
		}
	}
}

// The level lines of a plane are straight, on any lattice, and enclose what is above them.
func TestLevelsOfAPlane(t *testing.T) {
	l := Contours{X: []float64{0, 1, 3, 4.5}, Y: []float64{-2, 0, 0.5}}
	for _, y := range l.Y {
		var row []float64
		for _, x := range l.X {
			row = append(row, 2*x-3*y+1)
		}
		l.Z = append(l.Z, row)
	}
	for _, level := range []float64{-0.25, 2.2, 7, 11} {
		crossings := 0
		for _, loop := range outlines(l.Z, level) {
			for _, n := range loop {
				x, y := l.crossing(n, level)
				if n.along == 0 && l.Z[n.i][n.j] < level {
					t.Errorf("level %v: the corner (%v, %v) is below it", level, x, y)
				}
				if n.along == 0 {
					continue
				}
				crossings++
				if v := 2*x - 3*y + 1; math.Abs(v-level) > 1e-12 {
					t.Errorf("level %v: (%v, %v) has %v", level, x, y, v)
				}
			}
		}
		if crossings < 2 {
			t.Errorf("level %v: %d crossings", level, crossings)
		}
	}
	for _, level := range []float64{-100, 100} {
		if loops := outlines(l.Z, level); (len(loops) == 1) != (level < 0) || len(loops) > 1 {
			t.Errorf("level %v: %d outlines", level, len(loops))
		}
	}
}
