package figure

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Contours are labelled level lines of Z over a rectangular lattice, with areas shaded by value.
// NaN is a hole. Contours with a name are lines only, in the look of that name.
type Contours struct {
	Name   string      `json:"name,omitempty"`
	X      []float64   `json:"x"`                // columns, ascending
	Y      []float64   `json:"y"`                // rows, ascending
	Z      [][]float64 `json:"z"`                // Z[row][column]
	Levels []float64   `json:"levels,omitempty"` // ascending; empty: round numbers, denser below the greatest value
	Bold   []float64   `json:"bold,omitempty"`   // the levels with bold lines
	Dashed bool        `json:"dashed,omitempty"` // with a name: lines for comparison
	Smooth bool        `json:"smooth,omitempty"` // interpolated between the points of the lattice
}

func (l Contours) label() string { return l.Name }

func (l Contours) extent() (x, y span) {
	x, y = spanOf(l.X), spanOf(l.Y)
	x.noMargin, y.noMargin = true, true
	return x, y
}

// draw fills the regions above the levels with ever lighter colours, and labels their boundaries if
// there is room, the upper ones first.
func (l Contours) draw(p *pane, named look) {
	at, labels := l.Levels, []string(nil)
	if l.Smooth {
		l.X, l.Y, l.Z = smooth(l.X, l.Y, l.Z)
	}
	for _, v := range at {
		labels = append(labels, strings.ReplaceAll(strconv.FormatFloat(v, 'g', 6, 64), "-", "−"))
	}
	if len(at) == 0 {
		at, labels = levels(known(l.Z))
	}
	places := make([][]point, len(at)) // points on the lines of each level, where its label may be
	thin := look{colour: color.NRGBA{0x33, 0x33, 0x33, 0xff}, width: 0.6}
	if l.Name != "" {
		thin = Line{Dashed: l.Dashed}.line(named)
	}
	for k, level := range slices.Concat([]float64{math.Inf(-1)}, at) {
		regions, lines := l.regions(p, level)
		if l.Name == "" {
			p.fill(shade(k, len(at)), regions...)
		}
		line := thin
		if slices.Contains(l.Bold, level) {
			line.width = 1.6
		}
		p.lines(line, lines...)
		for _, line := range lines {
			for i := 1; i < len(line); i++ {
				places[k-1] = append(places[k-1], line[i], line[i].Add(line[i-1]).Scale(0.5))
			}
		}
	}
	for k := len(at) - 1; k >= 0 && l.Name == ""; k-- {
		width := small.width(labels[k])
		if spot, ok := p.room(places[k], width/2); ok {
			p.avoid = append(p.avoid, spot)
			p.fill(color.NRGBA{0xff, 0xff, 0xff, 0xb0}, rectangle(spot, width/2+1, 4))
			small.write(p.Canvas, point{X: spot.X, Y: spot.Y - 0.36*small.size}, 0.5, labels[k])
		}
	}
}

// regions returns the polygons in which Z is at least the level. lines are the parts of their
// boundaries between corners of the lattice, at which Z equals the level.
func (l Contours) regions(p *pane, level float64) (regions, lines [][]point) {
	for _, loop := range outlines(l.Z, level) {
		region := make([]point, len(loop))
		for i, n := range loop {
			region[i] = l.place(p, n, level)
		}
		regions = append(regions, region)
		first := max(0, slices.IndexFunc(loop, func(n node) bool { return n.along == 0 }))
		var line []point
		for i := range len(loop) + 1 {
			if j := (first + i) % len(loop); loop[j].along != 0 {
				line = append(line, region[j])
			} else if len(line) > 0 {
				lines, line = append(lines, line), nil
			}
		}
		lines = append(lines, line)
	}
	return regions, lines
}

func (l Contours) sample(p *pane, at point, look look) { Line{Dashed: l.Dashed}.sample(p, at, look) }

// place is the position of a node on the page.
func (l Contours) place(p *pane, n node, level float64) point {
	at, _ := p.at(l.crossing(n, level))
	return at
}

// crossing returns the coordinates of a node: the place where the level crosses the edge of a cell.
func (l Contours) crossing(n node, level float64) (x, y float64) {
	x, y, from := l.X[n.j], l.Y[n.i], l.Z[n.i][n.j]
	switch n.along {
	case 'j':
		x += (level - from) / (l.Z[n.i][n.j+1] - from) * (l.X[n.j+1] - x)
	case 'i':
		y += (level - from) / (l.Z[n.i+1][n.j] - from) * (l.Y[n.i+1] - y)
	}
	return x, y
}

// room returns the point of a line that is farthest from the places to avoid; ok reports whether a
// label of the given half width fits there.
func (p *pane) room(line []point, half vg.Length) (where point, ok bool) {
	const clear = 16
	best := 0.0
	for _, at := range line {
		if at.X < p.Min.X+half+2 || at.X > p.Max.X-half-2 || at.Y < p.Min.Y+6 || at.Y > p.Max.Y-6 {
			continue
		}
		distance := math.Inf(1)
		// labels are wide
		away := func(from point) float64 { return math.Hypot(0.6*float64(at.X-from.X), float64(at.Y-from.Y)) }
		for _, b := range p.avoid {
			distance = min(distance, away(b))
		}
		for _, b := range p.points {
			distance = min(distance, 2*away(b))
		}
		if distance > best {
			where, best = at, distance
		}
	}
	return where, best > clear
}

// Levels are the levels that Contours of the values would have, for contours with a common scale.
func Levels(values []float64) []float64 {
	at, _ := levels(values)
	return at
}

// levels are the levels of contours of values, from the lowest to the highest: round numbers below
// the greatest value at growing distances (1, 2, 5, 10, … below it), as in GPML Figures 3.7 and
// 3.8. So they are dense where a surface is flat, around its maximum, and sparse on steep slopes.
func levels(values []float64) (at []float64, labels []string) {
	const most = 6
	if len(values) == 0 {
		return nil, nil
	}
	sorted := slices.Sorted(slices.Values(values))
	lowest, top := sorted[len(sorted)/20], sorted[len(sorted)-1] // no contours below the 5 % quantile
	if top-lowest <= max(1e-9*math.Abs(top), 1e-100) {
		return nil, nil // flat
	}
	for e := int(math.Floor(math.Log10(top - lowest))); len(at) < most; e-- {
		for _, step := range []struct{ below, round float64 }{{5, 5}, {2, 1}, {1, 0.5}} {
			unit := step.round * math.Pow10(e)
			level := math.Floor((top-step.below*math.Pow10(e))/unit+1e-9) * unit
			if level <= lowest || len(at) == most {
				continue
			}
			digits := max(0, -int(math.Floor(math.Log10(unit))))
			label := Number(level, digits)
			if digits > 0 && digits <= 6 {
				label = strings.TrimRight(strings.TrimRight(label, "0"), ".")
			}
			at, labels = append(at, level), append(labels, label)
		}
	}
	return at, labels
}

// node is a corner of a lattice, or the crossing of a level with the edge from that corner to the
// next one along i or j.
type node struct {
	i, j  int
	along byte // 0, 'i' or 'j'
}

// outlines returns the boundary of the region in which z is at least the level, as closed loops of
// nodes. z is interpolated linearly along the edges of the lattice; cells with a corner that cannot
// be drawn are left out. A cell with two opposite corners in the region connects them if its mean
// is in the region.
func outlines(z [][]float64, level float64) [][]node {
	type edge struct{ from, to node }
	var edges []edge
	boundary := map[edge]bool{}
	for i := 0; i+1 < len(z); i++ {
		for j := 0; j+1 < len(z[i]); j++ {
			for _, part := range cell(z, i, j, level) {
				for k, from := range part {
					e := edge{from, part[(k+1)%len(part)]}
					if back := (edge{e.to, e.from}); boundary[back] {
						delete(boundary, back) // both sides are in the region
						continue
					}
					boundary[e] = true
					edges = append(edges, e)
				}
			}
		}
	}
	next := map[node][]node{}
	for _, e := range edges {
		if boundary[e] {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	var loops [][]node
	for _, e := range edges {
		for len(next[e.from]) > 0 {
			var loop []node
			for at := e.from; len(next[at]) > 0; {
				loop = append(loop, at)
				to := next[at][0]
				next[at] = next[at][1:]
				at = to
			}
			loops = append(loops, loop)
		}
	}
	return loops
}

// cell returns the part of the region within a cell: no polygon, one, or two.
func cell(z [][]float64, i, j int, level float64) [][]node {
	corners := [4]node{{i, j, 0}, {i + 1, j, 0}, {i + 1, j + 1, 0}, {i, j + 1, 0}}
	crossings := [4]node{{i, j, 'i'}, {i + 1, j, 'j'}, {i, j + 1, 'i'}, {i, j, 'j'}} // after each corner
	var in [4]bool
	mean := 0.0
	for k, c := range corners {
		v := z[c.i][c.j]
		if !Drawable(v) {
			return nil
		}
		in[k] = v >= level
		mean += v / 4
	}
	var whole []node
	var apart [][]node
	for k, c := range corners {
		if in[k] {
			whole = append(whole, c)
			apart = append(apart, []node{crossings[(k+3)%4], c, crossings[k]})
		}
		if in[k] != in[(k+1)%4] {
			whole = append(whole, crossings[k])
		}
	}
	switch {
	case len(whole) == 0:
		return nil
	case len(whole) == 6 && mean < level: // opposite corners
		return apart
	}
	return [][]node{whole}
}

// viridis goes from dark to light with uniformly growing luminance, so that it is legible for
// colour-blind readers and in grey: Smith & van der Walt's map at 0, 1/8, … 1.
var viridis = [9][3]float64{
	{0x44, 0x01, 0x54}, {0x47, 0x2d, 0x7b}, {0x3b, 0x52, 0x8b}, {0x2c, 0x72, 0x8e}, {0x21, 0x91, 0x8c},
	{0x28, 0xae, 0x80}, {0x5e, 0xc9, 0x62}, {0xad, 0xdc, 0x30}, {0xfd, 0xe7, 0x25},
}

// shade is the k-th of the colours 0 … last, from worst to best: viridis, lightened so that black
// text is legible on it.
func shade(k, last int) color.NRGBA {
	const pale = 0.55
	place := float64(k) / float64(max(1, last)) * float64(len(viridis)-1)
	k = min(int(place), len(viridis)-2)
	var rgb [3]uint8
	for c := range rgb {
		v := viridis[k][c] + (place-float64(k))*(viridis[k+1][c]-viridis[k][c])
		rgb[c] = uint8(math.Round(v + pale*(255-v)))
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], 0xff}
}
