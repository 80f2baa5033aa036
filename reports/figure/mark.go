package figure

import (
	"image/color"

	"gonum.org/v1/plot/vg"
)

// Mark is a prominent symbol at one point: a best point, a start. The first three of a figure have
// room for a number inside.
type Mark struct {
	Name string  `json:"name"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

const markRadius = 7

// signs are the outlines of marks; those with the most room inside come first.
var signs = []outline{circle, square, diamond, pyramid, triangle}

func (l Mark) label() string { return l.Name }

func (l Mark) extent() (x, y span) { return spanOf([]float64{l.X}), spanOf([]float64{l.Y}) }

func (l Mark) draw(p *pane, look look) {
	if at, ok := p.at(l.X, l.Y); ok && p.Contains(at) {
		l.sample(p, at, look)
	}
}

// sample draws an outline, black on white, a different one for each mark.
func (l Mark) sample(p *pane, at point, look look) {
	var path vg.Path
	signs[look.index%len(signs)].trace(&path, at, markRadius)
	for _, rim := range []struct {
		width  vg.Length
		colour color.Color
	}{{2.8, color.White}, {1.4, color.Black}} {
		p.style(rim.colour, rim.width, nil)
		p.Stroke(path)
	}
}
