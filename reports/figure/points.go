package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// Points are unconnected points, distinguished by colour and symbol.
type Points struct {
	Name   string    `json:"name,omitempty"`
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Hollow bool      `json:"hollow,omitempty"`
	Titles []string  `json:"titles,omitempty"` // tooltips of the points in SVG
}

func (l Points) label() string       { return l.Name }
func (l Points) extent() (x, y span) { return spanOf(l.X), spanOf(l.Y) }

func (l Points) draw(p *pane, look look) {
	look.hollow = look.hollow != l.Hollow
	var places []point
	taken := map[[2]int]bool{} // points that would cover each other are drawn once
	for i, x := range l.X {
		if at, ok := p.at(x, l.Y[i]); ok {
			cell := [2]int{int(math.Floor(2 * at.X.Points())), int(math.Floor(2 * at.Y.Points()))}
			if !taken[cell] {
				taken[cell], places = true, append(places, at)
			}
		}
	}
	p.markers(look, places, l.radius())
	for i, title := range l.Titles {
		if at, ok := p.at(l.X[i], l.Y[i]); ok && p.Contains(at) {
			p.tooltip(at, l.radius()+1, title)
		}
	}
}

// radius is smaller if there are many points.
func (l Points) radius() vg.Length {
	switch n := len(l.X); {
	case n > 1000:
		return 1.4
	case n > 150:
		return 2
	}
	return 2.6
}

func (l Points) sample(p *pane, at point, look look) {
	look.hollow = look.hollow != l.Hollow
	p.markers(look, []point{at}, 2.6)
}
