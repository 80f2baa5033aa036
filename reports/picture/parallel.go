package picture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// How many points parallel coordinates show, and how many of them in colour.
const (
	mostParallel = 300
	bestParallel = 10
)

// parallelPictures show the points of a search over three hyperparameters or more as lines across
// one axis each, and the best ones in colour: where these agree matters, where they fan out does
// not.
func parallelPictures(r shown) []figure.Figure {
	wide := func(c reports.Configuration) bool {
		if !searchedWidely(c) {
			return false
		}
		names, _, _, _ := coordinates(c)
		return len(names) > 2
	}
	return figurePerConfiguration(r, wide, 1, func(part []Member, n Naming) figure.Figure {
		c := part[0].Configuration
		names, columns, ranges, values := coordinates(c)
		ranges = append(ranges, fmt.Sprintf("%.4g to %.4g", slices.Min(values), slices.Max(values)))
		columns, names = append(columns, values), append(names, reports.Spaced(c.Maximised()))
		for k := range names {
			names[k] += ": " + strings.ReplaceAll(ranges[k], "-", "−")
		}
		order := make([]int, len(values))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return bestFirst(c, values[a], values[b]) })
		order = order[:min(len(order), mostParallel)]
		p := figure.Panel{X: figure.Axis{Names: names}, Y: figure.Axis{
			Label: "place between least and greatest (logarithms)",
			Lo:    -0.02, Hi: 1.02}}
		for place, i := range slices.Backward(order) { // the best ones on top
			l := figure.Line{Faint: place >= bestParallel}
			switch {
			case place == 0:
				l.Name, l.Markers = "best point", true
			case !l.Faint:
				l.Name = fmt.Sprintf("the next %d", min(len(order), bestParallel)-1)
			}
			for k, x := range columns {
				lo, hi := slices.Min(x), slices.Max(x)
				l.X, l.Y = append(l.X, float64(k)), append(l.Y, (x[i]-lo)/(hi-lo))
			}
			p.Layers = append(p.Layers, l)
		}
		which := fmt.Sprintf("%d points of the search", len(values))
		if len(values) > mostParallel {
			which = fmt.Sprintf("the best %d of %d points of the search", mostParallel, len(values))
		}
		return figure.Figure{Name: "parallel", Title: fmt.Sprintf("%s %s · parallel coordinates", n.Members[0],
			n.Heading), Columns: 1, Notes: remarks(n.Note, which), Panels: []figure.Panel{p},
			Looks: map[string]int{"best point": 0}}
	})
}
