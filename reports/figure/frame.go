package figure

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// frame is the layout of a panel: its data area with titles, ticks and labels.
type frame struct {
	Panel
	pane
	width, height vg.Length // size of the data area
	title         []string
	xLabel        []string
	yLabel        []string
	xAt, yAt      []float64
	xTicks        [][]string // lines
	yTicks        [][]string
	turned        bool // the labels along x are vertical
}

const tick = 3.5 // length

func newFrame(panel Panel, width vg.Length) *frame {
	f := &frame{Panel: panel, height: min(225, 0.8*width)}
	var xs, ys []span
	for _, l := range panel.Layers {
		x, y := l.extent()
		xs, ys = append(xs, x), append(ys, y)
	}
	f.pane.x, f.pane.y = panel.X.shown(xs), panel.Y.shown(ys)
	if n := len(panel.Y.Names); n > 0 {
		f.down = true
		lines := 1
		for i, name := range panel.Y.Names {
			f.yAt, f.yTicks = append(f.yAt, float64(i)), append(f.yTicks, small.wrap(name, 0.42*width, 3))
			lines = max(lines, len(f.yTicks[i]))
		}
		f.height = vg.Length(n) * (vg.Length(lines)*small.line() + 6)
	} else {
		at, labels := panel.Y.ticks(f.pane.y, 7)
		f.yAt = at
		for _, l := range labels {
			f.yTicks = append(f.yTicks, []string{l})
		}
	}
	f.yLabel = plain.wrap(panel.Y.Label, f.height+40, 2)
	return f
}

// shown is the range of an axis, given the ranges of its layers.
func (a Axis) shown(spans []span) span {
	if n := len(a.Names); n > 0 {
		return span{lo: -0.5, hi: float64(n) - 0.5}
	}
	if a.Lo < a.Hi && Drawable(a.Lo) && Drawable(a.Hi) {
		return span{lo: a.Lo, hi: a.Hi}
	}
	return union(spans)
}

// ticks returns the places and labels of at most most ticks of the axis over a range.
func (a Axis) ticks(s span, most int) (at []float64, labels []string) {
	if a.Log {
		return s.logTicks(most)
	}
	return s.ticks(most)
}

// left is the width of everything left of the data area.
func (f *frame) left() vg.Length {
	var widest vg.Length
	for _, lines := range f.yTicks {
		widest = max(widest, small.widest(lines))
	}
	return widest + tick + 7 + vg.Length(len(f.yLabel))*plain.line()
}

// fit sets the width of the data area, leaving room for the labels to its right. It also sets the
// height of a square data area.
func (f *frame) fit(width, highest vg.Length) {
	const right = 8
	f.width = width - right
	if ratio := vg.Length((f.pane.y.hi - f.pane.y.lo) / (f.pane.x.hi - f.pane.x.lo)); f.Square {
		f.height = min(f.width*ratio, highest)
		f.width = f.height / ratio
	}
	f.title = heading.wrap(f.Panel.Title, width, 2)
	f.xLabel = plain.wrap(f.Panel.X.Label, f.width+right, 2)
	if len(f.Panel.X.Names) > 0 {
		f.nameX()
		return
	}
	for most := 9; most >= 2; most-- {
		at, labels := f.Panel.X.ticks(f.pane.x, most)
		f.xAt, f.xTicks = at, nil
		var sum vg.Length
		for _, l := range labels {
			f.xTicks = append(f.xTicks, []string{l})
			sum += small.width(l) + 7
		}
		if sum <= f.width {
			return
		}
	}
}

// nameX labels the ticks along x with names: horizontally if they fit, else vertically.
func (f *frame) nameX() {
	names := f.Panel.X.Names
	slot := f.width / vg.Length(len(names))
	for i, name := range names {
		lines := small.wrap(name, slot-4, 3)
		f.xAt, f.xTicks = append(f.xAt, float64(i)), append(f.xTicks, lines)
		f.turned = f.turned || strings.Contains(strings.Join(lines, " "), "…")
	}
	if !f.turned {
		return
	}
	step := max(1, int(small.line()/slot+0.999)) // the others do not fit
	f.xAt, f.xTicks = nil, nil
	for i := 0; i < len(names); i += step {
		f.xAt, f.xTicks = append(f.xAt, float64(i)), append(f.xTicks, []string{small.cut(names[i], 130)})
	}
}

// above is the height above the data area.
func (f *frame) above() vg.Length {
	const room = 7
	return vg.Length(len(f.title))*heading.line() + room
}

// below is the height of the data area and of everything below it.
func (f *frame) below() vg.Length {
	return f.height + f.ticksHeight() + vg.Length(len(f.xLabel))*plain.line()
}

func (f *frame) ticksHeight() (h vg.Length) {
	for _, lines := range f.xTicks {
		if f.turned {
			h = max(h, small.widest(lines))
		} else {
			h = max(h, vg.Length(len(lines))*small.line())
		}
	}
	return h + tick + 3
}

// draw draws the panel with the upper left corner of its data area at a point.
func (f *frame) draw(c draw.Canvas, at point, looks func(Layer) look) {
	p := &f.pane
	p.Canvas = within(c, point{X: at.X, Y: at.Y - f.height}, point{X: at.X + f.width, Y: at.Y})
	place := func(x, y float64) point { at, _ := p.at(x, y); return at }
	var grid, ticks [][]point
	for i, v := range f.xAt {
		at := point{X: place(v, p.y.lo).X, Y: p.Min.Y}
		grid = append(grid, []point{at, {X: at.X, Y: p.Max.Y}})
		ticks = append(ticks, []point{at, {X: at.X, Y: at.Y - tick}})
		if f.turned {
			small.turned(c, point{X: at.X - small.line()/2, Y: at.Y - tick - 3}, 1, f.xTicks[i])
		} else {
			small.block(c, point{X: at.X, Y: at.Y - tick - 1}, 0.5, f.xTicks[i])
		}
	}
	for i, v := range f.yAt {
		at := point{X: p.Min.X, Y: place(p.x.lo, v).Y}
		grid = append(grid, []point{at, {X: p.Max.X, Y: at.Y}})
		ticks = append(ticks, []point{at, {X: at.X - tick, Y: at.Y}})
		small.block(c, point{X: at.X - tick - 3, Y: at.Y + vg.Length(len(f.yTicks[i]))*small.line()/2}, 1, f.yTicks[i])
	}
	p.lines(look{colour: color.NRGBA{0, 0, 0, 0x22}, width: 0.5}, grid...)
	for _, l := range f.Layers {
		switch l := l.(type) {
		case Mark:
			if at, ok := p.at(l.X, l.Y); ok {
				p.avoid = append(p.avoid, at)
			}
		case Points:
			for i := range min(len(l.X), 1000) {
				if at, ok := p.at(l.X[i], l.Y[i]); ok {
					p.points = append(p.points, at)
				}
			}
		}
	}
	for _, l := range f.Layers {
		l.draw(p, looks(l))
	}
	edge := pane{Canvas: within(c, p.Min.Sub(point{X: 9, Y: 9}), p.Max.Add(point{X: 9, Y: 9}))}
	edge.lines(look{colour: color.NRGBA{0x22, 0x22, 0x22, 0xff}, width: 0.75},
		append(ticks, []point{p.Min, {X: p.Max.X, Y: p.Min.Y}, p.Max, {X: p.Min.X, Y: p.Max.Y}, p.Min})...)
	middle := point{X: (p.Min.X + p.Max.X) / 2, Y: (p.Min.Y + p.Max.Y) / 2}
	heading.block(c, point{X: middle.X, Y: p.Max.Y + f.above()}, 0.5, f.title)
	plain.block(c, point{X: middle.X, Y: p.Min.Y - f.ticksHeight()}, 0.5, f.xLabel)
	plain.turned(c, point{X: p.Min.X - f.left(), Y: middle.Y}, 0.5, f.yLabel)
}
