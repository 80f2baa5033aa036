package figure

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
					continue // the point is on the boundary, or next to an unknown value
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
	for level, want := range map[float64]int{4.9: 1, 5: 1, 5.1: 2} {
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

// plot is a data area of 100 by 100 points for coordinates from 0 to 10, with what is drawn in it.
func plot() (*pane, *svgCanvas) {
	c := &svgCanvas{stack: []state{{}}}
	area := draw.Canvas{Canvas: c, Rectangle: vg.Rectangle{Max: point{X: 100, Y: 100}}}
	return &pane{Canvas: area, x: span{lo: 0, hi: 10}, y: span{lo: 0, hi: 10}, least: leastText}, c
}

// The lines of a level are between the borders of the lattice; the boundary at a border, or around
// a hole, is no line.
func TestLinesOfALevel(t *testing.T) {
	p, _ := plot()
	l := Contours{X: []float64{0, 2, 4, 6, 8}, Y: []float64{0, 5, 10}}
	for range l.Y {
		l.Z = append(l.Z, []float64{0, 10, 0, 10, 0}) // two ridges
	}
	verticals := func(lines [][]point) (all []string) {
		for _, line := range lines {
			if len(line) == 0 {
				continue
			}
			lo, hi := line[0], line[0]
			for _, at := range line {
				lo, hi = point{X: min(lo.X, at.X), Y: min(lo.Y, at.Y)}, point{X: max(hi.X, at.X), Y: max(hi.Y, at.Y)}
			}
			all = append(all, fmt.Sprintf("%.0f to %.0f from %.0f to %.0f", lo.X, hi.X, lo.Y, hi.Y))
		}
		slices.Sort(all)
		return all
	}
	regions, lines := l.regions(p, 5)
	want := []string{"10 to 10 from 0 to 100", "30 to 30 from 0 to 100", "50 to 50 from 0 to 100", "70 to 70 from 0 to 100"}
	if got := verticals(lines); len(regions) != 2 || !slices.Equal(got, want) {
		t.Errorf("%d regions, lines %q, want %q", len(regions), got, want)
	}
	if regions, lines := l.regions(p, math.Inf(-1)); len(regions) != 1 || len(verticals(lines)) != 0 {
		t.Errorf("everything: %d regions, lines %q", len(regions), verticals(lines))
	}
	hill := Contours{X: []float64{0, 5, 10}, Y: []float64{0, 5, 10}, Z: [][]float64{{0, 0, 0}, {0, 10, 0}, {0, 0, 0}}}
	if _, lines := hill.regions(p, 5); len(lines) != 1 || len(lines[0]) < 5 || lines[0][0] != lines[0][len(lines[0])-1] {
		t.Errorf("the line around a hill is not closed: %v", lines)
	}
	hill.Z[0][0] = math.NaN()
	if _, lines := hill.regions(p, 5); len(verticals(lines)) != 1 || len(lines[0]) != 4 {
		t.Errorf("the line around a hill, except beside a hole: %v", lines)
	}
}

// A label stands at the place of the line with the most room, and nowhere if there is no room.
func TestRoomForLabels(t *testing.T) {
	line := []point{{X: 11, Y: 50}, {X: 30, Y: 50}, {X: 50, Y: 50}, {X: 60, Y: 50}, {X: 89, Y: 50}}
	for _, c := range []struct {
		busy, points []point
		half         vg.Length
		want         string
	}{
		{[]point{{X: 90, Y: 50}}, nil, 10, "30 50 true"},
		{[]point{{X: 90, Y: 50}}, nil, 8, "11 50 true"},
		{[]point{{X: 5, Y: 50}}, nil, 10, "60 50 true"},
		{[]point{{X: 5, Y: 50}, {X: 90, Y: 50}}, nil, 10, "50 50 true"},
		{nil, []point{{X: 5, Y: 50}, {X: 90, Y: 50}}, 10, "50 50 true"}, // half as far is enough from points
		{[]point{{X: 30, Y: 70}}, []point{{X: 50, Y: 50}}, 10, "30 50 true"},
		{[]point{{X: 40, Y: 50}}, nil, 29, "60 50 false"},
		{[]point{{X: 40, Y: 50}}, nil, 60, "0 0 false"},
	} {
		p, _ := plot()
		p.avoid, p.points = c.busy, c.points
		where, ok := p.room(line, c.half)
		if got := fmt.Sprintf("%.0f %.0f %v", where.X, where.Y, ok); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for y, want := range map[vg.Length]bool{5.9: false, 6.1: true, 93.9: true, 94.1: false} {
		p, _ := plot()
		if _, ok := p.room([]point{{X: 50, Y: y}}, 10); ok != want {
			t.Errorf("a label at the height %v: %v", y, ok)
		}
	}
}

// The colours equal the ones that their authors have published: viridis at every eighth (in
// matplotlib), and the palette of Okabe & Ito (Color Universal Design, 2008) as red, green and
// blue.
func TestPublishedColours(t *testing.T) {
	var got []string
	for _, c := range viridis {
		got = append(got, fmt.Sprintf("#%02x%02x%02x", int(c[0]), int(c[1]), int(c[2])))
	}
	want := "#440154 #472d7b #3b528b #2c728e #21918c #28ae80 #5ec962 #addc30 #fde725"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	got = nil
	for _, c := range colours {
		got = append(got, fmt.Sprint(c.R, c.G, c.B, c.A))
	}
	want = "0 114 178 255, 213 94 0 255, 0 158 115 255, 204 121 167 255, 0 0 0 255, 230 159 0 255, 86 180 233 255"
	if strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if first, last := shade(0, 8), shade(8, 8); first != (color.NRGBA{171, 141, 178, 255}) ||
		last != (color.NRGBA{254, 244, 157, 255}) || shade(0, 0) != first { // 45 % of the colours, 55 % white
		t.Errorf("%v to %v", first, last)
	}
	if middle := shade(1, 2); middle != shade(4, 8) {
		t.Errorf("the middle is %v and %v", middle, shade(4, 8))
	}
}
