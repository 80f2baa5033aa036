package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// addIllustrations checks the illustrations of the manifest, and adds their warnings to the
// warnings of the run. A failure of a method is part of an illustration, not of the run.
func (r *Report) addIllustrations() error {
	short := IllustratedNames(r.Illustrations)
	for k, i := range r.Illustrations {
		if !whole(i) {
			return fmt.Errorf("the parts of illustration %d do not fit together", k)
		}
		for _, a := range i.Approximations {
			notes := a.Warnings
			if !a.Failure.IsZero() {
				notes = append(slices.Clip(notes), cause.NoMoments.New("fails: %s", a.Failure))
			}
			for _, note := range notes {
				r.Warn(note.In(fmt.Sprintf("illustration %d, %s", k, short[a.Inference.Text])))
			}
		}
	}
	return nil
}

// whole returns an error if an illustration lacks data that its kind shows.
func whole(i record.Illustration) bool {
	if len(i.Columns) == 0 || len(i.Columns[0].Values) == 0 ||
		slices.ContainsFunc(i.Columns, func(c record.Column) bool {
			return len(c.Values) != len(
				i.Columns[0].Values)
		}) {
		return false
	}
	n := len(i.Labels)
	fits := func(g *record.Gaussian) bool {
		return len(g.Mean) == n && len(g.Covariance) == n &&
			!slices.ContainsFunc(g.Covariance, func(row []record.Number) bool { return len(row) != n })
	}
	switch i.Kind {
	case "surface":
		return len(i.Columns) >= 3 && len(i.Columns[0].Values) == Edge(i)*Edge(i)
	case "targets":
		return i.Column("f1") != nil && i.Column("p1") != nil && i.Column("t1") != nil
	case "likelihood":
		return n == 1
	case "posterior":
		return (n == 1 && len(i.Columns) == 4 || n == 2 && len(i.Columns) == 3 &&
			len(i.Columns[0].Values) == Edge(i)*Edge(i)) &&
			i.Prior != nil && fits(i.Prior) && i.Exact != nil && fits(i.Exact) &&
			!slices.ContainsFunc(i.Approximations, func(a record.Approximated) bool {
				return a.Gaussian != nil && !fits(a.Gaussian) ||
					slices.ContainsFunc(a.Iterates, func(g record.Gaussian) bool { return !fits(&g) })
			})
	}
	return true
}

// Edge is the number of points along each axis of a lattice.
func Edge(i record.Illustration) int {
	return int(math.Round(math.Sqrt(float64(len(i.Columns[0].Values)))))
}
