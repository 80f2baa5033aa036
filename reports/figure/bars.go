package figure

import "math"

// Bars are a histogram: Heights[i] from Edges[i] to Edges[i+1].
type Bars struct {
	Name    string    `json:"name,omitempty"`
	Edges   []float64 `json:"edges"`
	Heights []float64 `json:"heights"`
}

func (l Bars) label() string { return l.Name }

func (l Bars) extent() (x, y span) {
	y = spanOf(l.Heights, []float64{0})
	y.noMargin = true
	y.lo, y.hi = 1.05*y.lo, 1.05*y.hi
	return spanOf(l.Edges), y
}

// draw fills the bars and draws their common outline.
func (l Bars) draw(p *pane, look look) {
	var outline []point
	end := func() {
		if len(outline) > 0 {
			last := outline[len(outline)-1]
			outline = append(outline, point{X: last.X, Y: outline[0].Y})
			p.fill(look.faint(0.3), outline)
			p.lines(look, outline)
		}
		outline = nil
	}
	for i, height := range l.Heights {
		from, ok1 := p.at(l.Edges[i], 0)
		top, ok2 := p.at(l.Edges[i+1], height)
		if !ok1 || !ok2 || math.IsNaN(height) {
			end()
			continue
		}
		if len(outline) == 0 {
			outline = append(outline, from)
		}
		outline = append(outline, point{X: from.X, Y: top.Y}, top)
	}
	end()
}

func (l Bars) sample(p *pane, at point, look look) {
	box := []point{at.Add(point{X: -half, Y: -4}), at.Add(point{X: -half, Y: 4}), at.Add(point{X: half, Y: 4}),
		at.Add(point{X: half, Y: -4})}
	p.fill(look.faint(0.3), box)
	p.lines(look, append(box, box[0]))
}
