package illustration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"gonum.org/v1/gonum/floats"
)

// mostMarked is the maximum number of places of a draw that are marked: few enough to see that
// there is nothing between them.
const mostMarked = 30

// toldApart is the maximum number of draws with a name, or a row, each.
const toldApart = 7

// Priors are draws from priors, a figure for every illustration of the file.
func Priors(r shown.Report) []figure.Figure {
	return illustrated(r, "prior", func(all []record.Illustration) figure.Figure { return Samples(all...) })
}

// Samples shows draws of latent functions over their one input, the first column of each
// illustration, columns f1, f2, …. A second panel shows the values that the likelihoods give them,
// columns p1, p2, …. Every illustration has a panel, or a row of two; where every class has a
// latent function, f1[class], …, one for each of the first draws.
func Samples(all ...record.Illustration) figure.Figure {
	f := figure.Figure{Name: "prior", Title: "Samples from the prior", Columns: min(3, len(all))}
	for _, i := range all {
		if strings.HasPrefix(i.Columns[len(i.Columns)-1].Name, "p") {
			f.Columns = 2
		}
	}
	common, titles := distinguished(all)
	f.Notes = common
	for k, i := range all {
		add, more := samples(i, titles[k])
		f.Panels = append(f.Panels, add...)
		if more > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("the first %d of %d draws", toldApart, more))
		}
	}
	f.Notes = slices.Compact(f.Notes)
	return f
}

// samples returns the panels of one illustration. If some draws are left out, it also returns the
// number of draws.
func samples(i record.Illustration, title string) (panels []figure.Panel, more int) {
	x := record.Floats(i.Columns[0].Values)
	order := make([]int, len(x))
	floats.Argsort(x, order)
	ends := figure.Axis{Label: i.Columns[0].Name, Lo: x[0], Hi: x[len(x)-1]}
	add := func(p *figure.Panel, name, column string) bool {
		y := i.Column(column)
		if y == nil {
			return false
		}
		sorted := make([]float64, len(y))
		for k, at := range order {
			sorted[k] = y[at]
		}
		p.Layers = append(p.Layers, figure.Line{Name: name, X: x, Y: sorted, Markers: len(x) <= mostMarked})
		return true
	}
	put := func(title, positive string, lines func(p *figure.Panel, letter string)) {
		latent := figure.Panel{Title: title, X: ends, Y: figure.Axis{Label: "latent f"}}
		squashed := figure.Panel{Title: title, X: ends, Y: figure.Axis{Label: "p(y" + positive + ")", Lo: 0, Hi: 1}}
		lines(&latent, "f")
		panels = append(panels, latent)
		if lines(&squashed, "p"); len(squashed.Layers) > 0 {
			panels = append(panels, squashed)
		}
	}
	draws := 0
	suffix := ""
	if len(i.Classes) > 0 {
		suffix = "[" + i.Classes[0] + "]"
	}
	for i.Column(fmt.Sprintf("f%d%s", draws+1, suffix)) != nil {
		draws++
	}
	if len(i.Classes) == 0 {
		put(title, " = +1", func(p *figure.Panel, letter string) {
			for k := range draws {
				name := ""
				if draws <= toldApart {
					name = fmt.Sprintf("draw %d", k+1)
				}
				add(p, name, fmt.Sprintf("%s%d", letter, k+1))
			}
		})
		return panels, 0
	}
	for k := range min(draws, toldApart) {
		put(strings.TrimSpace(title+fmt.Sprintf(" draw %d", k+1)), "", func(p *figure.Panel, letter string) {
			for _, class := range i.Classes {
				add(p, "class "+class, fmt.Sprintf("%s%d[%s]", letter, k+1, class))
			}
		})
	}
	if draws > toldApart {
		more = draws
	}
	return panels, more
}
