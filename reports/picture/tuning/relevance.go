package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Relevance shows how the chosen restart of a local optimiser found out which inputs matter:
// for every iteration the relevance of each input, 1/length scale, and the tuning objective. The
// most relevant inputs at the end have names, and an input has the same colour in all figures.
func Relevance(r shown.Report) []figure.Figure {
	found := func(c reports.Configuration) bool { return len(shown.ChosenPath(c)) > 1 && len(lengthScales(c)) > 0 }
	inputs := map[string][]string{} // inputs with names, by data set
	return shown.FigurePerConfiguration(r, found, 1, func(part []shown.Member, n shown.Naming) figure.Figure {
		c := part[0].Configuration
		path, lengths := shown.ChosenPath(c), lengthScales(c)
		f := figure.Figure{Name: "relevance", Title: shown.Titled("Relevance of the inputs", n.Heading),
			Notes: shown.Remarks(n.Note), Columns: 2}
		x := figure.Axis{Label: "iteration", Hi: float64(len(path) - 1)}
		value := shown.Trace(path)
		for _, of := range lengths {
			panel := figure.Panel{Title: reports.Spaced(of.name), X: x,
				Y: figure.Axis{Label: "ln relevance, −ln length scale"}}
			slices.SortStableFunc(of.free, func(a, b int) int {
				return cmp.Compare(path[len(path)-1].Theta[a], path[len(path)-1].Theta[b])
			})
			for place, j := range of.free {
				l := figure.Line{X: value.X, Faint: place >= shown.MostTold}
				for _, s := range path {
					l.Y = append(l.Y, -float64(s.Theta[j]))
				}
				if !l.Faint {
					l.Name = of.columns[j]
					if !slices.Contains(inputs[c.Dataset], l.Name) {
						inputs[c.Dataset] = append(inputs[c.Dataset], l.Name)
					}
				}
				panel.Layers = append(panel.Layers, l)
			}
			if rest := len(of.free) - shown.MostTold; rest > 0 {
				panel.Title += fmt.Sprintf(", the %d most relevant of %d in colour", shown.MostTold, len(of.free))
				// the named ones on top
				panel.Layers = slices.Concat(panel.Layers[shown.MostTold:], panel.Layers[:shown.MostTold])
			}
			f.Panels = append(f.Panels, panel)
		}
		f.Looks = map[string]int{}
		for k, input := range inputs[c.Dataset] {
			f.Looks[input] = k
		}
		f.Panels = append(f.Panels, figure.Panel{Title: "what is maximised", X: x, Y: shown.TraceAxis(c, value),
			Layers: []figure.Layer{value}})
		return f
	})
}

// perInput are the length scales of a kernel that has one for each input.
type perInput struct {
	name    string // "se.length_scale"
	free    []int  // places among the free hyperparameters
	columns map[int]string
}

// lengthScales finds the tuned length scales of kernels with one for each input.
func lengthScales(c reports.Configuration) (out []perInput) {
	free := -1
	for _, h := range c.Record.Hyperparameters {
		if h.Fixed {
			continue
		}
		free++
		if h.Column == "" {
			continue
		}
		name := h.Name[:strings.LastIndex(h.Name, "[")]
		if len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, perInput{name: name, columns: map[int]string{}})
		}
		of := &out[len(out)-1]
		of.free, of.columns[free] = append(of.free, free), h.Column
	}
	return out
}
