package figure

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// paths are the d of all paths of a canvas, with absolute lines and coordinates rounded to 0.1.
func paths(c *svgCanvas) (out []string) {
	c.flush()
	for _, found := range regexp.MustCompile(`<path d="([^"]*)"`).FindAllStringSubmatch(c.elements.String(), -1) {
		var x, y float64
		out = append(out, regexp.MustCompile(`[MAal][^MAalZ]*`).ReplaceAllStringFunc(found[1], func(part string) (d string) {
			rounded := func(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10+0, 'g', -1, 64) }
			var dx, dy float64
			switch {
			case part[0] == 'a':
				return part
			case part[0] == 'M':
				fmt.Sscanf(part, "M%g,%g", &x, &y)
				return "M" + rounded(x) + "," + rounded(y)
			}
			for _, to := range strings.Fields(part[1:]) {
				fmt.Sscanf(to, "%g,%g", &dx, &dy)
				x, y = x+dx, y+dy
				d += "L" + rounded(x) + "," + rounded(y)
			}
			return d
		}))
	}
	return out
}

// Shapes of layers in an area of 100 by 100 points, for coordinates from 0 to 10.
func TestShapesOfLayers(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		layer Layer
		want  string // paths
	}{
		{Bars{Edges: []float64{0, 1, 2, 3, 4}, Heights: []float64{3, 5, nan, 2}},
			"M0,0L0,30L10,30L10,50L20,50L20,0Z M0,0L0,30L10,30L10,50L20,50L20,0 " +
				"M30,0L30,20L40,20L40,0Z M30,0L30,20L40,20L40,0"},
		{Bars{Edges: []float64{1, 2}, Heights: []float64{0}}, "M10,0L20,0Z M10,0L20,0"},
		{Band{X: []float64{1, 2, 3, 4, 5}, Lo: []float64{1, 2, nan, 1, 2}, Hi: []float64{3, 4, 5, 6, 7}},
			"M10,10L20,20L20,40L10,30Z M40,10L50,20L50,70L40,60Z"},
		{Line{X: []float64{1, 2, 3, nan, 4, 5}, Y: []float64{1, 2, 1, 1, 1, 2}}, "M10,10L20,20L30,10M40,10L50,20"},
		{Line{X: []float64{1, 1.05, 1.1, 9}, Y: []float64{1, 1, 1.1, 1}}, "M10,10L11,11L90,10"}, // 0.5 points apart
		{Line{X: []float64{1, 1.05, nan, 1.2, 1.23}, Y: []float64{1, 1, 1, 1, 1}}, "M10,10L10.5,10M12,10L12.3,10"},
		{Line{X: []float64{1, 1.05, 9}, Y: []float64{1, 1, 1}}, "M10,10L90,10"},
		{Band{X: []float64{1, 1.05, 9}, Lo: make([]float64, 3), Hi: make([]float64, 3)}, "M10,0L90,0L10,0Z"},
		{Line{X: []float64{0, 0.06, 1}, Y: []float64{0, 0.1, 0}}, "M0,0L0.6,1L10,0"}, // just far enough
		{Band{X: []float64{0, 0.06, 0.11, 1}, Lo: make([]float64, 4), Hi: make([]float64, 4)}, "M0,0L10,0L0,0Z"},
		{Line{X: []float64{1, 1.03, 1.03}, Y: []float64{1, 1.06, 1}}, "M10,10L10.3,10.6L10.3,10"},
		{Line{X: []float64{8, 12}, Y: []float64{5, 9}}, "M80,50L100,70"}, // cut at the border
		{Intervals{X: []float64{2, nan}, Y: []float64{5, 1}, Lo: []float64{4, 1}, Hi: []float64{7, 2}},
			"M22.5,40L17.5,40M20,40L20,70M22.5,70L17.5,70 M22.6,50a2.6,2.6 0 1 1-5.2,0 2.6,2.6 0 1 1 5.2,0Z"},
		{Intervals{X: []float64{5}, Y: []float64{2}, Lo: []float64{4}, Hi: []float64{7}, Horizontal: true},
			"M40,22.5L40,17.5M40,20L70,20M70,22.5L70,17.5 M52.6,20a2.6,2.6 0 1 1-5.2,0 2.6,2.6 0 1 1 5.2,0Z"},
		{Mark{X: 5, Y: 2}, "M57,20a7,7 0 1 1-14,0 7,7 0 1 1 14,0Z M57,20a7,7 0 1 1-14,0 7,7 0 1 1 14,0Z"},
		{Mark{X: 5, Y: 11}, ""},
		{NumberGrid{X: []float64{2, 4}, Y: []float64{3, 5}, Z: [][]float64{{1, 1}, {1, nan}}},
			"M10,20L30,20L30,40L10,40ZM30,20L50,20L50,40L30,40ZM10,40L30,40L30,60L10,60Z " +
				"M30,20L30,40L10,40M10,40L10,20L30,20M50,20L50,40L30,40M30,40L30,20L50,20M30,40L30,60L10,60M10,60L10,40L30,40"},
	} {
		p, canvas := plot()
		c.layer.draw(p, lookOf(0, 1))
		if got := strings.Join(paths(canvas), " "); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.layer, got, c.want)
		}
	}
}

// The range of bars begins at 0, and has a margin at their ends.
func TestExtentOfBars(t *testing.T) {
	for _, c := range []struct {
		heights []float64
		want    span
	}{
		{[]float64{2, 20}, span{lo: 0, hi: 21, noMargin: true}}, {[]float64{-20, -2}, span{lo: -21, hi: 0, noMargin: true}},
		{[]float64{-20, math.NaN(), 40}, span{lo: -21, hi: 42, noMargin: true}},
	} {
		x, y := Bars{Edges: []float64{1, 2, 4, 5}[:len(c.heights)+1], Heights: c.heights}.extent()
		if x.lo != 1 || x.noMargin || y != c.want {
			t.Errorf("%v: %+v, %+v", c.heights, x, y)
		}
	}
}

// The samples of the legend, around a point.
func TestSamples(t *testing.T) {
	const dot = "M52.6,50a2.6,2.6 0 1 1-5.2,0 2.6,2.6 0 1 1 5.2,0Z"
	for _, c := range []struct {
		layer Layer
		want  string
	}{
		{Bars{}, "M36,46L36,54L64,54L64,46ZM36,46L36,54L64,54L64,46L36,46"},
		{Band{}, "M36,46L64,46L64,54L36,54Z"},
		{Line{}, "M36,50L64,50"},
		{Line{Markers: true}, "M36,50L64,50" + dot},
		{Points{}, dot},
		{Intervals{}, "M50,45L50,55" + dot},
		{Intervals{Horizontal: true}, "M36,50L64,50" + dot},
		{Contours{}, "M36,50L64,50"},
		{Mark{}, "M57,50a7,7 0 1 1-14,0 7,7 0 1 1 14,0ZM57,50a7,7 0 1 1-14,0 7,7 0 1 1 14,0Z"},
		{NumberGrid{}, ""},
	} {
		p, canvas := plot()
		c.layer.sample(p, point{X: 50, Y: 50}, lookOf(0, 1))
		if got := strings.Join(paths(canvas), ""); got != c.want {
			t.Errorf("%T: %s, want %s", c.layer, got, c.want)
		}
	}
}

// Points that would cover each other, within half a point, are drawn once, and all others.
func TestPointsThatCoverEachOther(t *testing.T) {
	for _, c := range []struct {
		x, y []float64 // unit: tenths of points
		want int
	}{
		{[]float64{500.5, 504.5}, []float64{300.5, 304.5}, 1}, {[]float64{500.5, 505.5}, []float64{300.5, 300.5}, 2},
		{[]float64{500.5, 500.5}, []float64{300.5, 305.5}, 2}, {[]float64{500.5, 530.5, 500.5}, []float64{300.5, 300.5, 300.5}, 2},
	} {
		l := Points{}
		for i := range c.x {
			l.X, l.Y = append(l.X, c.x[i]/100), append(l.Y, c.y[i]/100)
		}
		p, canvas := plot()
		l.draw(p, lookOf(0, 1))
		if got := strings.Count(strings.Join(paths(canvas), ""), "M"); got != c.want {
			t.Errorf("%+v: %d are drawn", c, got)
		}
	}
}

// The more points there are, the smaller they are.
func TestRadiusOfPoints(t *testing.T) {
	for n, want := range map[int]vg.Length{1: 2.6, 150: 2.6, 151: 2, 1000: 2, 1001: 1.4} {
		if got := (Points{X: make([]float64, n)}).radius(); got != want {
			t.Errorf("%d points have the radius %v, want %v", n, got, want)
		}
	}
	for n, want := range map[int]bool{150: true, 151: false} { // a rim around each
		p, canvas := plot()
		p.markers(lookOf(0, 1), slices.Repeat([]point{{X: 50, Y: 50}}, n), 2)
		canvas.flush()
		if got := strings.Contains(canvas.elements.String(), "stroke:"); got != want {
			t.Errorf("%d points have rims: %v", n, got)
		}
	}
}

// A line of few points has a marker on each of them; one of many has about one in each eighth of the width, and lines
// of different names have theirs at different places.
func TestMarkersOfLines(t *testing.T) {
	line := func(n int) Line {
		return Line{X: ramp(n, func(t float64) float64 { return 10 * t }), Y: make([]float64, n), Markers: true}
	}
	marks := func(l Line, index, of int) (at []float64) {
		p, canvas := plot()
		l.draw(p, look{index: index, of: of})
		for _, found := range regexp.MustCompile(`M([0-9.]+),0a`).FindAllStringSubmatch(strings.Join(paths(canvas), ""), -1) {
			v, _ := strconv.ParseFloat(found[1], 64)
			at = append(at, v-2.6)
		}
		return at
	}
	if got := marks(line(20), 1, 2); len(got) != 20 {
		t.Errorf("20 points have %d markers", len(got))
	}
	// The first of each eighth, among points that are 5 apart.
	if got := fmt.Sprintf("%.0f", marks(line(21), 0, 2)); got != "[0 15 25 40 50 65 75 90 100]" {
		t.Errorf("21 points have markers at %v", got)
	}
	for index, first := range []float64{0, 6.25} {
		got := marks(line(1601), index, 2)
		if len(got) < 8 || math.Abs(got[0]-first) > 0.1 {
			t.Errorf("line %d has markers at %v", index, got)
		}
		for i := 1; i < len(got); i++ {
			if d := got[i] - got[i-1]; math.Abs(d-12.5) > 0.3 {
				t.Errorf("line %d has markers %v apart", index, d)
			}
		}
	}
}

// The boundaries of cells are half-way between their points, and as far outside the first and the last.
func TestBoundsOfCells(t *testing.T) {
	for _, c := range []struct{ values, want []float64 }{
		{[]float64{1, 3, 4}, []float64{0, 2, 3.5, 4.5}}, {[]float64{1, 3}, []float64{0, 2, 4}}, {[]float64{7}, []float64{7}},
	} {
		if got := bounds(c.values); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
	l := NumberGrid{X: []float64{1, 3, 4}, Y: []float64{2, 6}}
	if x, y := l.extent(); x != (span{lo: 0, hi: 4.5, noMargin: true}) || y != (span{lo: 0, hi: 8, noMargin: true}) {
		t.Errorf("%+v, %+v", x, y)
	}
}

// lattice has points in the middle of n by m cells that fill 0 to 10, each with a number of its own.
func lattice(n, m int, number func(row, column int) float64) (l NumberGrid) {
	middle := func(n int) (at []float64) {
		for i := range n {
			at = append(at, 10*(float64(i)+0.5)/float64(n))
		}
		return at
	}
	l = NumberGrid{X: middle(n), Y: middle(m)}
	for i := range l.Y {
		var row []float64
		for j := range l.X {
			row = append(row, number(i, j))
		}
		l.Z = append(l.Z, row)
	}
	return l
}

// Every number is written if there is room, else a regular part of them, with the cell of the first mark; numbers keep
// to their cells, and are as large as these let them be.
func TestNumbersInTheirCells(t *testing.T) {
	text := regexp.MustCompile(`<text x="([^"]*)" y="([^"]*)" transform="[^"]*" style="font-size:([^"]*)px[^"]*">([^<]*)<`)
	for _, c := range []struct {
		n, m         int
		mark         point // place on the page
		digits       int
		stepX, stepY int
		row, column  int // cell of the mark
	}{
		{2, 2, point{}, 0, 1, 1, 0, 0},             // large cells
		{7, 15, point{}, 0, 1, 1, 0, 0},            // cells of 14 by 7
		{7, 16, point{X: 31, Y: 4}, 0, 1, 2, 0, 2}, // cells of 14 by 6.2, too low for 6 points with a gap
		// cells of 10 by 50, too narrow for five characters
		{10, 2, point{X: 74, Y: 99}, 1, 2, 1, 1, 7},
		{50, 50, point{X: 51, Y: 1}, 0, 6, 4, 0, 25},
		{50, 50, point{X: 1, Y: 51}, 0, 6, 4, 25, 0},
	} {
		l := lattice(c.n, c.m, func(i, j int) float64 { return 100 + float64(i)/100 + float64(j)/10000 })
		l.Digits = c.digits
		p, canvas := plot()
		for i := range l.Z {
			for j := range l.Z[i] {
				l.Z[i][j] = float64(100 + (i*50+j)%900)
			}
		}
		if c.mark != (point{}) {
			p.avoid = []point{c.mark, {X: 99, Y: 99}}
		}
		l.draw(p, look{})
		canvas.flush()
		found := text.FindAllStringSubmatch(canvas.elements.String(), -1)
		written := map[string]bool{}
		wide, high := 100/float64(c.n)*float64(c.stepX), 100/float64(c.m)*float64(c.stepY)
		for _, f := range found {
			x, _ := strconv.ParseFloat(f[1], 64)
			y, _ := strconv.ParseFloat(f[2], 64)
			size, _ := strconv.ParseFloat(f[3], 64)
			digits := textStyle{size: vg.Length(size)}
			width := digits.width(f[4]).Points()
			column, row := int((x+width/2)/100*float64(c.n)), int((-y+0.36*size)/100*float64(c.m))
			if want := Number(l.Z[row][column], c.digits); f[4] != want {
				t.Errorf("%+v: %s in row %d and column %d, want %s", c, f[4], row, column, want)
			}
			if (row-c.row)%c.stepY != 0 || (column-c.column)%c.stepX != 0 {
				t.Errorf("%+v: a number in row %d and column %d", c, row, column)
			}
			if size < leastText || size > 9 || width > wide || size > high {
				t.Errorf("%+v: %v wide and %v high in a place of %v by %v", c, width, size, wide, high)
			}
			if size < 8.99 && 1.3*width < wide && 1.06*size < high {
				t.Errorf("%+v: only %v wide and %v high in a place of %v by %v", c, width, size, wide, high)
			}
			written[fmt.Sprint(row, column)] = true
		}
		want := 0
		for i := range c.m {
			for j := range c.n {
				if (i-c.row)%c.stepY == 0 && (j-c.column)%c.stepX == 0 {
					want++
				}
			}
		}
		if len(found) != want || len(written) != want {
			t.Errorf("%+v: %d numbers in %d cells, want %d", c, len(found), len(written), want)
		}
	}
}

// A mark on numbers surrounds the number, and no more than its cell.
func TestMarksAroundNumbers(t *testing.T) {
	for _, c := range []struct {
		n, m   int
		number float64
		want   point // about
	}{
		{2, 2, 5, point{X: 6.3, Y: 6.3}}, {2, 2, 12345, point{X: 16.3, Y: 16.3}}, // half of its diagonal, and 2 points
		{2, 12, 12345, point{X: 14.6, Y: 4.6}}, {20, 2, 5, point{X: 2.75, Y: 5.8}}, // 11/20 of the cell
	} {
		l := lattice(c.n, c.m, func(i, j int) float64 { return c.number })
		p, _ := plot()
		l.draw(p, look{})
		if got := p.markRadii; math.Abs(float64(got.X-c.want.X)) > 0.1 || math.Abs(float64(got.Y-c.want.Y)) > 0.1 {
			t.Errorf("%+v: radii %v", c, got)
		}
	}
}

// The colours of all parts that are no curve: white, black, and greys, opaque or not.
func TestColoursOfTheRest(t *testing.T) {
	colours := func(svg string) string {
		var all []string
		for _, e := range elements(t, svg) {
			for _, found := range regexp.MustCompile(`(fill|stroke):#[0-9A-F]*(;(fill|stroke)-opacity:[^;]*)?`).FindAllString(e.style, -1) {
				_, colour, _ := strings.Cut(found, "#")
				all = append(all, e.name+" "+regexp.MustCompile(`;.*:`).ReplaceAllString(colour, " "))
			}
		}
		slices.Sort(all)
		return strings.Join(slices.Compact(all), ", ")
	}
	const axes = "path 000000 0.13333, path 222222, text 222222"
	f := bare()
	f.Title, f.Notes = "title", []string{"note"}
	if got, want := colours(svg(t, f)), axes+", text 555555"; got != want {
		t.Errorf("an empty figure has %s, want %s", got, want)
	}
	hill := [][]float64{{0, 0, 0}, {0, 10, 0}, {0, 0, 0}}
	for _, c := range []struct {
		layer Layer
		want  string
	}{
		{Line{X: []float64{0, 9}, Y: []float64{0, 9}}, "path 000000"},
		{Line{X: []float64{0, 9}, Y: []float64{0, 9}, Dashed: true}, "path 777777"},
		{Line{X: []float64{0, 9}, Y: []float64{0, 9}, Faint: true}, "path AAAAAA"},
		{Line{Name: "a", X: []float64{0, 9}, Y: []float64{0, 9}, Markers: true}, "path 0072B2, path FFFFFF"},
		{Points{X: []float64{2}, Y: []float64{2}, Hollow: true}, "path 000000, path FFFFFF"},
		{Band{Name: "a", X: []float64{0, 9}, Lo: []float64{0, 0}, Hi: []float64{9, 9}}, "path 0072B2 0.17647"},
		{Bars{Name: "a", Edges: []float64{0, 9}, Heights: []float64{5}}, "path 0072B2, path 0072B2 0.29804"},
		{Mark{Name: "a", X: 5, Y: 5}, "path 000000, path FFFFFF"},
		{Contours{X: []float64{0, 5, 10}, Y: []float64{0, 5, 10}, Z: hill, Levels: []float64{5}},
			"path " + hex(shade(0, 1))[1:] + ", path " + hex(shade(1, 1))[1:] + ", path 333333, path FFFFFF 0.6902"},
		{NumberGrid{X: []float64{2, 8}, Y: []float64{2, 8}, Z: [][]float64{{1, 1}, {1, 1}}},
			"path " + hex(shade(0, 0))[1:] + ", path FFFFFF"},
	} {
		want := strings.Split(axes+", "+c.want, ", ")
		slices.Sort(want)
		got := strings.ReplaceAll(colours(svg(t, bare(c.layer))), "path 000000 0.13333, ", "")
		if want := strings.ReplaceAll(strings.Join(slices.Compact(want), ", "), "path 000000 0.13333, ", ""); got != want {
			t.Errorf("%T has %s, want %s", c.layer, got, want)
		}
	}
}

// The legend has the names in one row if they fit, or else below each other, in as many equal columns as fit, all
// inside the page.
func TestLegendIsInsideThePage(t *testing.T) {
	text := regexp.MustCompile(`<text x="([^"]*)" y="([^"]*)" [^>]*>([^<]*)<`)
	for _, c := range []struct {
		names      []string
		rows, most int // most: names in one row
	}{
		{nil, 0, 0}, {[]string{"a"}, 1, 1}, {[]string{"a", "bbbb", "cc"}, 1, 3}, {strings.Fields(strings.Repeat("mmmmmm ", 4)), 1, 4},
		{strings.Fields(strings.Repeat("mmmmmm ", 5)), 2, 4}, {strings.Fields(strings.Repeat("mmmmmm ", 11)), 3, 4},
		{[]string{strings.Repeat("m", 50), "b", "c"}, 3, 1}, {[]string{"a", strings.Repeat("mm ", 33)}, 3, 1},
	} {
		canvas := &svgCanvas{stack: []state{{}}}
		p := &page{width: 460, depth: 100}
		f := Figure{}
		f.legend(p, func(Layer) look { return look{} }, c.names)
		if got, want := p.depth.Points(), 100+float64(c.rows)*(plain.line()+2).Points(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%q: %v deep, want %v", c.names, got, want)
		}
		p.depth = 0 // draw from the top
		p.draw(draw.Canvas{Canvas: canvas})
		canvas.flush()
		in := map[string]int{} // by row
		end := map[string]float64{}
		for _, found := range text.FindAllStringSubmatch(canvas.elements.String(), -1) {
			x, _ := strconv.ParseFloat(found[1], 64)
			y, _ := strconv.ParseFloat(found[2], 64)
			width := plain.width(found[3]).Points()
			in[found[2]]++
			if begin := x - half - 6 - half; begin < margin-1e-3 || x+width > 460-margin || begin < end[found[2]] {
				t.Errorf("%q: %s is from %v to %v, after %v", c.names, found[3], begin, x+width, end[found[2]])
			}
			if end[found[2]] = x + width; y < 100 || y > 100+float64(c.rows)*(plain.line()+2).Points() {
				t.Errorf("%q: %s is at %v", c.names, found[3], y)
			}
		}
		most := 0
		for _, n := range in {
			most = max(most, n)
		}
		if len(in) != c.rows || most != c.most {
			t.Errorf("%q: %d rows with up to %d names", c.names, len(in), most)
		}
	}
}
