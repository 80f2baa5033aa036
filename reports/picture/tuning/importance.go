package tuning

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
	"github.com/gpc-tune/gpc-tune/search"
)

// leastVisits is the least number of points for parallel coordinates.
const leastVisits = 20

// Importance show the fractions of the variance of the objective, over the space of a
// search, that are due to each hyperparameter alone and with its interactions (search.Sensitivity).
// If they cannot be computed, the figure says why. Local optimisers have none, since their trials
// end at optima.
func Importance(r shown.Report) []figure.Figure {
	wide := func(c reports.Configuration) bool {
		ranges := 0
		for _, h := range c.Record.Hyperparameters {
			if h.Range != nil {
				ranges++
			}
		}
		earlier := ranges == 0 && len(c.Grid) >= leastVisits && len(reports.ThetaNames(c.Record)) > 1
		return len(c.Studies) > 0 && len(c.Studies[0].Trials) > 0 && (ranges > 1 || earlier)
	}
	return shown.FigurePerConfiguration(r, wide, 1, func(part []shown.Member, n shown.Naming) figure.Figure {
		c := part[0].Configuration
		f := figure.Figure{Name: "importance", Title: shown.Titled("Importance of hyperparameters", n.Heading),
			Columns: 1}
		of, err := search.NewSensitivity(c.Record.Hyperparameters, c.Studies[0].Trials)
		if err != nil {
			f.Notes = shown.Remarks(n.Note, "it is not known which hyperparameters matter: "+err.Error())
			return f
		}
		slices.SortStableFunc(of.Indices, func(a, b search.SobolIndices) int { return cmp.Compare(b.Total, a.Total) })
		drawn := of.Indices[:min(len(of.Indices), mostSlices)]
		alone, total := shares{Name: "alone", Horizontal: true}, shares{Name: "with its interactions", Horizontal: true}
		var names []string
		conditional, poor := "", of.R2 < table.PoorlyPredicted
		intervals := "95 % intervals are of its uncertainty"
		if poor {
			intervals = "without intervals, which hold for a regression that predicts"
		}
		for place, i := range drawn {
			if poor {
				i.FirstError, i.TotalError = math.NaN(), math.NaN()
			}
			alone.add(float64(place)-0.15, i.First, i.FirstError)
			total.add(float64(place)+0.15, i.Total, i.TotalError)
			h := c.Record.Hyperparameters[slices.IndexFunc(c.Record.Hyperparameters,
				func(h record.Hyperparameter) bool { return h.Name == i.Name })]
			names = append(names, fmt.Sprintf("%s: %s alone, %s with interactions", shown.Conditioned(c, h),
				share(i.First, i.FirstError), share(i.Total, i.TotalError)))
			if h.When != nil {
				conditional = "the shares of a conditional one are of the variance where it matters"
			}
		}
		points := table.Counted(of.Fitted, "point", "points")
		if of.Fitted < of.Measured {
			points = fmt.Sprintf("%d of %d points", of.Fitted, of.Measured)
		}
		quality := fmt.Sprintf("by a regression of %s that predicts each from the others with R² %.3f", points, of.R2)
		if poor {
			quality += ", too badly for more than a hint"
		}
		left := ""
		if n := len(of.Indices) - len(drawn); n > 0 {
			left = table.Counted(n, "less important one is", "less important ones are") + " not shown"
		}
		f.Notes = shown.Remarks(n.Note, "shares of the variance over the search space, "+quality,
			intervals, conditional, left)
		f.Panels = []figure.Panel{{Y: figure.Axis{Names: names}, X: figure.Axis{Lo: -0.02, Hi: 1.02,
			Label: "share of the variance of " + reports.Spaced(c.Maximised())},
			Layers: []figure.Layer{figure.Intervals(alone), figure.Intervals(total)}}}
		return f
	})
}

// shares are fractions with their 95 % intervals, one below the other.
type shares figure.Intervals

func (s *shares) add(y, share, err float64) {
	s.X, s.Y = append(s.X, share), append(s.Y, y)
	if math.IsNaN(err) {
		err = 0
	}
	s.Lo, s.Hi = append(s.Lo, max(0, share-1.96*err)), append(s.Hi, min(1, share+1.96*err))
}

// share is a fraction with the digits that its error allows, and the error; NaN: the error is not
// known.
func share(value, err float64) string {
	if math.IsNaN(err) {
		return fmt.Sprintf("about %.1f", value)
	}
	digits := 3
	if err >= 0.005 {
		digits = 2
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, value, digits, err)
}
