package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/cv"
)

// coordinate is one of the two hyperparameters of a lattice.
type coordinate struct {
	label  string
	values []float64 // as drawn, ascending: natural logarithms, unless some are not positive
}

// lattice is a grid of points over two hyperparameters.
type lattice struct {
	across, up coordinate
	point      [][]int // [i][j]: index into Grid of the point at across.values[i], up.values[j]; -1 if there is none
}

// latticeOf finds the lattice of points, as far as they have a value, that differ in exactly two hyperparameters and
// fill at least half of what these span, which random points do not. across is the one that changes more slowly.
func latticeOf(grid []GridPoint) (l lattice, ok bool) {
	var at []int
	for i, p := range grid {
		if len(p.Point) > 0 && drawable(p.value()) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return l, false
	}
	type column struct {
		coordinate
		place   []int // of every point
		changes int
	}
	var columns []column
	for k, value := range grid[at[0]].Point {
		c := column{coordinate: coordinate{label: "ln " + value.Name}}
		for _, i := range at {
			c.values = append(c.values, float64(grid[i].Point[k].Number))
		}
		if slices.ContainsFunc(c.values, func(v float64) bool { return !drawable(v) }) {
			return l, false
		}
		if slices.Min(c.values) > 0 {
			for i, v := range c.values {
				c.values[i] = math.Log(v)
			}
		} else {
			c.label = value.Name
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(c.values)))
		for i, v := range c.values {
			place, _ := slices.BinarySearch(distinct, v)
			if i > 0 && place != c.place[i-1] {
				c.changes++
			}
			c.place = append(c.place, place)
		}
		if c.values = distinct; len(distinct) > 1 {
			columns = append(columns, c)
		}
	}
	if len(columns) != 2 || len(columns[0].values)*len(columns[1].values) > 2*len(at) {
		return l, false
	}
	slices.SortStableFunc(columns, func(a, b column) int { return a.changes - b.changes })
	across, up := columns[0], columns[1]
	l = lattice{across: across.coordinate, up: up.coordinate}
	for range across.values {
		l.point = append(l.point, slices.Repeat([]int{-1}, len(up.values)))
	}
	for k, i := range at {
		l.point[across.place[k]][up.place[k]] = i
	}
	return l, true
}

// find is the place of a point in the lattice.
func (l lattice) find(point int) (i, j int) {
	for i := range l.point {
		if j := slices.Index(l.point[i], point); j >= 0 {
			return i, j
		}
	}
	return -1, -1
}

// lattice draws the tuning objective and two scores over the lattice, side by side, as far as they are known.
func (d *drawing) lattice(c Configuration, l lattice, n naming) {
	objective, unit := strings.ReplaceAll(c.Objective, "_", " "), "nats"
	if s, err := cv.ScoreNamed(strings.TrimPrefix(c.Objective, "cv_")); err == nil {
		unit = s.Unit
	}
	scores := ""
	if len(c.Evaluations) > 0 {
		scores = fmt.Sprintf("scores of %s, %d cases", c.Evaluations[0].Name, c.Scores.N)
	}
	d.section(n.heading, n.note, fmt.Sprintf("%d training cases, %d inputs", c.Cases, c.Inputs), scores)
	d.line("note", 10, "+ or □: best of the panel; ○: best "+objective)
	d.bottom += 6
	const height = 304
	column := 0
	for _, panel := range []struct {
		by, title string
		digits    int
		value     func(GridPoint) (float64, bool)
		draw      func(s surface, d *drawing, best, chosen int)
	}{
		{c.Objective, fmt.Sprintf("%s (%s)", objective, unit), 2, func(p GridPoint) (float64, bool) { return p.value(), true }, surface.contours},
		{"information_bits", "test information (bits per case)", 3, func(p GridPoint) (float64, bool) { return p.Scores.Get("information_bits") }, surface.contours},
		{"errors", "errors (cases)", 0, func(p GridPoint) (float64, bool) { return p.Scores.Get("errors") }, surface.numbers},
	} {
		s := surface{lattice: l, frame: frame{title: panel.title, x: newAxis(l.across.label, l.across.values, 0), y: newAxis(l.up.label, l.up.values, 0)}}
		for i := range l.point {
			s.z = append(s.z, slices.Repeat([]float64{math.NaN()}, len(l.point[i])))
			for j, p := range l.point[i] {
				if p < 0 {
					continue
				}
				if v, ok := panel.value(c.Grid[p]); ok && drawable(v) {
					s.z[i][j] = v
				}
			}
		}
		if len(s.known()) == 0 {
			continue
		}
		best, chosen := -1, -1
		for _, b := range c.Best {
			if b.By == c.Objective {
				chosen = b.Point
			}
			if b.By == panel.by {
				best = b.Point
				s.title += ", best " + number(float64(b.Value), panel.digits)
			}
		}
		s.place(d, column, 3, height)
		panel.draw(s, d, best, chosen)
		column++
	}
	d.bottom += height
}

// surface is a function on a lattice, drawn in a frame.
type surface struct {
	lattice
	frame
	z [][]float64 // NaN: unknown
}

// known lists the known values.
func (s surface) known() (out []float64) {
	for _, column := range s.z {
		for _, v := range column {
			if !math.IsNaN(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// contours fills the bands between levels, labels the lines, the upper ones first, where there is room, and marks points.
func (s surface) contours(d *drawing, best, chosen int) {
	at, labels := levels(s.known())
	lines := make([][]spot, len(at))
	for k, level := range slices.Concat([]float64{math.Inf(-1)}, at) {
		var b strings.Builder
		for _, loop := range outline(s.z, level) {
			for i, n := range loop {
				p := s.spot(n, level)
				fmt.Fprintf(&b, "%c%s %s", "ML"[min(i, 1)], px(p.x), px(p.y))
				if n.along != 0 {
					lines[k-1] = append(lines[k-1], p)
				}
			}
			b.WriteByte('Z')
		}
		if b.Len() > 0 {
			d.path("contour", fmt.Sprintf("fill=%q", shade(k, len(at))), b.String())
		}
	}
	var taken []spot
	for _, point := range []int{best, chosen} {
		if i, j := s.find(point); i >= 0 {
			taken = append(taken, s.spot(node{i, j, 0}, 0))
		}
	}
	s.draw(d)
	for k := len(lines) - 1; k >= 0; k-- {
		if p, ok := s.room(lines[k], taken, textWidth(labels[k])/2); ok {
			taken = append(taken, p)
			d.text("level", p.x, p.y+4, labels[k])
		}
	}
	if i, j := s.find(best); i >= 0 {
		p := s.spot(node{i, j, 0}, 0)
		cross := fmt.Sprintf("M%s %sh12m-6-6v12", px(p.x-6), px(p.y))
		d.path("rim", "", cross)
		d.path("best", "", cross)
	}
	if i, j := s.find(chosen); i >= 0 {
		s.ring(d, s.spot(node{i, j, 0}, 0))
	}
}

// ring marks the point of the best objective.
func (s surface) ring(d *drawing, p spot) {
	d.path("best", "", fmt.Sprintf("M%s %sa8 8 0 1 0 16 0a8 8 0 1 0-16 0Z", px(p.x-8), px(p.y)))
}

// spot is a place on the page.
type spot struct{ x, y float64 }

// spot is the place of a node.
func (s surface) spot(n node, level float64) spot {
	from := s.z[n.i][n.j]
	p := spot{s.x.at(s.across.values[n.i]), s.y.at(s.up.values[n.j])}
	switch n.along {
	case 'x':
		p.x += (level - from) / (s.z[n.i+1][n.j] - from) * (s.x.at(s.across.values[n.i+1]) - p.x)
	case 'y':
		p.y += (level - from) / (s.z[n.i][n.j+1] - from) * (s.y.at(s.up.values[n.j+1]) - p.y)
	}
	return p
}

// room finds the point of a line that is farthest from what is taken, and says if a label of the given half width fits.
func (s surface) room(line, taken []spot, half float64) (where spot, ok bool) {
	const clear = 22
	best := 0.0
	for _, p := range line {
		if p.x < s.x.from+half+2 || p.x > s.x.to-half-2 || p.y > s.y.from-9 || p.y < s.y.to+9 {
			continue
		}
		distance := math.Inf(1)
		for _, t := range taken {
			distance = min(distance, math.Hypot(0.6*(p.x-t.x), p.y-t.y)) // labels are wide
		}
		if distance > best {
			where, best = p, distance
		}
	}
	return where, best > clear
}

// numbers writes the values, as large as fits, on cells that are lighter the lower they are. Where not all fit it leaves
// out every second, or more, but not the best.
func (s surface) numbers(d *drawing, best, chosen int) {
	xs, ys := s.across.values, s.up.values
	s.x, s.y = s.x.widened(xs), s.y.widened(ys)
	left, down := s.x.bounds(xs), s.y.bounds(ys)
	var negated []float64
	characters := 1
	for _, v := range s.known() {
		negated = append(negated, -v)
		characters = max(characters, utf8.RuneCountInString(number(v, 0)))
	}
	const smallest, largest = 7.5, 12
	em := float64(characters) * 0.65                      // width of the longest with some room, per pixel of its size
	wide, high := narrowest(left)/em, narrowest(down)/1.1 // sizes that fit
	stepX, stepY := min(math.Ceil(smallest/wide), float64(len(xs))), min(math.Ceil(smallest/high), float64(len(ys)))
	size := min(largest, wide*stepX, high*stepY)
	at, _ := levels(negated)
	i0, j0 := s.find(best)
	square := func(i, j int, rim float64) string {
		return fmt.Sprintf("M%s %sH%sV%sH%sZ", px(left[i]-rim), px(down[j]+rim), px(left[i+1]+rim), px(down[j+1]-rim), px(left[i]-rim))
	}
	for i, column := range s.z {
		for j, v := range column {
			if math.IsNaN(v) {
				continue
			}
			better, _ := slices.BinarySearch(at, -v)
			d.path("cell", fmt.Sprintf("fill=%q", shade(better, len(at))), square(i, j, 0))
			if (i-i0)%int(stepX) == 0 && (j-j0)%int(stepY) == 0 {
				p := s.spot(node{i, j, 0}, 0)
				fmt.Fprintf(&d.body, "<text class=\"count\" style=\"font-size:%spx\" x=%q y=%q>%s</text>\n", px(size), px(p.x), px(p.y+0.36*size), number(v, 0))
			}
		}
	}
	s.draw(d)
	if i0 >= 0 {
		d.path("best", "", square(i0, j0, 1))
	}
	if i, j := s.find(chosen); i >= 0 {
		s.ring(d, s.spot(node{i, j, 0}, 0))
	}
}

// narrowest is the smallest distance of neighbours.
func narrowest(pixels []float64) float64 {
	least := math.Inf(1)
	for i := 1; i < len(pixels); i++ {
		least = min(least, math.Abs(pixels[i]-pixels[i-1]))
	}
	return least
}

// bounds are the pixels of the bounds of cells around values: one more than there are values.
func (a axis) bounds(values []float64) []float64 {
	out := []float64{a.from}
	for i := 1; i < len(values); i++ {
		out = append(out, a.at((values[i-1]+values[i])/2))
	}
	return append(out, a.to)
}

// widened makes room for cells around values.
func (a axis) widened(values []float64) axis {
	a.lo -= (values[1] - values[0]) / 2
	a.hi += (values[len(values)-1] - values[len(values)-2]) / 2
	return a
}
