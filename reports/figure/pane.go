package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pane is the data area of a panel: a rectangle on the page with coordinates x and y.
type pane struct {
	draw.Canvas
	x, y      span
	down      bool      // y grows downwards
	least     vg.Length // minimum size of text
	avoid     []point   // points that labels avoid; marks come first
	points    []point   // points that labels should not cover
	markRadii point     // radii of marks along x and y; zero: markRadius
}

// half is half the width of a sample in the legend.
const half = 14

// within clips to a rectangle of the page.
func within(c draw.Canvas, lo, hi point) draw.Canvas {
	return draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: lo, Max: hi}}
}

// at is the point on the page for coordinates; ok is false if it cannot be drawn. Coordinates far
// outside stay finite.
func (p *pane) at(x, y float64) (at point, ok bool) {
	if !Drawable(x) || !Drawable(y) {
		return point{}, false
	}
	share := func(v float64, s span) float64 { return max(-1e3, min(1e3, (v-s.lo)/(s.hi-s.lo))) }
	up := share(y, p.y)
	if p.down {
		up = 1 - up
	}
	return point{X: p.X(share(x, p.x)), Y: p.Y(up)}, true
}

func (p *pane) style(c color.Color, width vg.Length, dashes []vg.Length) {
	p.SetLineStyle(draw.LineStyle{Color: c, Width: width, Dashes: dashes})
}

// lines draws the parts of lines in the data area as one path.
func (p *pane) lines(l look, lines ...[]point) {
	var path vg.Path
	for _, line := range p.ClipLinesXY(lines...) {
		path.Move(line[0])
		for _, at := range line[1:] {
			path.Line(at)
		}
	}
	if len(path) > 0 {
		p.style(l.colour, l.width, l.dashes)
		p.Stroke(path)
	}
}

// fill fills the parts of polygons in the data area as one path.
func (p *pane) fill(c color.Color, polygons ...[]point) {
	var path vg.Path
	for _, polygon := range polygons {
		for i, at := range p.ClipPolygonXY(polygon) {
			if i == 0 {
				path.Move(at)
			} else {
				path.Line(at)
			}
		}
		if len(path) > 0 {
			path.Close()
		}
	}
	if len(path) > 0 {
		p.SetColor(c)
		p.Fill(path)
	}
}

// markers draws the symbol of a look at points in the data area as one path.
func (p *pane) markers(l look, places []point, radius vg.Length) {
	var path vg.Path
	for _, at := range places {
		if p.Contains(at) {
			l.marker.trace(&path, at, point{X: radius, Y: radius})
		}
	}
	if len(path) == 0 {
		return
	}
	if !l.hollow {
		if len(places) <= 150 {
			p.style(color.White, 1, nil) // a rim that separates it from neighbours and from the background
			p.Stroke(path)
		}
		p.SetColor(l.colour)
		p.Fill(path)
		return
	}
	p.SetColor(color.White)
	p.Fill(path)
	p.style(l.colour, 1, nil)
	p.Stroke(path)
}

// tooltip adds a tooltip to a point, on a canvas that has tooltips.
func (p *pane) tooltip(at point, radius vg.Length, title string) {
	if c, can := p.Canvas.Canvas.(interface {
		tooltip(at point, radius vg.Length, title string)
	}); can {
		c.tooltip(at, radius, title)
	}
}

// rectangle is a rectangle around a point, given half its width and half its height.
func rectangle(at point, half, high vg.Length) []point {
	return []point{{X: at.X - half, Y: at.Y - high}, {X: at.X + half, Y: at.Y - high}, {X: at.X + half, Y: at.Y + high},
		{X: at.X - half, Y: at.Y + high}}
}
