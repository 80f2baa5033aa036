package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Restarts shows, for every configuration, the value that each restart of a local optimiser
// reached, the best first, and its number of evaluations. There is no figure if all restarts
// reached the same value.
func Restarts(r shown.Report) []figure.Figure {
	several := func(c reports.Configuration) bool { return len(c.Posterior) == 0 && c.Optima().Distinct > 1 }
	return shown.FigurePerConfiguration(r, several, 4, func(part []shown.Member, n shown.Naming) figure.Figure {
		f := figure.Figure{Name: "restarts", Title: shown.Titled("Restarts", n.Heading), Notes: shown.Remarks(n.Note),
			Columns: 2}
		for k, m := range part {
			c := m.Configuration
			ends := reachedBy(c)
			value := figure.Points{Name: "restart"}
			cost := figure.Bars{Edges: []float64{-0.5}}
			var trials []string
			var chosen []figure.Layer
			total := 0
			for place, e := range ends {
				value.X, value.Y = append(value.X, float64(place)), append(value.Y, float64(e.Value))
				cost.Edges, cost.Heights = append(cost.Edges, float64(place)+0.5),
					append(cost.Heights, float64(e.Evaluations))
				trials = append(trials, strconv.Itoa(e.Trial))
				total += e.Evaluations
				if e.Chosen {
					chosen = append(chosen, figure.Mark{Name: "chosen", X: float64(place), Y: float64(e.Value)})
				}
			}
			y := figure.Axis{Label: shown.ObjectiveLabel(c)}
			x := figure.Axis{Label: "restart, the best first", Lo: -0.5, Hi: float64(len(ends)) - 0.5, Names: trials}
			title := n.Members[k]
			if failed := len(c.Starts()) - len(ends); failed > 0 {
				title += fmt.Sprintf(" (%d failed)", failed)
			}
			f.Panels = append(f.Panels,
				figure.Panel{Title: title, X: x, Y: y, Layers: append([]figure.Layer{value}, chosen...)},
				figure.Panel{Title: table.Counted(total, "evaluation", "evaluations"), X: x,
					Y: figure.Axis{Label: "evaluations"}, Layers: []figure.Layer{cost}})
		}
		return f
	})
}

// reachedBy are the restarts that reached a value, the best first.
func reachedBy(c reports.Configuration) (out []reports.Restart) {
	for _, r := range c.Starts() {
		if figure.Drawable(float64(r.Value)) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b reports.Restart) int { return cmp.Compare(b.Value, a.Value) })
	return out
}
