package illustration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Surfaces are level lines of draws from priors over two inputs, a panel for every draw.
func Surfaces(r shown.Report) []figure.Figure {
	return illustrated(r, "surface", func(all []record.Illustration) figure.Figure {
		f := figure.Figure{Title: "Surfaces drawn from the prior"}
		common, titles := distinguished(all)
		f.Notes = common
		for k, i := range all {
			draws := 0
			for _, c := range i.Columns {
				if !strings.HasPrefix(c.Name, "f") {
					continue
				}
				if draws++; draws > toldApart {
					continue
				}
				title := titles[k]
				if i.Column("f2") != nil {
					title = strings.TrimSpace(title + " draw " + c.Name[1:])
				}
				f.Panels = append(f.Panels, figure.Panel{Title: title, Square: true, X: figure.Axis{Label: "x1"},
					Y: figure.Axis{Label: "x2"}, Layers: []figure.Layer{levelLines(i, c.Name)}})
			}
			if draws > toldApart {
				f.Notes = append(f.Notes, fmt.Sprintf("the first %d of %d draws", toldApart, draws))
			}
		}
		f.Columns = min(3, len(f.Panels))
		if n := len(f.Panels) / len(all); n == 2 { // a row for each
			f.Columns = 2
		}
		return f
	})
}

// levelLines are the latent values of a column over a lattice of the first two; the first
// moves fastest.
func levelLines(i record.Illustration, column string) figure.Contours {
	n := reports.Edge(i)
	x, y, z := record.Floats(i.Columns[0].Values), record.Floats(i.Columns[1].Values), i.Column(column)
	lines := figure.Contours{X: x[:n], Levels: shown.BinEdges(slices.Min(z), slices.Max(z), 8)}
	for row := range n {
		lines.Y, lines.Z = append(lines.Y, y[row*n]), append(lines.Z, z[row*n:(row+1)*n])
	}
	return lines
}
