package picture

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// confusions have the numbers of cases of every class that are decided for every class, where there
// are more classes than a table has columns for. Cells without cases are empty.
func confusions(r shown.Report) []figure.Figure {
	return r.InTurn("confusion", mostFitted, func(m shown.Member) (f figure.Figure) {
		for _, e := range m.Configuration.Evaluations {
			if len(e.Confusion) > table.Widest {
				f.Panels = append(f.Panels, confusionPanel(m.Configuration, e))
			}
		}
		n := r.Naming(m)
		f.Title = shown.Titled("Decisions by class", n.Heading)
		f.Notes, f.Columns = shown.Remarks(n.Note, "right decisions are on the diagonal"), 1
		return f
	})
}

func confusionPanel(c reports.Configuration, e reports.Evaluation) figure.Panel {
	cells := figure.NumberGrid{}
	wrong := 0
	for class, row := range e.Confusion {
		numbers := make([]float64, len(row))
		for decided, n := range row {
			if numbers[decided] = float64(n); n == 0 {
				numbers[decided] = math.NaN()
			}
			if decided != class {
				wrong += n
			}
		}
		cells.X, cells.Y = append(cells.X, float64(class)), append(cells.Y, float64(class))
		cells.Z = append(cells.Z, numbers)
	}
	return figure.Panel{Title: fmt.Sprintf("%s, %d of %d cases decided wrongly", e.Name, wrong, e.Scores.N),
		X: figure.Axis{Label: "decided class", Names: c.Classes}, Y: figure.Axis{Label: "true class", Names: c.Classes},
		Layers: []figure.Layer{cells}}
}
