package figure

import "slices"

// Intervals are points with a bar from Lo to Hi along Y (along X if Horizontal).
type Intervals struct {
	Name       string    `json:"name,omitempty"`
	X          []float64 `json:"x"`
	Y          []float64 `json:"y"`
	Lo         []float64 `json:"lo"`
	Hi         []float64 `json:"hi"`
	Horizontal bool      `json:"horizontal,omitempty"`
}

func (l Intervals) label() string { return l.Name }

func (l Intervals) extent() (x, y span) {
	ends := slices.Concat(l.Lo, l.Hi)
	if l.Horizontal {
		return spanOf(l.X, ends), spanOf(l.Y)
	}
	return spanOf(l.X), spanOf(l.Y, ends)
}

func (l Intervals) draw(p *pane, look look) {
	look.dashes = nil
	var places []point
	for i := range l.X {
		if at, ok := p.at(l.X[i], l.Y[i]); ok {
			places = append(places, at)
		}
		x0, y0, x1, y1 := l.X[i], l.Lo[i], l.X[i], l.Hi[i]
		across := point{X: 2.5}
		if l.Horizontal {
			x0, y0, x1, y1 = l.Lo[i], l.Y[i], l.Hi[i], l.Y[i]
			across = point{Y: 2.5}
		}
		from, ok1 := p.at(x0, y0)
		to, ok2 := p.at(x1, y1)
		if ok1 && ok2 {
			p.lines(look, []point{from.Add(across), from.Sub(across)}, []point{from, to},
				[]point{to.Add(across), to.Sub(across)})
		}
	}
	p.markers(look, places, 2.6)
}

func (l Intervals) sample(p *pane, at point, look look) {
	look.dashes = nil
	bar := point{Y: 5}
	if l.Horizontal {
		bar = point{X: half}
	}
	p.lines(look, []point{at.Sub(bar), at.Add(bar)})
	p.markers(look, []point{at}, 2.6)
}
