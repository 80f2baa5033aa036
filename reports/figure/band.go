package figure

import "slices"

// Band fills the area between two curves over X with a translucent colour.
type Band struct {
	Name string    `json:"name,omitempty"`
	X    []float64 `json:"x"`
	Lo   []float64 `json:"lo"`
	Hi   []float64 `json:"hi"`
}

func (l Band) label() string       { return l.Name }
func (l Band) extent() (x, y span) { return spanOf(l.X), spanOf(l.Lo, l.Hi) }

func (l Band) draw(p *pane, look look) {
	var below, above []point
	end := func() {
		slices.Reverse(above)
		p.fill(look.faint(0.18), append(below, above...))
		below, above = nil, nil
	}
	for i, x := range l.X {
		lo, ok1 := p.at(x, l.Lo[i])
		hi, ok2 := p.at(x, l.Hi[i])
		if !ok1 || !ok2 {
			end()
			continue
		}
		if n := len(below); n > 0 && i < len(l.X)-1 && lo.X-below[n-1].X < 0.6 {
			continue // too close to be distinguished
		}
		below, above = append(below, lo), append(above, hi)
	}
	end()
}

func (l Band) sample(p *pane, at point, look look) {
	p.fill(look.faint(0.18), rectangle(at, half, 4))
}
