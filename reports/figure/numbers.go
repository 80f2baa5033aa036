package figure

import (
	"image/color"
	"math"
	"slices"
	"unicode/utf8"

	"gonum.org/v1/plot/vg"
)

// NumberGrid has cells around the points of a lattice, lighter for lower values, each with its
// number. NaN is a hole.
type NumberGrid struct {
	X []float64   `json:"x"` // columns, ascending
	Y []float64   `json:"y"` // rows, ascending
	Z [][]float64 `json:"z"` // Z[row][column]

	Digits int `json:"digits,omitempty"` // number of digits after the point
}

func (l NumberGrid) label() string { return "" }

func (l NumberGrid) extent() (x, y span) {
	x, y = spanOf(bounds(l.X)), spanOf(bounds(l.Y))
	x.noMargin, y.noMargin = true, true
	return x, y
}

// bounds are the boundaries of cells around values: one more than values.
func bounds(values []float64) []float64 {
	n := len(values)
	if n < 2 {
		return values
	}
	out := []float64{values[0] - (values[1]-values[0])/2}
	for i := 1; i < n; i++ {
		out = append(out, (values[i-1]+values[i])/2)
	}
	return append(out, values[n-1]+(values[n-1]-values[n-2])/2)
}

// draw fills the cells and writes every number if there is room, else a regular subset that
// includes the cell of the first mark.
func (l NumberGrid) draw(p *pane, _ look) {
	left, low := bounds(l.X), bounds(l.Y)
	if len(left) < 2 || len(low) < 2 {
		return
	}
	l.shades(p, left, low)
	characters := 1
	for _, v := range known(l.Z) {
		characters = max(characters, utf8.RuneCountInString(Number(v, l.Digits)))
	}
	const largest = 9
	em := 0.62 * vg.Length(characters) // width of the longest, with some room, relative to the font size
	wide := narrowest(left, func(x float64) vg.Length { at, _ := p.at(x, p.y.lo); return at.X }) / em
	high := narrowest(low, func(y float64) vg.Length { at, _ := p.at(p.x.lo, y); return at.Y }) / 1.05
	every := func(room vg.Length, n int) int {
		return int(min(max(1, math.Ceil(float64(p.least/room))), float64(n)))
	}
	stepX, stepY := every(wide, len(l.X)), every(high, len(l.Y))
	digits := plain
	digits.size = min(largest, wide*vg.Length(stepX), high*vg.Length(stepY))
	// around the longest number if there is room, else around its cell
	around := vg.Length(math.Hypot(float64(em), 0.72))/2*digits.size + 2
	cell := func(room vg.Length, step int) vg.Length { return 0.55 * room * vg.Length(step) }
	p.markRadii = point{X: min(around, cell(wide*em, stepX)), Y: min(around, cell(high*1.05, stepY))}
	i0, j0 := l.nearest(p)
	for i, y := range l.Y {
		for j, x := range l.X {
			spot, ok := p.at(x, y)
			if ok && (i-i0)%stepY == 0 && (j-j0)%stepX == 0 && Drawable(l.Z[i][j]) && p.Contains(spot) {
				digits.write(p.Canvas, point{X: spot.X, Y: spot.Y - 0.36*digits.size}, 0.5, Number(l.Z[i][j], l.Digits))
			}
		}
	}
}

// shades fills the cells, given their left and lower boundaries, with white rims.
func (l NumberGrid) shades(p *pane, left, low []float64) {
	var negated []float64
	for _, v := range known(l.Z) {
		negated = append(negated, -v)
	}
	at, _ := levels(negated)
	cells := make([][][]point, len(at)+1)
	for i, row := range l.Z {
		for j, v := range row {
			if !Drawable(v) {
				continue
			}
			from, _ := p.at(left[j], low[i])
			to, _ := p.at(left[j+1], low[i+1])
			k, reached := slices.BinarySearch(at, -v)
			if reached {
				k++
			}
			cells[k] = append(cells[k], []point{from, {X: to.X, Y: from.Y}, to, {X: from.X, Y: to.Y}})
		}
	}
	var rims [][]point
	for k, c := range cells {
		p.fill(shade(k, len(at)), c...)
		for _, corners := range c {
			rims = append(rims, corners[1:], []point{corners[3], corners[0], corners[1]})
		}
	}
	p.lines(look{colour: color.NRGBA{0xff, 0xff, 0xff, 0xff}, width: 0.5}, rims...)
}

// nearest is the row and the column of the point nearest to the first mark; 0 without marks.
func (l NumberGrid) nearest(p *pane) (row, column int) {
	least := math.Inf(1)
	for i, y := range l.Y {
		for j, x := range l.X {
			if spot, ok := p.at(x, y); ok && len(p.avoid) > 0 {
				if d := math.Hypot(float64(spot.X-p.avoid[0].X), float64(spot.Y-p.avoid[0].Y)); d < least {
					row, column, least = i, j, d
				}
			}
		}
	}
	return row, column
}

func (l NumberGrid) sample(*pane, point, look) {}

// narrowest is the smallest distance between neighbours on the page.
func narrowest(values []float64, place func(v float64) vg.Length) vg.Length {
	least := vg.Length(math.Inf(1))
	for i := 1; i < len(values); i++ {
		least = min(least, place(values[i])-place(values[i-1]))
	}
	return max(least, 0.1)
}
