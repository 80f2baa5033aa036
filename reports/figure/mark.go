package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

// Mark is a prominent symbol at one point: a best point, a start. On a NumberGrid it is as large as
// the number, at most as a cell.
type Mark struct {
	Name string  `json:"name"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

const markRadius = 7

// signs are the outlines of marks. The outlines with the most room inside come first.
var signs = []outline{circle, square, diamond, pyramid, triangle}

func (l Mark) label() string { return l.Name }

func (l Mark) extent() (x, y span) {
	x, y = spanOf([]float64{l.X}), spanOf([]float64{l.Y})
	x.margin, y.margin = true, true
	return x, y
}

func (l Mark) draw(p *pane, look look) {
	if at, ok := p.at(l.X, l.Y); ok && p.Contains(at) {
		l.outline(p, at, look, p.markRadii)
	}
}

func (l Mark) sample(p *pane, at point, look look) { l.outline(p, at, look, point{}) }

// outline draws an outline, black on white, a different one for each mark, with the radii along x
// and y; zero: markRadius.
func (l Mark) outline(p *pane, at point, look look, radius point) {
	if radius == (point{}) {
		radius = point{X: markRadius, Y: markRadius}
	}
	var path vg.Path
	signs[look.index%len(signs)].trace(&path, at, radius)
	for _, rim := range []struct {
		width  vg.Length
		colour color.Color
	}{{2.8, color.White}, {1.4, color.Black}} {
		p.style(rim.colour, rim.width, nil)
		p.Stroke(path)
	}
}
