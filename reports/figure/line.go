package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// Line joins points in their order.
type Line struct {
	// name in the legend; lines without a name are black, thin and not in the legend
	Name string    `json:"name,omitempty"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
	// markers on all points if they are few, else on some
	Markers bool `json:"markers,omitempty"`
	Dashed  bool `json:"dashed,omitempty"` // a line for comparison: a diagonal, chance
	Faint   bool `json:"faint,omitempty"`  // one of many lines without a name: grey
}

func (l Line) label() string       { return l.Name }
func (l Line) extent() (x, y span) { return spanOf(l.X), spanOf(l.Y) }

// line is the look of the line.
func (l Line) line(look look) look {
	if l.Faint {
		look.colour, look.width = color.NRGBA{0xaa, 0xaa, 0xaa, 0xff}, 0.6
	}
	if l.Dashed {
		look.colour, look.dashes, look.width = color.NRGBA{0x77, 0x77, 0x77, 0xff}, []vg.Length{3.5, 2.5}, 1
	}
	return look
}

func (l Line) draw(p *pane, look look) {
	look = l.line(look)
	var lines [][]point
	var line, marks []point
	next := p.Min.X + (p.Max.X-p.Min.X)/8*vg.Length(look.index)/vg.Length(look.of)
	for i, x := range l.X {
		at, ok := p.at(x, l.Y[i])
		if !ok {
			lines, line = append(lines, line), nil
			continue
		}
		if len(l.X) <= 20 || at.X >= next {
			marks = append(marks, at)
			next = max(next, at.X-(p.Max.X-p.Min.X)/8) + (p.Max.X-p.Min.X)/8
		}
		if n := len(line); n > 0 && i < len(l.X)-1 && Drawable(l.X[i+1]) &&
			math.Hypot(float64(at.X-line[n-1].X), float64(at.Y-line[n-1].Y)) < 0.6 {
			continue // too close to be distinguished
		}
		line = append(line, at)
	}
	p.lines(look, append(lines, line)...)
	if l.Markers {
		p.markers(look, marks, 2.6)
	}
}

func (l Line) sample(p *pane, at point, look look) {
	look = l.line(look)
	p.lines(look, []point{{X: at.X - half, Y: at.Y}, {X: at.X + half, Y: at.Y}})
	if l.Markers {
		p.markers(look, []point{at}, 2.6)
	}
}
