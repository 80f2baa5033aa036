package table

import (
	"cmp"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
)

// PoorlyPredicted is the R² of predictions of values left out, below which a regression says too
// little for errors of the indices.
const PoorlyPredicted = 0.5

// importanceRows has a row for each hyperparameter of a search, the most important first: its Sobol
// indices, and the quality of the regression that they are computed from (search.Sensitivity). A
// configuration without indices has a row with the reason.
func importanceRows(r *reports.Report) Table {
	t := Table{Columns: Columns("configuration", "hyperparameter", "alone", "alone_error", "total", "total_error", "r2",
		"failure")}
	for i, c := range r.Configurations {
		of, err := search.NewSensitivity(c.Record.Hyperparameters, c.Studies[0].Trials)
		if err != nil {
			t.Add(i, nil, nil, nil, nil, nil, nil, err.Error())
			continue
		}
		slices.SortStableFunc(of.Indices, func(a, b search.SobolIndices) int { return cmp.Compare(b.Total, a.Total) })
		for _, h := range of.Indices {
			if of.R2 < PoorlyPredicted {
				h.FirstError, h.TotalError = math.NaN(), math.NaN()
			}
			t.Add(i, h.Name, reports.Number(h.First), reports.Number(h.FirstError), reports.Number(h.Total),
				reports.Number(h.TotalError), reports.Number(of.R2), nil)
		}
	}
	return t
}
